// Command holdfast puts an MCP server under proven faults and says which clause
// of its contract held.
package main

import (
	"os"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

func main() {
	wait.Pulse()
	crashpoint.Shim() // does not return in a tracer, or in a target that it starts
	h := harness()
	h.Main() // does not return in a worker of a run
	os.Exit(execute(h, os.Args[1:], os.Stdout, os.Stderr))
}
