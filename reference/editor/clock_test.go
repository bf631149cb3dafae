package editor

import (
	"context"
	"sync"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// clock are deadlines that pass when the test says so, and not before.
type clock struct {
	mu   sync.Mutex
	cuts []context.CancelCauseFunc
}

// rules is what start takes.
func (c *clock) rules(_ *Config, p *Ports) { p.Deadlines = c }

func (c *clock) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cut := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts = append(c.cuts, cut)
	return ctx, func() { cut(nil) }
}

func (c *clock) Mutation(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.bound(ctx)
}

func (c *clock) Lookup(ctx context.Context) (context.Context, context.CancelFunc) {
	return c.bound(ctx)
}

// pass lets every deadline pass that was set so far.
func (c *clock) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cut := range c.cuts {
		cut(context.DeadlineExceeded)
	}
}

var _ ports.Deadlines = (*clock)(nil)

// callUntil calls, and lets the deadline pass once the request is held, where the
// trouble holds it.
func (w *world) callUntil(c *clock, x trouble, held <-chan struct{}, tool string, a args) reply {
	w.t.Helper()
	_, answer := w.calls(tool, a)
	if x.before || x.after {
		<-held
		c.pass()
	}
	return <-answer
}
