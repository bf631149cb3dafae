package world

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

func TestOtherReadOnlyToolsAreFurtherLooks(t *testing.T) {
	g := NewWithT(t)
	const reads, free, needs = `{"readOnlyHint":true}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`
	tool := func(name, annotations, input string) mcp.Tool {
		return mcp.Tool{Name: name, Annotations: json.RawMessage(annotations), InputSchema: json.RawMessage(input)}
	}
	d := &target.Durability{
		Read:  target.Tool{Name: "list"},
		Calls: []target.Tool{{Name: "find", Arguments: map[string]any{"a": "{{value}}"}, Values: ".x"}, {Name: "find", Arguments: map[string]any{"a": "more"}}, {Name: "add"}},
	}
	params := map[string]string{"value": "v"}
	var names []string
	acts := furtherLooks([]mcp.Tool{
		tool("list", reads, free), tool("tree", reads, free), tool("find", reads, needs), tool("get", reads, needs),
		tool("add", `{"readOnlyHint":false}`, free), tool("silent", ``, free),
		tool("fetch", `{"readOnlyHint":true,"openWorldHint":true}`, free), tool("broken", reads, `{"type":7}`),
		tool("t3", reads, free), tool("t4", reads, free), tool("t5", reads, free),
	}, d, params)
	for _, act := range acts {
		names = append(names, act.Tool.Name)
		g.Expect(act.Role).To(Equal(LookRole))
		g.Expect(act.Params).To(Equal(params))
	}
	g.Expect(names).To(Equal([]string{"tree", "find", "t3", "t4"}))
	g.Expect(*acts[1].Tool).To(Equal(target.Tool{Name: "find", Arguments: map[string]any{"a": "{{value}}"}}))
}
