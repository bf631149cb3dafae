package workflows

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var starters = []suites.Test{
	{
		ID: "WF-30/goes-on-without-its-starter", Clauses: []string{"WF-30"},
		Title:  "over HTTP an operation goes on and is completed after its starter has disconnected",
		NotFor: onlyOver("http"),
		Faults: []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			first, second := s.step("write"), s.step("write")
			request := s.HoldOutside(first.text)
			id := s.start(first, second)
			request.Await()
			s.look(held, id)
			s.server.Leave()
			request.Release()
			s.settle(id)
			s.look(converged, id)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.GoesOnAlone),
	},
	{
		ID: "WF-30/stops-with-its-server", Clauses: []string{"WF-30"},
		Title:   "over stdio an operation stops with its server, and a later one resumes it to its end",
		NotFor:  onlyOver("stdio"),
		Missing: noKind("retryable"),
		Faults:  []string{"outside-held"},
		Drive: on(func(s *scene) {
			s.begin()
			first, second := s.step("retryable"), s.step("retryable")
			request := s.HoldOutside(first.text)
			id := s.start(first, second)
			request.Await()
			s.look(held, id)
			s.EndCallers()
			request.Release()
			s.Quiet()
			s.look(struck, id)
			s.again()
			s.ask("status", id, restarted)
			s.look(restarted, id)
			if s.ask("resume", id, resumed).Text("operation") == "running" {
				s.settle(id)
			}
			s.look(converged, id)
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.StopsWithItsServer),
	},
}

// onlyOver says that a spec is about one transport.
func onlyOver(transport string) func(*target.File) string {
	return func(f *target.File) string {
		spoken := "http"
		if f.Processes[f.Helper()].MCP.Stdio {
			spoken = "stdio"
		}
		if spoken != transport {
			return "the spec is about " + transport + ", and the target's server speaks " + spoken
		}
		return ""
	}
}
