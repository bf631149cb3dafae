package helper

import "github.com/holdfast-mcp/holdfast/reference/toolspec"

// Dialect is how one contract version speaks to an agent.
type Dialect struct {
	Version int
	Tools   *toolspec.Set
	// Say words an answer; nil says it as it is.
	Say func(Answer) any
}

func (d Dialect) say(a Answer) any {
	if d.Say == nil {
		return a
	}
	return d.Say(a)
}
