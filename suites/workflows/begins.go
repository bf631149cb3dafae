package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var begins = []suites.Test{
	{
		ID: "WF-01/answered-before-the-first-step-ends", Clauses: []string{"WF-01"},
		Title:  "a start stores a checkpoint and answers with the operation ID while its first step is held",
		Faults: []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			write := s.step("write")
			request := s.HoldOutside(write.text)
			start := s.server.Go(s.starting(write), s.Patience())
			request.Await()
			s.Given(start)
			s.look(held, s.storedAs(start))
			request.Release()
			id := s.know(start.Wait())
			s.settle(id)
			s.look(converged, id)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.StartAnswersFirst),
	},
	{
		ID: "WF-12/in-flight-before-the-request-leaves", Clauses: []string{"WF-12"},
		Title:  "while a step's request is held on the wire the checkpoint says in_flight of that step, and of no later one",
		Faults: []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			one, two := s.step("write"), s.step("write")
			second := s.HoldOutside(two.text)
			id := s.start(one, two)
			second.Await()
			s.look(held, id)
			second.Release()
			s.settle(id)
			s.look(converged, id)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.InFlightFirst),
	},
}
