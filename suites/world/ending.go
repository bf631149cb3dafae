package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// ClosesInput closes the input of the helper, which runs, and records whether it
// ends by itself, and how many processes of it stay behind. It has as long as a
// caller waits for an answer, or its own grace where that is longer.
func (c *Caller) ClosesInput() {
	p, limit := c.theProcess(), c.w.config.Limits.Answer
	if grace, err := time.ParseDuration(c.w.Target.Processes[c.w.Target.Helper()].Stop.Grace); err == nil {
		limit = max(limit, grace)
	}
	select {
	case <-p.Done():
		Inconclusive("the server had ended before its input was closed")
	default:
	}
	if err := p.Stdin.Close(); err != nil {
		Broken("closing the input of %s: %v", c.name, err)
	}
	ended := c.w.within(limit, "the server to end", func() bool {
		select {
		case <-p.Done():
			return true
		default:
			return false
		}
	})
	behind := 0
	if ended {
		c.w.within(limit, "what the server has started to end", func() bool {
			left, err := p.Leftovers()
			if err != nil {
				Broken("looking for what %s has left behind: %v", c.name, err)
			}
			behind = len(left)
			return behind == 0
		})
	}
	c.w.Mark("input-closed", map[string]any{"session": c.name, "revision": c.agreed, "ended": ended, "left behind": behind, "waited": limit.String()})
}

// within waits for a fact and says whether it came.
func (w *World) within(limit time.Duration, what string, fact func() bool) bool {
	return wait.For(w.ctx, what, limit, func(context.Context) (bool, error) { return fact(), nil }) == nil
}

// Feeds feeds a line to the helper's stdin as it is, and says whether the helper
// was there to read it.
func (c *Caller) Feeds(line string) bool {
	err := c.session.WriteRaw([]byte(line))
	c.w.Mark("fed", map[string]any{"session": c.name, "line": line, "read": err == nil})
	return err == nil
}

// Over says whether the caller's session has ended, as where its helper has.
func (c *Caller) Over() bool {
	select {
	case <-c.session.Done():
		return true
	default:
		return false
	}
}

// SessionID is what the helper has given the session over HTTP, "" for none.
func (c *Caller) SessionID() string { return c.session.SessionID() }

// AskedWith asks the helper in the session of an ID, which it need not have given
// out, and records by which HTTP status it answers; 0 is no answer.
func (c *Caller) AskedWith(id, whose string) {
	name := fmt.Sprintf("%s in the %s session", c.name, whose)
	session := mcp.ContinueHTTP(c.wire.URL()+c.path, id, c.agreed, mcp.Options{Name: name, Recorder: c.w.config.Recorder, Revision: c.asked, Version: c.w.config.Version})
	ctx, cancel := context.WithTimeout(c.w.ctx, c.w.config.Limits.Answer)
	defer cancel()
	reply, err := session.Request(ctx, "tools/list", map[string]any{})
	status, said := reply.Status, string(reply.Raw)
	var refused *mcp.HTTPStatus
	switch {
	case errors.As(err, &refused):
		status, said = refused.Code, refused.Body
	case err != nil:
		said = err.Error()
	}
	c.w.Mark("asked-in-session", map[string]any{"whose": whose, "status": status, "said": said})
	if err := session.Close(); err != nil {
		Broken("closing %s: %v", name, err)
	}
}
