package bench

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
)

// field is a text of an answer's structure; an error is none.
func field(b *testing.B, reply mcp.Reply, name string) string {
	b.Helper()
	if reply.IsError {
		b.Fatalf("a call was refused: %s", reply.Raw)
	}
	var fields map[string]any
	if err := json.Unmarshal(reply.Structured(), &fields); err != nil {
		b.Fatalf("reading an answer: %v in %s", err, reply.Raw)
	}
	text, _ := fields[name].(string)
	return text
}
