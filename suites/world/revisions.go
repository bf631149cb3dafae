package world

import (
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
)

// NewCallerAt starts a server process on the target's stores and shakes hands in a
// revision. Where the server does not speak it there is no caller, and the reason.
func (w *World) NewCallerAt(revision string) (c *Caller, why string) {
	c, err := w.newCallerAs(manner{revision: revision})
	var none *mcp.NoAnswer
	switch {
	case err == nil && c.agreed == revision:
		return c, ""
	case err == nil:
		c.end()
		return nil, fmt.Sprintf("asked for revision %s, the server wants %s", revision, c.agreed)
	case errors.As(err, &none) && none.Reason == mcp.Deadline:
		Inconclusive("revision %s: %v", revision, err)
	}
	w.EndCallers()
	return nil, err.Error()
}

// Leave ends the caller's session and cuts its connection; the server runs on.
func (c *Caller) Leave() {
	c.theLine()
	if err := errors.Join(c.session.Close(), c.wire.Close()); err != nil {
		Broken("leaving %s: %v", c.name, err)
	}
	c.w.Mark("caller left", map[string]any{"session": c.name})
}
