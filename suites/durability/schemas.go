package durability

import (
	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// schemas are the specs of what tools/list says of the tools, and of results that are to
// be as it says.
var schemas = []suites.Test{
	{
		ID: "DU-09/results", Clauses: []string{"DU-09/results"},
		Title: "structured results conform to the outputSchema of their tool, on an empty store and on a filled one",
		Drive: on(func(s *scene) {
			if s.helper.Agreed() < mcp.Revision20250618 {
				world.Inapplicable("outputSchema is of revision 2025-06-18 on, and the server agreed on an older one")
			}
			tools := s.helper.Claiming(world.Structured)
			s.callEach(tools, true)
			s.write()
			s.callEach(tools, false)
			s.callEach(tools, true)
			s.helper.ListsTools()
		}),
		Judge: judge.ResultsConform,
	},
	{
		ID: "DU-09/restart", Clauses: []string{"DU-09/restart"},
		Title: "after a restart tools/list names the same tools with the same schemas",
		Drive: on(func(s *scene) {
			s.write()
			before := s.helper.ListsTools()
			s.helper.Killed()
			s.helper = s.NewCaller()
			s.helper.ListsToolsAs(func() []mcp.Tool { return before })
		}),
		Judge: judge.SameToolsAfterRestart,
	},
	{
		ID: "DU-09/connections", Clauses: []string{"DU-09/connections"},
		Title: "on two connections at once tools/list names the same tools with the same schemas, before a write through one of them and after it",
		Drive: on(func(s *scene) {
			s.helper.Agreed()
			s.helper.ListsTools()
			second := s.helper.Another()
			second.ListsTools()
			s.write()
			second.ListsToolsAs(s.helper.ListsTools)
		}),
		Judge: judge.SameToolsOnConnections,
	},
	{
		ID: "DU-09/order", Clauses: []string{"DU-09/order"}, NotFor: beforeOrder,
		Title: "tools/list names the same tools in the same order each time, on another connection and after a restart too",
		Drive: on(func(s *scene) {
			if s.helper.Agreed() < mcp.Revision20260728 {
				world.Inapplicable("an order is asked for from revision 2026-07-28 on, and the server agreed on an older one")
			}
			for range listings {
				s.helper.ListsTools()
			}
			s.helper.Another().ListsTools()
			s.helper = s.helper.Restarted()
			s.helper.ListsTools()
		}),
		Judge: judge.SameOrder,
	},
}

// listings is how often DU-09 asks one connection for the order of the tools.
const listings = 5

// beforeOrder says that nobody asks a server for an order of its tools.
func beforeOrder(f *target.File) string {
	if f.Revision < mcp.Revision20260728 {
		return "before revision 2026-07-28 nothing is asked of the order of tools"
	}
	return ""
}

// callEach makes the calls of tools, of all or of those that only read.
func (s *scene) callEach(tools []world.Callable, reads bool) {
	for _, tool := range tools {
		if reads && !tool.Reads {
			continue
		}
		for _, call := range tool.Calls {
			s.helper.Do(s.calling(call))
		}
	}
}
