package durability

import (
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
		ID: id, Clauses: []string{"DU-11"}, Faults: []string{"call-held"}, Missing: noProbe,
		Title: "a write that is cancelled while " + when + " is whole or absent, and the server goes on",
		Drive: on(func(s *scene) {
			s.proveProbe(s.write())
			s.helper.CancelsHeld(s.writing(), answer)
			s.helper.Do(s.writing().With("after", "cancel"))
			s.readByFresh()
		}),
		Judge: judge.All(judge.Placed("call-held", 1), judge.ProbeSees("values"), judge.CancelledWhole),
	}
}
