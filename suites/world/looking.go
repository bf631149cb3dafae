package world

import (
	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// LookRole is the role of calls of tools, other than the target's read, that look at more
// than that does.
const LookRole = "look"

// mostLooks bounds the tools that are looked through around one call.
const mostLooks = 4

// FurtherLooks are calls of tools, other than the target's read, that claim to be
// read-only: with the target file's arguments, where it has a call of the tool, else
// without any, where the inputSchema allows that and the tool reaches nothing outside.
// The templates of all of them have these values.
func (c *Caller) FurtherLooks(params map[string]string) []Act {
	return furtherLooks(c.tools(), c.w.Target.Profiles.Durability, params)
}

func furtherLooks(tools []mcp.Tool, d *target.Durability, params map[string]string) []Act {
	var acts []Act
	for _, t := range tools {
		hints := hintsOf(t)
		if !hints.claim(ReadOnly) || t.Name == d.Read.Name || len(acts) == mostLooks {
			continue
		}
		tool, given := givenCall(d, t.Name)
		if !given {
			tool = target.Tool{Name: t.Name}
			whole, err := schemas.Compile(t.InputSchema)
			if err != nil || says(hints.OpenWorld, true) || whole.Validate(map[string]any{}) != nil {
				continue
			}
		}
		acts = append(acts, Act{Role: LookRole, Tool: &tool, Params: params})
	}
	return acts
}

// givenCall is the target file's first call of a tool.
func givenCall(d *target.Durability, name string) (target.Tool, bool) {
	for _, tool := range d.Calls {
		if tool.Name == name {
			tool.Values = ""
			return tool, true
		}
	}
	return target.Tool{}, false
}
