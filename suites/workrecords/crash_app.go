package workrecords

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// ofTheApp are the specs in which the app is killed at every crash point.
var ofTheApp = []suites.Test{
	{
		ID: "WR-11/every-crash-point-of-an-apply", Clauses: []string{"WR-11"},
		Title:   "killed at any crash point of applying a start, the app started again makes the anchor live, and no second item",
		Faults:  []string{"crash-point"},
		Missing: suites.First(noStore("library"), noStore("sidecar")),
		Drive: on(func(s *scene) {
			act, id := s.starting(s.newTask()), ""
			s.EachCrashPoint(world.Crash{
				Process: "app",
				Prepare: func(helper *world.Caller) {
					s.awaitItem(s.startBy(helper, s.starting(s.newTask())))
					s.settle()
				},
				Led: world.Led{
					Ready: s.readyToAct,
					Act: func(run string) history.Outcome {
						o := s.helper.Do(act.With("run", run))
						id = o.Text("item_id")
						return o.Outcome()
					},
					Over:  func() bool { return s.applied(id, 1) },
					Again: func(run string) bool { return s.seenJoined(run, id) },
				},
				Look: func(run string) { s.LookAtRest("anchor", crashed, map[string]string{"run": run, "item_id": id}) },
			})
		}),
		Judge: judge.RepairedAtEachPoint,
	},
	{
		ID: "WR-13/killed-while-deleting", Clauses: []string{"WR-13"},
		Title:   "killed at any crash point of a deletion, the app ends with all of it done and remembered, or with nothing of it",
		Faults:  []string{"crash-point"},
		Missing: suites.First(noStore("library"), noStore("sidecar"), suites.NoAction("delete", "lock", "unblock")),
		Drive: on(func(s *scene) {
			id, queued := "", 0
			s.EachCrashPoint(world.Crash{
				Process: "app",
				Prepare: func(helper *world.Caller) {
					s.helper = helper
					id = s.start(s.newTask())
					s.awaitItem(id)
					s.settle()
					queued = s.queueOn(id)
					s.Look("item", early, map[string]string{"item_id": id})
				},
				Led: world.Led{
					// What is queued is tried again by an app that starts, and then waits. How
					// often depends on when the login comes, so its being held back is not the end.
					Ready: func() { s.awaitSignedIn(); s.heldBack(id); s.Quiet() },
					Act: func(run string) history.Outcome {
						return s.Acts("delete", map[string]string{"item_id": id, "run": run})
					},
					Over:  func() bool { return s.nothingWaits(id) && s.anchorIs(id, "dead") },
					Again: func(run string) bool { return s.seenDeleted(run, id, queued) },
				},
				Look: func(run string) { s.LookAtRest("anchor", crashed, map[string]string{"run": run, "item_id": id}) },
			})
		}),
		Judge: judge.DeletedAtEachPoint,
	},
}

// readyToAct starts a helper beside an app that has restored its session. Every
// record is settled, so it writes nothing by itself from now on.
func (s *scene) readyToAct() {
	s.helper = s.NewCaller()
	s.awaitSignedIn()
}

// awaitSignedIn waits until the app shows the library to its user.
func (s *scene) awaitSignedIn() {
	s.Await("the app to show the items of its user", func() bool { return s.Answers("items", nil) })
}

// applied says whether an item has so many intents and all of them are applied.
func (s *scene) applied(id string, n int) bool {
	rows := s.Peek("intents", map[string]string{"item_id": id})
	return len(rows) == n && !slices.ContainsFunc(rows, func(row map[string]any) bool { return row["state"] != "applied" })
}

// seenJoined waits until an item and its anchor are together, and looks at both.
func (s *scene) seenJoined(run, id string) bool {
	of := map[string]string{"run": run, "item_id": id}
	joined := s.Await("item "+id+" and its live anchor", func() bool {
		return s.applied(id, 1) && s.anchorIs(id, "live") && s.there(id)
	})
	s.Look("anchor", converged, of)
	s.Look("intents", converged, of)
	s.Look("items", converged, map[string]string{"run": run})
	return joined
}

// anchorIs says whether the anchor of an item is in a state now.
func (s *scene) anchorIs(id, state string) bool {
	rows := s.Peek("anchor", map[string]string{"item_id": id})
	return len(rows) == 1 && rows[0]["state"] == state
}

// there says whether the library shows an item now.
func (s *scene) there(id string) bool {
	return len(s.Peek("item", map[string]string{"item_id": id})) > 0
}

// nothingWaits says whether no intent of an item is to be applied any more.
func (s *scene) nothingWaits(id string) bool {
	rows := s.Peek("intents", map[string]string{"item_id": id})
	return len(rows) > 0 && !slices.ContainsFunc(rows, waiting)
}

// waiting says whether an intent is still to be applied.
func waiting(row map[string]any) bool { return row["state"] != "applied" && row["state"] != "failed" }

// queueOn closes the library to commands and queues notes on an item. It returns
// how many intents the item has then.
func (s *scene) queueOn(id string) int {
	s.Act("lock", nil)
	s.notes(id, "queued note", 2)
	s.heldBack(id)
	rows, queued := s.Look("intents", "queued", map[string]string{"item_id": id}).Rows, []any{}
	for _, row := range rows {
		if waiting(row) {
			queued = append(queued, row["seq"])
		}
	}
	s.Mark("queued", map[string]any{"item_id": id, "queued": queued})
	return len(rows)
}

// heldBack waits until what is queued on an item was turned away by the closed
// library; what is tried again and again has no crash points to be found twice.
func (s *scene) heldBack(id string) {
	if !s.Await("an intent of item "+id+" held back by the closed library", func() bool {
		return slices.ContainsFunc(s.Peek("intents", map[string]string{"item_id": id}), func(row map[string]any) bool {
			return waiting(row) && row["class"] == "blocked"
		})
	}) {
		world.Inconclusive("nothing that was queued on item %s is held back by the closed library, so that it cannot be deleted with a queue", id)
	}
}

// seenDeleted goes on behind a deletion that was killed: the person opens the
// library, and where the item is still there lets everything apply and deletes it
// once more. It says whether everything came to its end.
func (s *scene) seenDeleted(run, id string, intents int) bool {
	of := map[string]string{"run": run, "item_id": id}
	s.awaitSignedIn()
	s.Act("unblock", nil)
	whole := s.Await("item "+id+" and its anchor to agree", func() bool {
		return s.there(id) && s.anchorIs(id, "live") || !s.there(id) && s.anchorIs(id, "dead")
	})
	s.Look("anchor", restarted, of)
	if len(s.Look("item", restarted, of).Rows) > 0 {
		whole = whole && s.Await("all that is queued on item "+id+" to be applied", func() bool { return s.applied(id, intents) })
		s.Look("intents", "kept", of)
		s.Look("item", "kept", of)
		s.Acts("delete", of)
	}
	whole = whole && s.Await("item "+id+" to be dead with nothing queued", func() bool { return s.anchorIs(id, "dead") && s.nothingWaits(id) })
	s.Look("anchor", converged, of)
	s.Look("intents", converged, of)
	s.NewCaller().Do(s.noting(id, s.Word("refused dead")).With("about", "dead").With("run", run))
	return whole
}
