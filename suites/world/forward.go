package world

import (
	"context"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// GoForwarded makes calls at the same time and returns once the wire has passed
// every one of them on to the helper; none need have come back by then.
func (c *Caller) GoForwarded(acts ...Act) []*Flight {
	passed := map[string]int{}
	for _, act := range acts {
		passed[c.tool(act).Name] = c.theLine().Passed(c.match(act))
	}
	for _, act := range acts {
		passed[c.tool(act).Name]++
	}
	flights := make([]*Flight, len(acts))
	for i, act := range acts {
		flights[i] = c.Go(act, c.w.config.Limits.Answer)
	}
	for _, act := range acts {
		what := fmt.Sprintf("the request of %s on its way to the helper", c.tool(act).Name)
		err := wait.For(c.w.ctx, what, c.w.config.Limits.Answer, func(context.Context) (bool, error) {
			return c.theLine().Passed(c.match(act)) >= passed[c.tool(act).Name], nil
		})
		if err != nil {
			Inconclusive("%v", err)
		}
	}
	return flights
}
