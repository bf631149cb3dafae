package world

import (
	"context"
	"fmt"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// InvalidCalls are calls of the first write tool that break its own inputSchema,
// one violation each, with those that the target file adds. value is what would
// be written if the violation went unseen.
func (c *Caller) InvalidCalls(value string) []Act {
	acts := c.DeclaredInvalid(value)
	write := c.w.Target.Profiles.Durability.Writes[0]
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
	for _, v := range some(in.breaches(valid), mostInvalid) {
		tool := write
		tool.Arguments, _ = v.value.(map[string]any)
		acts = append(acts, Act{Role: "invalid", Tool: &tool, Params: map[string]string{"violation": v.what}})
	}
	return acts
}

// DeclaredInvalid are the calls that the server must refuse, as the target file says.
func (c *Caller) DeclaredInvalid(value string) []Act {
	var acts []Act
	for i, tool := range c.w.Target.Profiles.Durability.Invalid {
		acts = append(acts, Act{Role: "invalid", Tool: &tool, Params: map[string]string{
			"value": value, "key": "key " + value, "n": "0", "declared": "yes", "violation": fmt.Sprintf("the target file's invalid call %d", i+1)}})
	}
	return acts
}

// mostInvalid bounds the calls that are derived from one schema: each is followed
// by a read, and the hundredth way to break it tells what the others did.
const mostInvalid = 100

// some are at most n of a list, spread over all of it.
func some[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	out := make([]T, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
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
		if t.Name == tool {
			in, err := schemaOf(t.InputSchema)
			return in, err == nil
		}
	}
	return schema{}, false
}
