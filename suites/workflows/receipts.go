package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var receipts = []suites.Test{
	receipt("WF-22/partial", "a delivery that was partial stops the operation for a review before the next step, and no resume delivers again", "partial"),
	receipt("WF-22/unverified", "a delivery that could not be verified stops the operation for a review before the next step, and no resume delivers again", "unverified"),
}

// receipt is a spec of a delivery whose receipt says less than that it is complete,
// and of one that is complete.
func receipt(id, title, delivery string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-22"}, Title: title, Faults: []string{"outside-receipt"}, Missing: noKind("deliver"),
		Drive: on(func(s *scene) {
			s.begin()
			first, second := s.step("deliver"), s.step("write")
			said := s.DeliverOutside(first.text, delivery)
			id := s.start(first, second)
			s.settle(id)
			said.Given()
			s.expected(first, delivery)
			s.lookAt(struck, id, first, second)
			for range 2 {
				s.ask("resume", id, resumed)
				s.settle(id)
				s.server = s.server.Restarted()
			}
			s.lookAt(converged, id, first, second)
			s.goesOn(s.step("deliver"), s.step("write"))
		}),
		Judge: judge.All(judge.Placed("outside-receipt", 1), judge.ReceiptStops),
	}
}

// expected tells the judges what was done to a step.
func (s *scene) expected(st step, end string) {
	s.Mark("expected", map[string]any{"text": st.text, "end": end})
}

// goesOn starts an operation to which nothing happens.
func (s *scene) goesOn(steps ...step) string {
	id := s.start(steps...)
	s.settle(id)
	s.ask("status", id, converged)
	s.lookAt(converged, id, steps...)
	return id
}
