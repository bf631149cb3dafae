package workflows

import (
	"maps"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var room = []suites.Test{
	{
		ID: "WF-10/every-crash-point", Clauses: []string{"WF-10"},
		Title:   "killed at any crash point of a workflow of two steps, the server leaves a whole checkpoint or none, and a new one answers for it",
		Faults:  []string{"crash-point"},
		Missing: suites.First(noKind("safe_to_retry"), noFile, noStore),
		Drive:   on(func(s *scene) { s.struckAtEachPoint(nil, "safe_to_retry", "safe_to_retry") }),
		Judge:   judge.WholeAtCrashPoints,
	},
	{
		ID: "WF-10/every-failing-call", Clauses: []string{"WF-10"},
		Title:   "where the disk fails, now and from then on, a whole checkpoint or none is left, and a new server answers for it",
		Faults:  []string{"crash-point"},
		Missing: suites.First(noKind("safe_to_retry"), noFile, noStore),
		Drive:   on(func(s *scene) { s.struckAtEachPoint([]string{"EIO"}, "safe_to_retry", "safe_to_retry") }),
		Judge:   judge.WholeAtFailingWrites,
	},
	{
		ID: "WF-26/every-failing-write", Clauses: []string{"WF-26", "WF-10"},
		Title:   "where a write to the full disk fails, now and from then on, no step goes out whose checkpoint is not stored, and with room there is a way on",
		Faults:  []string{"crash-point"},
		Missing: suites.First(noKind("safe_to_retry"), noFile, noStore),
		Drive:   on(func(s *scene) { s.struckAtEachPoint([]string{"ENOSPC"}, "safe_to_retry", "safe_to_retry") }),
		Judge:   judge.All(judge.NoRoomNoStep, judge.WholeAtFailingWrites),
	},
}

// struckAtEachPoint starts a workflow, struck at every crash point by a kill or by
// the errors given, which stay; a new server then resumes what is stored.
func (s *scene) struckAtEachPoint(variants []string, kinds ...string) {
	s.Launch()
	start := world.Act{Role: "start", Params: map[string]string{}}
	s.EachCrashPoint(world.Crash{
		Act: start, Variants: variants, Stays: true, StoreOnly: true, Once: true,
		Prepare: func(server *world.Caller) {
			s.server = server
			var steps []step
			for _, kind := range kinds {
				steps = append(steps, s.step(kind))
			}
			maps.Copy(start.Params, s.starting(steps...).Params)
		},
		Led: world.Led{
			Ready: func() { s.OutsideAnswered(); s.wireInRun(ready, "") },
			Over:  func() bool { return s.atRest(s.StoredOperations()) },
		},
		Look: func(run string) {
			s.OutsideAnswered()
			s.wireInRun(crashed, run)
			s.storedInRun(crashed, run)
		},
		Restarted: func(run string, server *world.Caller) {
			s.server = server
			s.goneOnInRun(run)
		},
	})
}

// wireInRun counts what went out of every step.
func (s *scene) wireInRun(moment, run string) {
	for _, st := range s.steps {
		s.LookAtWireIn(run, moment, st.text)
	}
}

// storedInRun looks at every checkpoint, and at its file.
func (s *scene) storedInRun(moment, run string) {
	for _, id := range s.StoredOperations() {
		s.LookAtCheckpointFile(id, moment)
		s.LookAtRest("checkpoint", moment, map[string]string{"run": run, "operation_id": id})
	}
}

// goneOnInRun asks for the status of everything that is stored, and resumes it.
func (s *scene) goneOnInRun(run string) {
	for _, id := range s.StoredOperations() {
		if s.state(id) == "" {
			continue // there is no checkpoint, so nothing to ask for
		}
		s.server.Do(s.asking("status", id, restarted).With("run", run))
		if s.server.Do(s.asking("resume", id, resumed).With("run", run)).Outcome() == history.Done {
			s.settle(id)
		}
	}
	s.storedInRun(ended, run)
}
