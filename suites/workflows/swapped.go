package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// mended is the moment behind a wrong that was undone.
const mended = "mended"

var swapped = []suites.Test{
	swappedFor("WF-28/a-link-for-the-checkpoint", world.Swap{}),
	swappedFor("WF-28/a-link-for-the-store", world.Swap{Store: true}),
	swappedFor("WF-28/another-users-checkpoint", world.Swap{Owner: true}),
	swappedFor("WF-28/another-users-store", world.Swap{Store: true, Owner: true}),
}

// swappedFor is the spec of one swap, made while no server runs.
func swappedFor(id string, how world.Swap) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-28"},
		Title:   "a " + how.What() + " that became " + how.How() + " is refused, and nothing of it is followed, read or changed",
		Faults:  []string{"kill-at-request", how.What() + " swapped"},
		Missing: suites.First(noKind("write"), noFile),
		Drive: on(func(s *scene) {
			s.begin()
			one := s.step("write")
			id := s.know(s.server.KilledWhileHeld(s.starting(one), one.text))
			s.look(struck, id)
			strange := s.Swap(how, id)
			strange.Look(struck)
			s.server = s.Offered()
			if s.server != nil {
				for _, role := range []string{"status", "resume", "cancel"} {
					s.ask(role, id, wronged)
				}
				if how.Store {
					s.server.Do(s.starting(s.step("write")).At(wronged))
				}
			}
			strange.Look(wronged)
			strange.Back()
			if s.server == nil {
				s.again()
			}
			s.ask("status", id, mended)
			strange.Look(mended)
			s.look(converged, id)
		}),
		Judge: judge.All(judge.Placed("kill-at-request", 1), judge.SwapIsRefused),
	}
}
