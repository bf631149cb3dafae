package workflows

import (
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var doubts = []suites.Test{
	{
		ID: "WF-14/killed-while-the-request-is-held", Clauses: []string{"WF-14", "WF-15"},
		Title:  "a step that was in flight when the server was killed is reviewed after a resume and never runs again, although its request never arrived",
		Faults: []string{"kill-at-request"},
		Drive:  on(func(s *scene) { s.reviewed((*world.Caller).KilledWhileHeld) }),
		Judge:  judge.All(judge.Placed("kill-at-request", 1), judge.NothingResumesItself, judge.WhereEffectsShow(judge.ReviewedNeverReplayed(0))),
	},
	{
		ID: "WF-14/killed-once-applied", Clauses: []string{"WF-14", "WF-15"},
		Title:  "a step that was applied as the server was killed is reviewed after a resume and never runs again",
		Faults: []string{"kill-at-answer"},
		Drive:  on(func(s *scene) { s.reviewed((*world.Caller).KilledOnceApplied) }),
		Judge:  judge.All(judge.Placed("kill-at-answer", 1), judge.NothingResumesItself, judge.WhereEffectsShow(judge.ReviewedNeverReplayed(1))),
	},
}

// reviewed starts two writes and kills the server in the first; then it restarts
// and resumes again and again.
func (s *scene) reviewed(kill func(*world.Caller, world.Act, string) history.Operation) {
	s.begin()
	s.showsEffects()
	first, second := s.step("write"), s.step("write")
	id := s.know(kill(s.server, s.starting(first, second), first.text))
	s.look(struck, id)
	s.again()
	s.ask("status", id, restarted)
	s.Quiet()
	s.look(restarted, id)
	for range 3 {
		s.ask("resume", id, resumed)
		s.settle(id)
		s.server = s.server.Restarted()
	}
	s.ask("status", id, converged)
	s.look(converged, id)
}
