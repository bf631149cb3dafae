package world

import (
	"context"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// WithholdsServerAnswer makes a call that leads to a mutation; the server's answer to
// it never comes, behind the proven receipt, so that the editor waits until its own
// deadline.
func (c *Caller) WithholdsServerAnswer(act Act) history.Operation {
	w := c.w
	return c.serverFault(faults.AnswerLost{Line: w.server(), Match: w.toServer(asked(act.Role), act.Params), Shape: faults.Withheld, Proof: w.receipt(act), Limits: w.config.Limits}.Arm(w.ledger), act)
}

// Cancellable makes a call that is going to be cancelled. Not every transport answers
// a cancelled call, so its caller's patience is short; and where a caller cancels by
// closing the call's own stream, the wire hands that on.
func (c *Caller) Cancellable(act Act) *Flight {
	if c.wire != nil {
		c.wire.KeepCallee(false)
	}
	return c.Go(act, c.w.config.Limits.Withheld)
}

// Cancels cancels a call, and gives the editor the time to notice: until the call is
// answered, or the person's view of a draft says that nothing is under way.
func (c *Caller) Cancels(f *Flight, draft string) history.Operation {
	select {
	case <-f.Done():
		Inconclusive("the call %s of %s had ended before it could be cancelled: %s", f.op.Invoked.ID, f.op.Invoked.Tool, reasonOf(f.op))
	default:
	}
	if err := f.Cancel(c.w.ctx); err != nil {
		Inconclusive("the call %s of %s could not be cancelled: %v", f.op.Invoked.ID, f.op.Invoked.Tool, err)
	}
	c.w.Mark("cancelled", map[string]any{"call": f.op.Invoked.ID})
	err := wait.For(c.w.ctx, "the editor to notice the cancel", c.w.config.Limits.Withheld, func(context.Context) (bool, error) {
		if f.answered() {
			return true, nil
		}
		state := c.PeekAtEditor(draft)["save_state"]
		return state != nil && state != "saving", nil
	})
	if err != nil {
		c.w.Mark("awaited in vain", map[string]any{"what": "the editor to notice the cancel"})
	}
	return f.Wait()
}

// answered says whether the call has come to an end with an answer.
func (f *Flight) answered() bool {
	select {
	case <-f.done:
		return f.op.Returned != nil && f.op.Returned.Answer != nil
	default:
		return false
	}
}
