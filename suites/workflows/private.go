package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var private = []suites.Test{
	underUmask("WF-09/under-umask-0", 0),
	underUmask("WF-09/under-umask-0077", 0o077),
}

// underUmask is the spec of a server that runs under a umask.
func underUmask(id string, umask int) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-09"},
		Title:   "the store is 0700 and its files 0600 while a step runs, behind a kill, and behind a resume",
		Faults:  []string{"outside-held", "kill-at-request"},
		Missing: suites.First(noKind("write"), noStore),
		Drive: on(func(s *scene) {
			s.Launch()
			s.server = s.NewCallerUnder(umask)
			one, two := s.step("write"), s.step("write")
			request := s.HoldOutside(one.text)
			id := s.start(one)
			request.Await()
			s.LookAtModes(held)
			request.Release()
			s.settle(id)
			killed := s.know(s.server.KilledWhileHeld(s.starting(two), two.text))
			s.LookAtModes(struck)
			s.server = s.NewCallerUnder(umask)
			s.ask("resume", killed, resumed)
			s.settle(killed)
			s.LookAtModes(converged)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.Placed("kill-at-request", 1), judge.StoreIsPrivate),
	}
}
