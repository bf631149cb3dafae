package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var inOrder = []suites.Test{
	{
		ID: "WF-13/result-before-the-next-request", Clauses: []string{"WF-13"},
		Title:  "while a step's request is held on the wire the checkpoint has the results of those before it, and all of them take effect in the order of the definition",
		Faults: []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			one, two, three := s.step("write"), s.step("write"), s.step("write")
			third := s.HoldOutside(three.text)
			id := s.start(one, two, three)
			third.Await()
			s.look(held, id)
			third.Release()
			s.settle(id)
			s.look(converged, id)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.ResultFirst),
	},
}
