package workflows

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var revisions = []suites.Test{
	atEveryRevision("WF-32/every-revision-over-stdio", "stdio"),
	atEveryRevision("WF-32/every-revision-over-http", "http"),
}

// atEveryRevision is a spec of one transport.
func atEveryRevision(id, transport string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-32"},
		Title:   "over " + transport + ", start, status, resume and cancel work without Tasks at every revision that the server speaks",
		NotFor:  onlyOver(transport),
		Missing: noKind("read", "retryable"),
		Faults:  []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.Launch()
			for _, revision := range target.Revisions() {
				if s.speaks(revision) {
					s.resumedAt(revision)
					s.cancelledAt(revision)
				}
			}
		}),
		Judge: judge.All(judge.Placed("outside-held", 2), judge.EveryRevision),
	}
}

// speaks goes on with a new server in a revision, if it speaks that.
func (s *scene) speaks(revision string) bool {
	s.EndCallers()
	caller, why := s.NewCallerAt(revision)
	s.Mark("revision", map[string]any{"revision": revision, "spoken": caller != nil, "why": why})
	s.server = caller
	return caller != nil
}

// resumedAt starts an operation, ends its server while the first step is held, and
// resumes it with a new one.
func (s *scene) resumedAt(revision string) {
	first, second := s.step("retryable"), s.step("retryable")
	request := s.HoldOutside(first.text)
	id := s.know(s.server.Do(s.starting(first, second).With("revision", revision).With("end", "resumed")))
	if id == "" {
		request.Release()
		return
	}
	request.Await()
	s.EndCallers()
	request.Release()
	s.server, _ = s.NewCallerAt(revision)
	if s.server == nil {
		world.Inconclusive("a second server does not speak revision %s, which the first one spoke", revision)
	}
	s.server.Do(s.asking("resume", id, resumed).With("revision", revision))
	s.settle(id)
	s.server.Do(s.asking("status", id, converged).With("revision", revision))
	s.Look("checkpoint", converged, map[string]string{"operation_id": id})
}

// cancelledAt starts an operation and cancels it while the first step is held.
func (s *scene) cancelledAt(revision string) {
	first := s.step("write")
	request := s.HoldOutside(first.text)
	id := s.know(s.server.Do(s.starting(first, s.plain("read")).With("revision", revision).With("end", "cancelled")))
	if id == "" {
		request.Release()
		return
	}
	request.Await()
	s.server.Do(s.asking("cancel", id, held).With("revision", revision))
	request.Release()
	s.settle(id)
	s.Look("checkpoint", converged, map[string]string{"operation_id": id})
}
