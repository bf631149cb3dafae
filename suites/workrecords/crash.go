package workrecords

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// crashed is the moment behind a run at one crash point.
const crashed = "crashed"

var crashPoints = slices.Concat(ofTheHelper, ofTheApp)

var ofTheHelper = []suites.Test{
	{
		ID: "WR-03/every-crash-point-of-a-start", Clauses: []string{"WR-03"},
		Title:  "at no crash point of a start is the anchor there without its start intent, or the other way round",
		Faults: []string{"crash-point"},
		Drive: on(func(s *scene) {
			s.Launch(world.Only("account"))
			s.EachCrashPoint(world.Crash{
				Act:      s.starting(s.newTask()),
				Variants: []string{"", "ENOSPC", "EIO"},
				Prepare: func(helper *world.Caller) {
					s.startBy(helper, s.starting(s.newTask()))
				},
				Look: func(run string) {
					s.LookAtRest("anchors", crashed, map[string]string{"run": run})
					s.LookAtRest("intents", crashed, map[string]string{"run": run})
				},
			})
		}),
		Judge: judge.NeverHalf,
	},
}

// ofTheApp are the specs in which the app is killed at every crash point.
var ofTheApp = []suites.Test{
	{
		ID: "WR-11/every-crash-point-of-an-apply", Clauses: []string{"WR-11"},
		Title:   "killed at any crash point of applying a start, the app started again makes the anchor live, and no second item",
		Faults:  []string{"crash-point"},
		Missing: first(noStore("library"), noStore("sidecar")),
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
		anchor := s.Peek("anchor", of)
		return s.applied(id, 1) && len(anchor) == 1 && anchor[0]["state"] == "live" && len(s.Peek("item", of)) > 0
	})
	s.Look("anchor", converged, of)
	s.Look("intents", converged, of)
	s.Look("items", converged, map[string]string{"run": run})
	return joined
}
