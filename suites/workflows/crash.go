package workflows

import (
	"maps"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments around a run at one crash point.
const (
	ready   = "ready"   // before it
	crashed = "crashed" // behind it, with the server dead
	ended   = "ended"   // behind it and two resumes
)

var crashPoints = []suites.Test{
	{
		ID: "WF-14/every-crash-point", Clauses: []string{"WF-14"},
		Title:  "at every crash point of a workflow of two writes a resume leaves a step in doubt to a review, takes every other operation to its end, and no step takes effect twice",
		Faults: []string{"crash-point"},
		Drive: on(func(s *scene) {
			s.Launch()
			start := world.Act{Role: "start", Params: map[string]string{}}
			s.EachCrashPoint(world.Crash{
				Act:  start,
				Once: true,
				Prepare: func(server *world.Caller) {
					s.server = server
					maps.Copy(start.Params, s.starting(s.step("write"), s.step("write")).Params)
				},
				Led: world.Led{
					Ready: func() { s.OutsideAnswered(); s.Look("effects", ready, nil) },
					Over:  func() bool { return s.atRest(s.StoredOperations()) },
				},
				Look: func(run string) {
					s.OutsideAnswered()
					s.lookAtRun(crashed, run)
				},
				Restarted: func(run string, server *world.Caller) {
					s.server = server
					s.resumedInRun(run)
				},
			})
		}),
		Judge: judge.ReviewedExactly,
	},
}

// atRest says that there are operations, and that none of them runs.
func (s *scene) atRest(ids []string) bool {
	for _, id := range ids {
		if s.state(id) == "running" {
			return false
		}
	}
	return len(ids) > 0
}

// lookAtRun looks at what a run has left.
func (s *scene) lookAtRun(moment, run string) {
	for _, id := range s.StoredOperations() {
		s.Look("checkpoint", moment, map[string]string{"run": run, "operation_id": id})
	}
	s.Look("effects", moment, map[string]string{"run": run})
}

// resumedInRun resumes twice whatever a run has stored.
func (s *scene) resumedInRun(run string) {
	for _, id := range s.StoredOperations() {
		if s.state(id) == "" {
			continue // there is no checkpoint yet, so nothing to resume
		}
		for range 2 {
			s.server.Do(s.asking("resume", id, ended).With("run", run))
			s.settle(id)
		}
	}
	s.OutsideAnswered()
	s.lookAtRun(ended, run)
}
