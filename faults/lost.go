package faults

import (
	"context"
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Shape is how a message is lost.
type Shape string

// The shapes.
const (
	// Withheld: just this message never arrives; the connection goes on.
	Withheld Shape = "withheld"
	// Cut: the caller's connection is cut at toxiproxy.
	Cut Shape = "cut"
	// Broken: the connection of just this message ends, and later ones go through, so
	// that what its caller sends again is seen. Over HTTP only.
	Broken Shape = "broken"
)

// AnswerLost loses an answer behind a proven commit: the caller's side is cut or
// waits, the callee believes that it answered (contract, "Two faults that must
// not be mixed up").
type AnswerLost struct {
	Line wire.Line
	// Match is the request whose answer is lost; its phase is set here.
	Match  wire.Match
	Shape  Shape
	Proof  Proof
	Limits wait.Limits // zero takes the defaults
}

// Arm places it; the call is made after that.
func (a AnswerLost) Arm(l *Ledger) Fault {
	return &answerLost{arm(l, "answer-lost", a.Line, a.Match, "answer", a.Proof, a.Limits), a.Shape}
}

type answerLost struct {
	*placing
	shape Shape
}

// Strike implements Fault.
func (a *answerLost) Strike(ctx context.Context) error {
	if err := a.matched(ctx); err != nil {
		return err
	}
	held, err := a.provenCommit(ctx)
	if err != nil {
		return err
	}
	return a.lose(ctx, a.shape, held)
}

// lose loses a held message and makes sure that it did not get through.
func (p *placing) lose(ctx context.Context, shape Shape, held wire.Held) error {
	m := held.Message()
	same := p.same()
	same.Answer = m.Answer
	if shape == Cut {
		if err := p.sever(wire.CallerOnly); err != nil {
			return p.missed(history.Fired, err)
		}
	}
	switch {
	case shape == Cut && m.Answer:
		held.Release() // the callee has answered: what it said is drained
	case shape == Broken:
		held.Break()
	default:
		held.Drop()
	}
	if err := p.settled(ctx, held); err != nil {
		return p.missed(history.Fired, err)
	}
	if n := p.line.Passed(same); n != 0 {
		return p.missed(history.Fired, fmt.Errorf("%w: the %s of exchange %d passed %d times", ErrLeaked, same.Phase(), m.Exchange, n))
	}
	p.Reach(history.Fired, map[string]any{"shape": string(shape), "phase": same.Phase(), "exchange": m.Exchange, "passed": 0})
	return nil
}

// Observe implements Fault.
func (a *answerLost) Observe(o history.Outcome, evidence map[string]any) error {
	return a.outcome(unknown, "unknown, because no answer could come", o, evidence)
}

// RequestLost is the twin: the request never reaches the callee.
type RequestLost struct {
	Line   wire.Line
	Match  wire.Match
	Shape  Shape
	Proof  Proof // asked once: it must show nothing
	Limits wait.Limits
}

// Arm places it; the call is made after that.
func (r RequestLost) Arm(l *Ledger) Fault {
	return &requestLost{arm(l, "request-lost", r.Line, r.Match, "request", r.Proof, r.Limits), r.Shape}
}

type requestLost struct {
	*placing
	shape Shape
}

// Strike implements Fault.
func (r *requestLost) Strike(ctx context.Context) error {
	if err := r.matched(ctx); err != nil {
		return err
	}
	if err := r.provenAbsent(ctx, true); err != nil {
		return err
	}
	return r.lose(ctx, r.shape, r.request)
}

// Observe implements Fault.
func (r *requestLost) Observe(o history.Outcome, evidence map[string]any) error {
	return r.outcome(unknown, "unknown, because the request never arrived and nobody refused it", o, evidence)
}

// CallerGone cuts both sides behind a proven commit: the callee sees its caller
// disconnect, while it still works if it has not answered by then.
type CallerGone struct {
	Line   wire.Line
	Match  wire.Match
	Proof  Proof
	Limits wait.Limits
}

// Arm places it; the call is made after that.
func (c CallerGone) Arm(l *Ledger) Fault {
	return &callerGone{arm(l, "caller-gone", c.Line, c.Match, "answer", c.Proof, c.Limits)}
}

type callerGone struct{ *placing }

// Strike implements Fault.
func (c *callerGone) Strike(ctx context.Context) error {
	if err := c.matched(ctx); err != nil {
		return err
	}
	first, err := c.unseen(ctx)
	if err != nil {
		return err
	}
	m := c.request.Message()
	// The answer is trapped too, so that it cannot overtake the cut.
	trap := c.trapAnswer()
	c.Reach(history.Held, map[string]any{"phase": "request, then its answer if it comes", "exchange": m.Exchange})
	c.request.Release()
	seen, err := c.committed(ctx, m)
	if err != nil {
		return c.missed(history.Proven, err)
	}
	c.Prove(Committed, c.proof.By, map[string]any{"before": first, "while_the_caller_waited": seen})
	if err := c.sever(wire.Both); err != nil {
		return c.missed(history.Fired, err)
	}
	trap.Disarm()
	answer := c.same()
	answer.Answer = true
	if n := c.line.Passed(answer); n != 0 {
		return c.missed(history.Fired, fmt.Errorf("%w: the answer of exchange %d passed %d times", ErrLeaked, m.Exchange, n))
	}
	c.Reach(history.Fired, map[string]any{"side": wire.Both.String(), "answered_before_the_cut": c.line.Count(answer) > 0})
	return nil
}

// Observe implements Fault.
func (c *callerGone) Observe(o history.Outcome, evidence map[string]any) error {
	return c.outcome(unknown, "unknown, because the caller's connection is gone", o, evidence)
}
