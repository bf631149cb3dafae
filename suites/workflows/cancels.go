package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var cancels = []suites.Test{
	{
		ID: "WF-20/current-step-aborted", Clauses: []string{"WF-20"},
		Title:   "a cancel aborts the current step, while its request is held, where its tool can be aborted, and nothing follows",
		Faults:  []string{"outside-held"},
		Missing: noKind("abortable"),
		Drive:   on(func(s *scene) { s.cancelledWhileHeld("abortable", (*world.World).HoldOutside) }),
		Judge:   judge.All(judge.Placed("outside-held", 1), judge.WhereEffectsShow(judge.CancelAborts)),
	},
	{
		ID: "WF-20/current-step-finished", Clauses: []string{"WF-20"},
		Title:   "a step whose tool cannot be aborted finishes behind a cancel, its result is stored, and nothing follows",
		Faults:  []string{"outside-held"},
		Missing: noKind("unabortable"),
		Drive:   on(func(s *scene) { s.cancelledWhileHeld("unabortable", (*world.World).HoldOutside) }),
		Judge:   judge.All(judge.Placed("outside-held", 1), judge.CancelWaits),
	},
	{
		ID: "WF-21/aborted-before-the-answer", Clauses: []string{"WF-21"},
		Title:   "an operation that is cancelled while the answer to a write is held is left to a review",
		Faults:  []string{"outside-held"},
		Missing: noKind("abortable"),
		Drive:   on(func(s *scene) { s.cancelledWhileHeld("abortable", (*world.World).HoldOutsideAnswer) }),
		Judge:   judge.All(judge.Placed("outside-held", 1), judge.CancelKeepsDoubt),
	},
	cancelledInDoubt("WF-21/killed-in-flight", "write"),
	cancelledInDoubt("WF-21/killed-in-a-retryable-step", "retryable"),
}

// asked is the moment before a cancel.
const asked = "asked"

// cancelledWhileHeld cancels an operation while the request of its first step, or
// the answer to that, is held, and lets go once the operation rests or will not.
func (s *scene) cancelledWhileHeld(kind string, hold func(*world.World, string) *world.Hold) {
	s.begin()
	s.showsEffects()
	first, second := s.step(kind), s.step("write")
	it := hold(s.World, first.text)
	id := s.start(first, second)
	it.Await()
	s.look(asked, id)
	s.ask("cancel", id, held)
	if kind == "abortable" {
		s.AwaitThough("operation "+id+" to be aborted", func() bool { return s.state(id) != "running" })
	}
	s.look(held, id)
	it.Release()
	s.settle(id)
	s.Quiet()
	s.ask("resume", id, resumed)
	s.settle(id)
	s.look(converged, id)
}

// cancelledInDoubt is a spec of an operation that is cancelled after its server
// was killed in a step of a kind that had taken effect.
func cancelledInDoubt(id, kind string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-21"}, Faults: []string{"kill-at-answer"}, Missing: noKind(kind),
		Title: "an operation that is cancelled after its server was killed in a step in doubt (" + kind + ") is left to a review",
		Drive: on(func(s *scene) {
			s.begin()
			first, second := s.step(kind), s.step("write")
			id := s.know(s.server.KilledOnceApplied(s.starting(first, second), first.text))
			s.look(asked, id)
			s.again()
			s.ask("cancel", id, held)
			s.settle(id)
			s.ask("resume", id, resumed)
			s.settle(id)
			s.look(converged, id)
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 1), judge.CancelKeepsDoubt),
	}
}
