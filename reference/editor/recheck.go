package editor

import (
	"context"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// Recheck looks up the receipt of the outcome that is unknown, and answers within
// its deadline, whatever becomes of the lookup. It sends no mutation (RC-09).
func (e *Editor) Recheck(ctx context.Context, ask ports.Recheck) ports.Answer {
	ctx, r, refused := e.begin(ctx, ask.Draft, e.ports.Deadlines.Lookup, func(s *seat, id int64) (ports.Operation, ports.Answer, bool) {
		op, code := s.Recheck(id, ask)
		return op, s.Refused(ask.Command, code), code == ""
	})
	if r == nil {
		return refused
	}
	go func() {
		defer e.asking.Done()
		how := e.lookUp(ctx, r.op.Command, ask.GiveUp)
		e.settle(r, func() ports.Ending { return how })
	}()
	select {
	case <-r.done:
	case <-ctx.Done():
		e.settle(r, func() ports.Ending { return e.ports.Classifying.Lookup(context.Cause(ctx)) })
		<-r.done
	}
	return r.answer
}

// lookUp asks for the receipt of a command, and only if there is none and the
// caller gave up, for a fence.
func (e *Editor) lookUp(ctx context.Context, c ports.Command, giveUp bool) ports.Ending {
	receipt, err := e.ports.Trips.Receipt(ctx, c.Draft, c.ID)
	if err == nil {
		return e.found(c, receipt)
	}
	how := e.ports.Classifying.Lookup(err)
	if !giveUp || how.Code != ports.CodeNoReceipt {
		return how
	}
	fenced, err := e.ports.Trips.Fence(ctx, c.Draft, c.ID)
	switch {
	case err != nil:
		return e.ports.Classifying.Lookup(err)
	case fenced.Outcome == ports.NotApplied:
		return ports.Ending{Outcome: ports.NotApplied}
	case fenced.Outcome == ports.Confirmed:
		return e.found(c, fenced.Receipt)
	}
	return e.ports.Classifying.Lookup(fmt.Errorf("the fence answered %q: %w", fenced.Outcome, ports.ErrUnreliable))
}

// found takes a receipt only for that of the command: another one proves nothing.
func (e *Editor) found(c ports.Command, r ports.Receipt) ports.Ending {
	if !r.Of(c) {
		return e.ports.Classifying.Lookup(fmt.Errorf("what was found is no receipt of command %s: %w", c.ID, ports.ErrUnreliable))
	}
	return ports.Ending{Outcome: ports.Confirmed, Receipt: &r}
}
