package workrecords

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// once is the run of a spec that makes only one.
const once = "once"

// locked are the broken states of WR-12 as they come about: version 2 stores an
// anchor before its start, makes items without touching their anchors, and forgets
// what it was doing when it is killed.
var locked = []suites.Test{
	{
		ID: "WR-12/behind-a-killed-start-of-version-2", Clauses: []string{"WR-12"},
		Title:   "behind any crash point of a start of version 2, an anchor without a start among them, a start under the task key leads to a record",
		Faults:  []string{"crash-point"},
		NotFor:  noVersion("helper", 2),
		Missing: noStore("sidecar"),
		Drive: on(func(s *scene) {
			t, helper := s.newTask(), s.version("helper", 2)
			s.EachCrashPoint(world.Crash{
				Of: &helper, Act: s.starting(t), Once: true,
				Prepare: func(*world.Caller) {
					s.Launch(world.Only("account"))
					s.startBy(helper.NewCaller(), s.starting(s.newTask()))
				},
				Look: func(run string) { s.lookAtTaskAs(helper, run, t) },
				Led: world.Led{Again: func(run string) bool {
					s.Launch(world.Only("app"))
					defer s.StopProcess("app")
					return s.startAnew(run, t)
				}},
			})
		}),
		Judge: judge.TaskKeyFree("no start"),
	},
	{
		ID: "WR-12/behind-a-killed-deletion-of-version-2", Clauses: []string{"WR-12"},
		Title:   "behind any crash point of a deletion in an app of version 2, a provisional anchor whose item is gone among them, a start under the task key leads to a record",
		Faults:  []string{"crash-point"},
		NotFor:  suites.First(noVersion("helper", 2), noVersion("app", 2)),
		Missing: suites.First(noStore("library"), noStore("sidecar"), suites.NoAction("delete")),
		Drive: on(func(s *scene) {
			t, helper, app := s.newTask(), s.version("helper", 2), s.version("app", 2)
			id := ""
			s.EachCrashPoint(world.Crash{
				Process: "app", Of: &app, Once: true,
				Prepare: func(*world.Caller) { id = s.appliedUnder(helper, app, t) },
				Look:    func(run string) { s.lookAtTaskAs(app, run, t) },
				Led: world.Led{
					Ready: s.awaitSignedIn,
					Act:   func(string) history.Outcome { return s.Acts("delete", map[string]string{"item_id": id}) },
					Over: func() bool {
						anchor := app.Peek("anchor", map[string]string{"item_id": id})
						return len(anchor) == 1 && anchor[0]["state"] == "dead"
					},
					Again: func(run string) bool { return s.startAnew(run, t) },
				},
			})
		}),
		Judge: judge.TaskKeyFree("item gone"),
	},
	{
		ID: "WR-11/made-by-an-older-app", Clauses: []string{"WR-11", "WR-12"},
		Title:  "an item that an app of version 2 made without touching its anchor gets a live one, no second item is made, and a start under the task key leads to it",
		NotFor: suites.First(noVersion("helper", 2), noVersion("app", 2)),
		Drive: on(func(s *scene) {
			t, app := s.newTask(), s.version("app", 2)
			id := s.appliedUnder(s.version("helper", 2), app, t)
			s.Look("items", early, nil)
			s.EndCallers()
			s.StopProcess("app")
			s.lookAtTaskAs(app, once, t)
			s.Launch(world.Only("app"))
			if s.seenJoined(once, id) { // else nothing more is to be learnt
				s.startAnew(once, t)
			}
		}),
		Judge: judge.All(judge.OlderAppRepaired, judge.RecordFree),
	},
	startFailed("WR-12/behind-a-failed-start-of-version-1", 1),
	startFailed("WR-12/behind-a-failed-start-of-version-2", 2),
}

// startFailed is WR-12 for a task whose start had failed for good under an older
// version, which locks the task key.
func startFailed(id string, version int) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WR-12"},
		Title:   "behind a start that had failed under an older version, a start under the task key leads to a record",
		NotFor:  suites.First(noVersion("helper", version), noVersion("app", version)),
		Missing: suites.NoAction("revoke"),
		Drive: on(func(s *scene) {
			t, app := s.newTask(), s.version("app", version)
			s.Launch(world.Only("account"))
			s.appliedUnder(s.version("helper", version), app, s.newTask())
			s.Act("revoke", map[string]string{"user": account.First})
			s.helper.Do(s.starting(t))
			s.Await("the start to fail", func() bool {
				return slices.ContainsFunc(app.Peek("intents", nil), func(row map[string]any) bool { return row["state"] == "failed" })
			})
			s.EndCallers()
			s.StopProcess("app")
			s.lookAtTaskAs(app, once, t)
			s.Allow(account.First)
			s.Launch(world.Only("app"))
			s.startAnew(once, t)
		}),
		Judge: judge.FailedStartFree,
	}
}

// appliedUnder has the helper and the app of a version make a record, and leaves
// both running.
func (s *scene) appliedUnder(helper, app world.Version, t task) (id string) {
	s.Launch(world.Only("account"))
	app.Launch()
	s.helper = helper.NewCaller()
	return s.untilApplied(s.starting(t))
}

// lookAtTaskAs looks at what a version has left of a task.
func (s *scene) lookAtTaskAs(v world.Version, run string, t task) {
	v.LookAtRest("anchors", crashed, map[string]string{"run": run, "task_key": t.key})
	v.LookAtRest("intents", crashed, map[string]string{"run": run})
}

// startAnew starts a task under its key with the target as it stands, once the app
// has brought the anchors of what was applied together with the library, and says
// whether that led to a record.
func (s *scene) startAnew(run string, t task) bool {
	s.awaitSignedIn()
	s.Await("no provisional anchor of an applied start", func() bool { return !s.leftProvisional(t) })
	s.helper = s.NewCaller()
	id := s.helper.Do(s.starting(s.again(t)).With("run", run).With("anew", "yes")).Text("item_id")
	of := map[string]string{"run": run, "item_id": id}
	record := id != "" && s.Await("a record under the task key", func() bool {
		anchor := s.Peek("anchor", of)
		return len(anchor) == 1 && anchor[0]["state"] == "live" && len(s.Peek("item", of)) == 1
	})
	s.Look("anchors", converged, map[string]string{"run": run, "task_key": t.key})
	s.Look("items", converged, map[string]string{"run": run})
	return record
}

// leftProvisional says that a task has a provisional anchor whose start is applied.
func (s *scene) leftProvisional(t task) bool {
	for _, anchor := range s.Peek("anchors", map[string]string{"task_key": t.key}) {
		if id, _ := anchor["item_id"].(string); anchor["state"] == "provisional" {
			for _, row := range s.Peek("intents", map[string]string{"item_id": id}) {
				if row["kind"] == "start" && row["state"] == "applied" {
					return true
				}
			}
		}
	}
	return false
}
