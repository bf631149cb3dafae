package workflows

import (
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// raced is the moment of calls that are made at once.
const raced = "raced"

var exclusive = []suites.Test{
	{
		ID: "WF-11/two-resumes-at-once", Clauses: []string{"WF-11"},
		Title:   "of two servers that resume one operation at once one acts and the other is told busy, and when the first is killed the other can",
		Faults:  []string{"kill-at-request", "race", "outside-held"},
		Missing: noKind("retryable"),
		Drive: on(func(s *scene) {
			s.begin()
			s.showsEffects()
			one := s.step("retryable")
			id := s.know(s.server.KilledWhileHeld(s.starting(one), one.text))
			s.look(struck, id)
			a, b := s.NewCaller(), s.NewCaller()
			request := s.HoldOutside(one.text)
			answers := s.Race(s.asking("resume", id, raced), a, b)
			request.Await()
			s.Quiet()
			s.look(held, id)
			holder, other := a, b
			if answers[0].Outcome() != history.Done {
				holder, other = b, a
			}
			s.outlived(id, holder, other, request)
		}),
		Judge: judge.All(judge.Placed("kill-at-request", 1), judge.Placed("race", 1), judge.Placed("outside-held", 1), judge.OneOfTwoActs, judge.WhereEffectsShow(judge.KilledHolderFrees)),
	},
	{
		ID: "WF-11/resumed-while-it-runs", Clauses: []string{"WF-11"},
		Title:   "a server that resumes an operation which another one runs is told busy until that one is killed",
		Faults:  []string{"outside-held"},
		Missing: noKind("retryable"),
		Drive: on(func(s *scene) {
			s.begin()
			s.showsEffects()
			other := s.NewCaller()
			one := s.step("retryable")
			request := s.HoldOutside(one.text)
			id := s.start(one)
			request.Await()
			other.Do(s.asking("resume", id, held))
			s.Quiet()
			s.look(held, id)
			s.outlived(id, s.server, other, request)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.BusyWhileHeld, judge.WhereEffectsShow(judge.KilledHolderFrees)),
	},
}

// outlived kills the server that runs an operation and resumes it with another.
func (s *scene) outlived(id string, holder, other *world.Caller, request *world.Hold) {
	holder.Killed()
	request.Release()
	s.server = other
	if s.ask("resume", id, resumed).Outcome() == history.Done {
		s.settle(id)
	}
	s.look(converged, id)
}
