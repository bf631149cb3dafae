package faults

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Fault is one armed fault. Whatever becomes of it, Heal leaves nothing behind.
type Fault interface {
	// Strike waits for the call that the fault is placed at, proves the place and
	// hits. An error that is a *Missed means that it did not hit as it should: the
	// fault is healed then, and nothing can be judged from the spec.
	Strike(ctx context.Context) error
	// Observe takes what the caller lived through. A fault that was placed but did
	// not show in it is a *Missed as well.
	Observe(outcome history.Outcome, evidence map[string]any) error
	// Heal takes the fault away.
	Heal() error
}

// Around makes one call under a fault: it strikes while act runs, is observed by
// act's outcome, and heals. act must end by itself, at its own deadline.
func Around(ctx context.Context, f Fault, act func(context.Context) history.Outcome) (history.Outcome, error) {
	if b, ok := f.(interface{ before(context.Context) error }); ok {
		if err := b.before(ctx); err != nil {
			return history.Unknown, errors.Join(err, f.Heal())
		}
	}
	type end struct {
		outcome history.Outcome
		panic   any
	}
	ends := make(chan end, 1)
	go func() {
		var e end
		defer func() {
			e.panic = recover() // raised again where Around was called
			ends <- e
		}()
		e.outcome = act(ctx)
	}()
	err := f.Strike(ctx)
	if err != nil {
		err = errors.Join(err, f.Heal()) // before the wait, so that the call can end
	}
	e := <-ends
	if e.panic != nil {
		if healing := f.Heal(); healing != nil {
			e.panic = fmt.Sprintf("%v (and %v)", e.panic, healing)
		}
		panic(e.panic)
	}
	if err != nil {
		return e.outcome, err
	}
	err = f.Observe(e.outcome, nil)
	return e.outcome, errors.Join(err, f.Heal())
}

// Missed is a fault that did not come to a stage. Nothing can be judged behind it
// (verdict inconclusive).
type Missed struct {
	Fault, Position string
	Stage           history.Stage
	Err             error
}

// Error says which fault, where, how far it came, and why.
func (m *Missed) Error() string {
	return fmt.Sprintf("the fault %s (%s) did not come to stage %s: %v", m.Fault, m.Position, m.Stage, m.Err)
}

// Unwrap gives the reason.
func (m *Missed) Unwrap() error { return m.Err }

// Reasons that a caller may want to tell apart.
var (
	// ErrNoProbe: nothing can show the commit.
	ErrNoProbe = errors.New("there is no probe that could show it; name one in the target file")
	// ErrNotProven: the probe did not show the commit in time.
	ErrNotProven = errors.New("the commit was not proven")
	// ErrBlindProbe: the probe shows a commit that cannot be there yet.
	ErrBlindProbe = errors.New("the probe shows the commit before the request has left, so what it shows proves nothing")
	// ErrNotSimultaneous: the racing requests were not all held together.
	ErrNotSimultaneous = errors.New("the requests were not all held together")
	// ErrMiscounted: the wire's counter contradicts what was held.
	ErrMiscounted = errors.New("the wire did not count what it held")
	// ErrLeaked: what was to be lost went through.
	ErrLeaked = errors.New("what was to be lost went through")
	// ErrOutcome: the caller's outcome is not the one that the fault must leave.
	ErrOutcome = errors.New("the caller's outcome is not what this fault leaves behind")
)

// Proof shows a commit by a second route: not by the answer under test.
type Proof struct {
	// By names the route: the probe.
	By string
	// Shows looks once. It is asked with the held request, where it must not show
	// the commit, and then until it does, with the held answer (of a store alone:
	// with no message). So it has to cope with what only an answer tells, as an
	// item ID: asked without, it shows nothing. CallerGone asks with the request
	// only, because there need not be an answer. An error ends the spec.
	Shows func(ctx context.Context, held wire.Message) (evidence map[string]any, committed bool, err error)
	// Replayed says that the effect is there already, because the call repeats an
	// earlier one; then the first look is left out.
	Replayed bool
}

// Condition is a fact that something is held for.
type Condition struct {
	What string // in words, for the error
	Fact func(context.Context) (evidence map[string]any, holds bool, err error)
}

// Wait waits until the condition holds, at most as long as a world may take to
// converge, and returns the last evidence. A zero one holds already.
func (c Condition) Wait(ctx context.Context, limits wait.Limits) (map[string]any, error) {
	if c.Fact == nil {
		return nil, nil
	}
	var evidence map[string]any
	err := wait.For(ctx, c.What, limits.Converge, func(ctx context.Context) (ok bool, err error) {
		evidence, ok, err = c.Fact(ctx)
		return ok, err
	})
	return evidence, err
}
