package workrecords

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

const (
	// manyChanges is how often the status of one record is changed.
	manyChanges = 8
	// changing is any moment while changes of a status are under way.
	changing = "changing"
)

// oneStatus is WR-30.
var oneStatus = []suites.Test{
	{
		ID: "WR-30/any-sequence-of-changes", Clauses: []string{"WR-30"},
		Title:   "whatever two callers change in whatever sequence, a record has one status, and ends in the last one",
		NotFor:  suites.First(noTool("status"), noTool("complete"), noTool("cancel")),
		Missing: suites.First(noProbe("card"), noProbe("writes")),
		Drive: on(func(s *scene) {
			s.begin()
			callers := []*world.Caller{s.helper, s.NewCaller()}
			for _, end := range []string{"complete", "cancel"} { // what each of them alone leads to
				s.helper.Do(s.following(end, s.start(s.newTask()), ""))
			}
			id := s.start(s.newTask())
			s.awaitItem(id)
			for range manyChanges {
				s.changed(id, callers)
				s.lookWhileChanging(id)
			}
			s.settle()
			s.StopProcess("app")
			queued := s.start(s.newTask())
			for range manyChanges {
				s.changed(queued, callers)
			}
			s.Launch(world.Only("app"))
			s.Watch("every change of a status to be applied", "item", changing, map[string]string{"item_id": queued}, func([]map[string]any) bool { return s.nothingWaits(queued) })
			s.settle()
			s.lookAtEnd()
			s.Look("writes", converged, nil)
		}),
		Judge: judge.All(judge.OneStatus(manyChanges), judge.AllApplied("WR-30", 2+2+2*(1+manyChanges))),
	},
	{
		ID: "WR-30/killed-while-changing", Clauses: []string{"WR-30"},
		Title:   "killed at any crash point of a change of status, the app started again shows one status, and ends in the new one",
		Faults:  []string{"crash-point"},
		NotFor:  suites.First(noTool("status"), noTool("complete")),
		Missing: suites.First(noStore("library"), noStore("sidecar")),
		Drive: on(func(s *scene) {
			var act world.Act
			id := ""
			const intents = 3 // start, status, complete
			s.EachCrashPoint(world.Crash{
				Process: "app",
				Prepare: func(helper *world.Caller) {
					alone := s.startBy(helper, s.starting(s.newTask()))
					helper.Do(s.following("complete", alone, ""))
					id = s.startBy(helper, s.starting(s.newTask()))
					helper.Do(s.following("status", id, "doing"))
					act = s.following("complete", id, "")
					s.settle()
					s.Look("item", early, map[string]string{"item_id": alone})
				},
				Led: world.Led{
					Ready: s.readyToAct,
					Act:   func(run string) history.Outcome { return s.helper.Do(act.With("run", run)).Outcome() },
					Over:  func() bool { return s.applied(id, intents) },
					Again: func(run string) bool { return s.seenChanged(run, id, intents) },
				},
				Look: func(run string) { s.LookAtRest("intents", crashed, map[string]string{"run": run, "item_id": id}) },
			})
		}),
		Judge: judge.OneStatusAtEachPoint,
	},
}

// changed changes the status of a record in one way or another, by one of the callers.
func (s *scene) changed(id string, callers []*world.Caller) {
	s.n++
	caller := callers[s.Choose(fmt.Sprintf("caller-%d", s.n), len(callers))]
	words := []string{"todo", "doing", "waiting"}
	ends := []string{"complete", "cancel"}
	if n := s.Choose(fmt.Sprintf("change-%d", s.n), len(words)+len(ends)); n < len(words) {
		caller.Do(s.following("status", id, words[n]))
	} else {
		caller.Do(s.following(ends[n-len(words)], id, ""))
	}
}

// lookWhileChanging looks at a record as the library and as a person sees it.
func (s *scene) lookWhileChanging(id string) {
	s.Look("item", changing, map[string]string{"item_id": id})
	s.Look("card", changing, map[string]string{"item_id": id})
}

// seenChanged watches a record until all that was accepted for it is applied, and
// looks at it then.
func (s *scene) seenChanged(run, id string, intents int) bool {
	of := map[string]string{"run": run, "item_id": id}
	applied := s.Watch("every change of item "+id+" to be applied", "item", restarted, of, func(rows []map[string]any) bool { return len(rows) > 0 && s.applied(id, intents) })
	s.Look("item", converged, of)
	return applied
}
