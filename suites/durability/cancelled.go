package durability

import (
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// cancelled are the specs of a call that its caller cancels.
var cancelled = []suites.Test{
	cancelledCall("DU-11/request-held", "its request is on its way", false),
	cancelledCall("DU-11/answer-held", "its answer is on its way behind the commit", true),
}

func cancelledCall(id, when string, answer bool) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"DU-11"}, Faults: []string{"call-held"}, Missing: noProbe, Numbers: reports.Numbers{Rounds: 3},
		Title: "a write that is cancelled while " + when + " is whole or absent, and the server goes on",
		Drive: on(func(s *scene) {
			s.proveProbe(s.write())
			for range s.Numbers().Rounds {
				s.helper.CancelsHeld(s.writing(), answer)
				if s.helper.Do(s.writing().With("after", "cancel")).Outcome() != history.Done {
					break // no further call would come to be held
				}
			}
			s.readByFresh()
		}),
		Judge: judge.Numbered(func(n reports.Numbers) judge.Rule {
			return judge.All(judge.Placed("call-held", n.Rounds), judge.ProbeSees("values"), judge.CancelledWhole)
		}),
	}
}
