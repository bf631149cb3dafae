package editor

import (
	"context"
	"errors"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// Mutate runs an update or a submission, and answers within its deadline.
func (e *Editor) Mutate(ctx context.Context, c ports.Command) ports.Answer {
	ctx, r, refused := e.begin(ctx, c.Draft, e.ports.Deadlines.Mutation, func(s *seat, id int64) (ports.Operation, ports.Answer, bool) {
		op := ports.Operation{ID: id, Command: c.Clone()}
		code := s.Begin(op)
		return op, s.Refused(c.ID, code), code == ""
	})
	if r == nil {
		return refused
	}
	defer e.asking.Done()
	receipt, err := e.dispatch(ctx, r)
	e.settle(r, func() ports.Ending {
		if err == nil {
			return ports.Ending{Outcome: ports.Confirmed, Receipt: &receipt}
		}
		return e.ports.Classifying.Mutation(r.at.Dispatched(), err)
	})
	<-r.done
	return r.answer
}

// dispatch loads the draft, takes the snapshots and sends the command, once.
func (e *Editor) dispatch(ctx context.Context, r *running) (ports.Receipt, error) {
	if err := e.load(ctx, r.at); err != nil {
		return ports.Receipt{}, err
	}
	goes := false
	e.locked(func() { goes = ctx.Err() == nil && r.at.Dispatch(r.op) })
	if !goes {
		return ports.Receipt{}, errors.Join(ports.ErrUnsent, context.Cause(ctx))
	}
	if r.op.Command.Kind == ports.Submission {
		return e.ports.Trips.Submit(ctx, r.op.Command)
	}
	return e.ports.Trips.Update(ctx, r.op.Command)
}
