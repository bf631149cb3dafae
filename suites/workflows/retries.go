package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var retries = []suites.Test{
	{
		ID: "WF-16/both-declared", Clauses: []string{"WF-16"},
		Title:   "a step that declares both, applied as the server was killed, goes out again with the resume and takes effect once",
		Faults:  []string{"kill-at-answer"},
		Missing: noKind("retryable"),
		Drive: on(func(s *scene) {
			s.begin()
			s.killedApplied("retryable")
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 1), judge.BothDeclared),
	},
	{
		ID: "WF-16/confirmation-works-once", Clauses: []string{"WF-16"},
		Title:   "a step that declares both and carries a one-time confirmation is not retried with it: the second attempt is denied as approval_invalid",
		Faults:  []string{"kill-at-answer"},
		Missing: suites.First(noKind("confirmed"), suites.NoAction("confirm")),
		Drive: on(func(s *scene) {
			s.begin()
			s.Act("confirm", nil)
			s.killedApplied("confirmed")
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 1), judge.ConfirmationUsedUp),
	},
	half("WF-17/idempotent-alone", "a step that declares itself idempotent and not safe to retry is left to a review", "idempotent"),
	half("WF-17/safe-to-retry-alone", "a step that declares itself safe to retry and not idempotent is left to a review", "safe_to_retry"),
}

// half is a spec of a step that makes one of the two declarations, behind one that
// makes both.
func half(id, title, kind string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-17"}, Title: title,
		Faults:  []string{"kill-at-answer"},
		Missing: noKind("retryable", kind),
		Drive: on(func(s *scene) {
			s.begin()
			s.killedApplied("retryable")
			s.killedApplied(kind)
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 2), judge.HalfDeclared),
	}
}

// killedApplied starts a step of a kind and a write behind it, kills the server
// once the first is applied, and resumes twice, with another restart in between.
func (s *scene) killedApplied(kind string) {
	first, second := s.step(kind), s.step("write")
	id := s.know(s.server.KilledOnceApplied(s.starting(first, second), first.text))
	s.lookAt(struck, id, first, second)
	s.again()
	s.ask("resume", id, resumed)
	s.settle(id)
	s.server = s.server.Restarted()
	s.ask("resume", id, resumed)
	s.settle(id)
	s.ask("status", id, converged)
	s.lookAt(converged, id, first, second)
}

// lookAt looks at one operation of several: at its checkpoint, at what the outside
// service has applied, and at what went to it of its own steps.
func (s *scene) lookAt(moment, id string, own ...step) {
	if id != "" {
		s.Look("checkpoint", moment, map[string]string{"operation_id": id})
	}
	s.Look("effects", moment, nil)
	for _, st := range own {
		s.LookAtWire(moment, st.text)
	}
}
