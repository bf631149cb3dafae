package workflows

import (
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var lost = []suites.Test{
	lostOutside("WF-18/answer-lost", "answer-lost", "a step whose outside answer was lost behind its effect is left to a review, and neither failed nor sent again", "write", 1, (*world.Caller).LosesOutsideAnswer),
	lostOutside("WF-18/request-lost", "request-lost", "a step whose outside request was lost is left to a review too, because its server cannot tell", "write", 0, (*world.Caller).LosesOutsideRequest),
	lostOutside("WF-18/retryable-answer-lost", "answer-lost", "a retryable step whose outside answer was lost leaves an interrupted operation, which a resume takes to its end", "retryable", 1, (*world.Caller).LosesOutsideAnswer),
	lostOutside("WF-18/retryable-request-lost", "request-lost", "a retryable step whose outside request was lost leaves an interrupted operation, which a resume takes to its end", "retryable", 0, (*world.Caller).LosesOutsideRequest),
}

// lostOutside is a spec of a step of a kind whose outside request or answer is
// lost while its server lives, by when the step has taken effect effects times.
func lostOutside(id, fault, title, kind string, effects int, lose func(*world.Caller, world.Act, string) history.Operation) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-18"}, Title: title, Faults: []string{fault}, Missing: noKind(kind),
		Drive: on(func(s *scene) {
			s.begin()
			s.showsEffects()
			first, second := s.step(kind), s.step("write")
			op := s.know(lose(s.server, s.starting(first, second), first.text))
			s.settle(op)
			s.Quiet()
			s.ask("status", op, struck)
			s.look(struck, op)
			s.ask("resume", op, resumed)
			s.settle(op)
			s.look(converged, op)
		}),
		Judge: judge.All(judge.Placed(fault, 1), judge.WhereEffectsShow(judge.LostIsDoubt(effects))),
	}
}
