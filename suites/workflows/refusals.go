package workflows

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// refusalStatuses are the HTTP statuses with which an outside service says no.
var refusalStatuses = []int{400, 403, 404, 429, 500, 503}

var refusals = []suites.Test{
	{
		ID: "WF-19/refused", Clauses: []string{"WF-19"},
		Title:  "a step that the outside service definitely refuses fails its operation with a safe code, and is not reviewed",
		Faults: []string{"outside-refused"},
		Drive: on(func(s *scene) {
			s.begin()
			for _, status := range refusalStatuses {
				first, second := s.step("write"), s.step("write")
				refusal := s.RefuseOutside(first.text, status)
				id := s.start(first, second)
				s.settle(id)
				refusal.Given()
				s.Mark("expected", map[string]any{"text": first.text, "end": "refused", "how": fmt.Sprint(status)})
				s.ask("status", id, converged)
				s.lookAt(converged, id, first, second)
			}
			s.goesOn(s.step("write"), s.step("write"))
		}),
		Judge: judge.All(judge.Placed("outside-refused", len(refusalStatuses)), judge.DefiniteIsNoDoubt),
	},
	{
		ID: "WF-19/unreachable", Clauses: []string{"WF-19"},
		Title:  "a step whose request could not leave fails its operation or leaves it resumable, is not reviewed, and the outside service saw nothing of it",
		Faults: []string{"outside-away"},
		Drive: on(func(s *scene) {
			s.begin()
			first, second := s.step("write"), s.step("write")
			away := s.OutsideAway()
			id := s.start(first, second)
			s.settle(id)
			away.Release()
			s.Quiet()
			s.Mark("expected", map[string]any{"text": first.text, "end": "unsent", "how": "no connection"})
			s.ask("status", id, converged)
			s.lookAt(converged, id, first, second)
			s.goesOn(s.step("write"), s.step("write"))
		}),
		Judge: judge.All(judge.Placed("outside-away", 1), judge.DefiniteIsNoDoubt),
	},
}
