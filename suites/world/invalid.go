package world

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// schema is what the invalid calls need of a tool's inputSchema.
type schema struct {
	Type       any               `json:"type"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

// InvalidCalls are calls of the first write tool that break its own inputSchema,
// one violation each, with those that the target file adds. value is what would
// be written if the violation went unseen.
func (c *Caller) InvalidCalls(value string) []Act {
	d := c.w.Target.Profiles.Durability
	var acts []Act
	for i, tool := range d.Invalid {
		acts = append(acts, Act{Role: "invalid", Tool: &tool, Params: map[string]string{
			"value": value, "key": "key " + value, "n": "0", "violation": fmt.Sprintf("the target file's invalid call %d", i+1)}})
	}
	write := d.Writes[0]
	in, found := c.inputSchema(write.Name)
	if !found {
		return acts
	}
	scope := c.w.known(c.known).With(target.Scope{"value": value, "key": "key " + value, "n": "0"})
	expanded, err := scope.ExpandAny(write.Arguments)
	if err != nil {
		Broken("making the arguments of %s: %v", write.Name, err)
	}
	valid, _ := expanded.(map[string]any)
	for _, v := range violations(in, valid) {
		tool := write
		tool.Arguments = v.arguments
		acts = append(acts, Act{Role: "invalid", Tool: &tool, Params: map[string]string{"violation": v.what}})
	}
	return acts
}

// Tools are the names of the tools that the helper lists.
func (c *Caller) Tools() []string {
	var names []string
	for _, t := range c.tools() {
		names = append(names, t.Name)
	}
	return names
}

func (c *Caller) tools() []mcp.Tool {
	ctx, cancel := context.WithTimeout(c.w.ctx, c.w.config.Limits.Answer)
	defer cancel()
	tools, err := c.session.Tools(ctx)
	if err != nil {
		Inconclusive("the helper did not list its tools: %v", err)
	}
	return tools
}

func (c *Caller) inputSchema(tool string) (schema, bool) {
	for _, t := range c.tools() {
		var in schema
		if t.Name == tool && json.Unmarshal(t.InputSchema, &in) == nil {
			return in, true
		}
	}
	return schema{}, false
}

type violation struct {
	what      string
	arguments map[string]any
}

// violations are single breaches of a schema: each required property missing,
// each property of a wrong type, and the same one level down in a list, where a
// valid entry stands before the broken one.
func violations(in schema, valid map[string]any) []violation {
	var out []violation
	for _, name := range slices.Sorted(slices.Values(in.Required)) {
		if _, there := valid[name]; there {
			out = append(out, violation{"required property " + name + " is missing", without(valid, name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		property := in.Properties[name]
		if _, there := valid[name]; !there {
			continue
		}
		if wrong, ok := otherType(property.Type); ok {
			out = append(out, violation{"property " + name + " has the wrong type", with(valid, name, wrong)})
		}
		out = append(out, listViolations(name, property, valid)...)
	}
	return out
}

func listViolations(name string, property schema, valid map[string]any) []violation {
	list, ok := valid[name].([]any)
	if !ok || property.Items == nil || len(list) == 0 {
		return nil
	}
	entry, ok := list[0].(map[string]any)
	if !ok {
		return nil
	}
	var out []violation
	for _, inner := range violations(*property.Items, entry) {
		both := []any{list[0], inner.arguments}
		out = append(out, violation{"second entry of " + name + ": " + inner.what, with(valid, name, both)})
	}
	return out
}

// otherType is a value that a JSON Schema type does not allow.
func otherType(t any) (any, bool) {
	switch t {
	case "string":
		return map[string]any{"not": "a string"}, true
	case "array", "object", "number", "integer", "boolean":
		return "of the wrong type", true
	}
	return nil, false
}

func without(m map[string]any, name string) map[string]any {
	out := maps.Clone(m)
	delete(out, name)
	return out
}

func with(m map[string]any, name string, value any) map[string]any {
	out := maps.Clone(m)
	out[name] = value
	return out
}
