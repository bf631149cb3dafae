// Command holdfast puts an MCP server under proven faults and says which clause
// of its contract held.
package main

import (
	"os"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"github.com/holdfast-mcp/holdfast/suites"
)

func main() {
	wait.Pulse()
	crashpoint.Shim() // does not return in a tracer, or in a target that it starts
	h := suites.Harness{Version: version()}
	if len(os.Args) < 2 || !partOfTarget[os.Args[1]] {
		h = harness()
		h.Main() // does not return in a worker of a run
	}
	os.Exit(execute(h, os.Args[1:], os.Stdout, os.Stderr))
}

// partOfTarget are the verbs as which this binary is one process of a target. They
// are started by the thousand and need no harness, which takes half of a start to
// put together.
var partOfTarget = map[string]bool{"reference": true, "mutant": true, "policy": true}
