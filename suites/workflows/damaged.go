package workflows

import (
	"github.com/holdfast-mcp/holdfast/faults/disk"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// wronged is the moment behind something that was done to a file of the store.
const wronged = "wronged"

var damaged = []suites.Test{
	damagedBy("WF-25/half-cut", disk.HalfCut),
	damagedBy("WF-25/one-byte-changed", disk.OneByte),
	damagedBy("WF-25/empty", disk.Emptied),
	damagedBy("WF-25/another-operations", disk.AnothersContent),
}

// damagedBy is the spec of one damage, done to the checkpoint of an operation whose
// server was killed.
func damagedBy(id string, how disk.Damage) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-25"},
		Title:   "a damaged checkpoint (" + string(how) + ") is a clear error of that operation and of no other, and its file is kept",
		Faults:  []string{"kill-at-request", "damaged-file"},
		Missing: suites.First(noKind("write"), noFile),
		Drive: on(func(s *scene) {
			s.begin()
			finished := s.start(s.step("write"))
			s.settle(finished)
			one, two := s.step("write"), s.step("write")
			id := s.know(s.server.KilledWhileHeld(s.starting(one, two), one.text))
			s.look(struck, id)
			s.Damage(how, id, finished)
			s.again()
			s.ask("status", strange(id), wronged)
			for _, role := range []string{"status", "resume", "cancel"} {
				s.ask(role, id, wronged)
				s.LookAtCheckpointFile(id, wronged)
			}
			s.ask("status", finished, wronged)
			other := s.start(s.step("write"))
			s.settle(other)
			s.server = s.server.Restarted()
			s.ask("status", id, wronged)
			s.LookAtCheckpointFile(id, wronged)
			s.look(converged, finished, other)
		}),
		Judge: judge.All(judge.Placed("kill-at-request", 1), judge.DamageIsTold),
	}
}

// strange is an ID like another one that no start was answered with.
func strange(id string) string {
	if id == "" {
		return id
	}
	last := "a"
	if id[len(id)-1:] == last {
		last = "b"
	}
	return id[:len(id)-1] + last
}
