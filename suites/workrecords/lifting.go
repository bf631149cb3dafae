package workrecords

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments of a sidecar that is lifted, as the judges know them.
const (
	old      = "old"      // as an older version has left it
	asOld    = "as-old"   // behind a kill, through the older version's probe
	asNew    = "as-new"   // behind a kill, through the target's own
	replayed = "replayed" // old calls were made again
	unmarked = "unmarked" // before a sidecar was made a newer one
)

var lifting = []suites.Test{
	lifted("WR-42/sidecar-of-version-1", 1),
	lifted("WR-42/sidecar-of-version-2", 2),
	liftKilled("WR-42/killed-while-lifting-version-1", 1),
	liftKilled("WR-42/killed-while-lifting-version-2", 2),
	newerRefused("WR-42/newer-sidecar", false),
	newerRefused("WR-42/newer-sidecar-of-a-killed-owner", true),
}

// lifted is WR-42 for a sidecar that an older helper and app have left: with the
// app as it is now every anchor and intent is there, all is applied, and calls of
// then are known under their keys.
func lifted(id string, version int) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-42"},
		Title:   "a sidecar of an older contract version is lifted with every anchor, intent and key, and everything in it is applied",
		Faults:  []string{"store-busy"},
		NotFor:  suites.First(noVersion("helper", version), noVersion("app", version)),
		Missing: suites.First(noStaging, noStore("library"), suites.NoAction("delete")),
		Drive: on(func(s *scene) {
			calls, gone := s.leaveOld(version)
			s.Launch(world.Only("app"))
			s.atRest(gone)
			s.lookAtLifted(converged, nil)
			s.helper = s.NewCaller()
			for _, act := range calls {
				s.helper.Do(act.At(replayed))
			}
			s.lookAtLifted(replayed, nil)
		}),
		Judge: judge.LiftedWhole,
	}
}

// liftKilled is WR-42 with the app killed at every crash point of the lift.
func liftKilled(id string, version int) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-42"},
		Title:   "killed at any crash point of lifting an older sidecar, the app started again has every anchor and intent, and applies everything",
		Faults:  []string{"crash-point", "store-busy"},
		NotFor:  suites.First(noVersion("helper", version), noVersion("app", version)),
		Missing: suites.First(noStaging, noStore("library"), noStore("sidecar"), suites.NoAction("delete")),
		Drive: on(func(s *scene) {
			_, gone := s.leaveOld(version)
			older := s.version("app", version)
			s.EachCrashPointOfStart(world.StartCrash{
				Process: "app", Store: "sidecar",
				Look: func(run string) {
					of := map[string]string{"run": run}
					older.LookAtRest("intents", asOld, of)
					s.LookAtRest("intents", asNew, of)
				},
				Again: func(run string) bool {
					rest := s.atRest(gone)
					s.lookAtLifted(converged, map[string]string{"run": run})
					return rest
				},
			})
		}),
		Judge: judge.LiftedAtEachPoint,
	}
}

// leaveOld has the helper and the app of an older version leave a sidecar with
// records that are applied, deleted, failed, turned away and waiting. It returns
// calls of then, and the ID of the item that was deleted.
func (s *scene) leaveOld(version int) (calls []world.Act, gone string) {
	s.Launch(world.Only("account"))
	app := s.version("app", version)
	app.Launch()
	s.helper = s.version("helper", version).NewCaller()

	begun := s.starting(s.newTask())
	there := s.untilApplied(begun)
	noted := s.noting(there, s.Word("an applied note"))
	s.untilApplied(noted)
	gone = s.untilApplied(s.starting(s.newTask()))
	s.Act("delete", map[string]string{"item_id": gone})
	s.Mark("deleted", map[string]any{"item_id": gone})
	s.failOld(version, there, gone, app)

	busy := s.Occupy("library")
	s.note(there, s.Word("a note that is turned away"))
	s.Await("an attempt at the note that is turned away", func() bool {
		return slices.ContainsFunc(app.Peek("intents", nil), func(row map[string]any) bool {
			return world.Number(row["attempts"]) > 0 && row["state"] != "applied" && row["state"] != "failed"
		})
	})
	s.StopProcess("app")
	busy.Release()

	s.note(there, s.Word("a note that waits"))
	waits := s.starting(s.newTask())
	if id := s.helper.Do(waits).Text("item_id"); id != "" {
		s.note(id, s.Word("a note behind a start that waits"))
	}
	s.EndCallers()
	s.lookThrough(app, old)
	return []world.Act{begun, noted, waits}, gone
}

// untilApplied repeats a call until it is told to be applied, and returns the item ID.
func (s *scene) untilApplied(act world.Act) (id string) {
	s.Await("a call to be told as applied", func() bool {
		o := s.helper.Do(act)
		id = o.Text("item_id")
		return o.Text("state") == "applied"
	})
	return id
}

// failOld leaves a note that has failed for good. Version 1 has no attachments and
// marks no anchor, so that there a note on the deleted item is accepted and fails.
func (s *scene) failOld(version int, there, gone string, app world.Version) {
	if version == 1 {
		s.note(gone, s.Word("a note on a deleted item"))
	} else {
		s.StopProcess("app")
		doomed := s.attaching(there)
		s.helper.Do(doomed)
		s.SwapForLink(doomed.Params["attachment"])
		app.Launch()
	}
	s.Await("a note to fail", func() bool {
		return slices.ContainsFunc(app.Peek("intents", nil), func(row map[string]any) bool { return row["state"] == "failed" })
	})
}

// atRest waits until every intent has come to its end and every anchor is live or
// dead, that of the deleted item dead.
func (s *scene) atRest(gone string) bool {
	return s.Await("everything in the lifted sidecar to come to its end", func() bool {
		anchors := s.Peek("anchors", nil)
		return settled(s.Peek("intents", nil)) && !slices.ContainsFunc(anchors, func(row map[string]any) bool {
			return row["state"] == "provisional" || row["item_id"] == gone && row["state"] != "dead"
		})
	})
}

func (s *scene) lookAtLifted(moment string, of map[string]string) {
	for _, probe := range []string{"anchors", "intents", "items"} {
		s.Look(probe, moment, of)
	}
}

// newerRefused is WR-42 for a sidecar of a version that is newer than the target's.
func newerRefused(id string, ownerKilled bool) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-42"},
		Title:   "a sidecar of a newer contract version is refused naming both versions, by helper and app, and stays as it was",
		NotFor:  suites.First(ofNoVersion, noVersion("helper", current), noVersion("app", current)),
		Missing: noStore("sidecar"),
		Drive: on(func(s *scene) {
			s.begin()
			task := s.newTask()
			item := s.start(task)
			s.awaitItem(item)
			s.settle()
			s.EndCallers()
			s.StopProcess("app")
			s.LookAtStores(unmarked)
			s.MakeNewer(current+1, ownerKilled)
			s.Mark("supported", map[string]any{"version": current})
			s.LookAtStores(beforeCalls)

			s.Launch(world.Only("app"))
			s.helper = s.NewCaller()
			s.further(s.starting(task), item)
			s.Look("items", afterCalls, nil)
			s.EndCallers()
			s.StopProcess("app")
			s.LookAtStores(afterCalls)
		}),
		Judge: judge.NewerRefused,
	}
}
