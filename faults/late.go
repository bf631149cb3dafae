package faults

import (
	"context"
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Delay holds a request until a fact holds, and then lets it go on.
type Delay struct {
	Line   wire.Line
	Match  wire.Match
	Until  Condition
	Limits wait.Limits
}

// Arm places it; the call is made after that.
func (d Delay) Arm(l *Ledger) Fault {
	return &delay{arm(l, "delay", d.Line, d.Match, "request", Proof{}, d.Limits), d.Until}
}

type delay struct {
	*placing
	until Condition
}

// Strike implements Fault.
func (d *delay) Strike(ctx context.Context) error {
	if err := d.matched(ctx); err != nil {
		return err
	}
	if err := d.provenAbsent(ctx, false); err != nil {
		return err
	}
	evidence, err := d.until.Wait(ctx, d.limits)
	if err != nil {
		return d.missed(history.Fired, err)
	}
	d.request.Release()
	if err := d.settled(ctx, d.request); err != nil {
		return d.missed(history.Fired, err)
	}
	d.Reach(history.Fired, map[string]any{"held_until": d.until.What, "evidence": evidence})
	return nil
}

// Observe implements Fault; a late request may leave any outcome.
func (d *delay) Observe(o history.Outcome, evidence map[string]any) error {
	if n := d.line.Passed(d.same()); n != 1 {
		return d.missed(history.Observed, fmt.Errorf("%w: the late request passed %d times, expected once", ErrMiscounted, n))
	}
	return d.outcome(anyEnd, "", o, evidence)
}

// Duplicate sends a request twice, as a network may; its caller gets one answer.
type Duplicate struct {
	Line   wire.Line
	Match  wire.Match
	Limits wait.Limits
}

// Arm places it; the call is made after that.
func (d Duplicate) Arm(l *Ledger) Fault {
	return &duplicate{arm(l, "duplicate", d.Line, d.Match, "request", Proof{}, d.Limits)}
}

type duplicate struct{ *placing }

// Strike implements Fault.
func (d *duplicate) Strike(ctx context.Context) error {
	if err := d.matched(ctx); err != nil {
		return err
	}
	if err := d.provenAbsent(ctx, false); err != nil {
		return err
	}
	d.request.Duplicate()
	err := wait.For(ctx, "both copies of the request to leave", d.limits.Answer, func(context.Context) (bool, error) {
		return d.line.Passed(d.same()) == 2, nil
	})
	if err != nil {
		return d.missed(history.Fired, err)
	}
	d.Reach(history.Fired, map[string]any{"passed": 2})
	return nil
}

// Observe implements Fault; a duplicated request is answered like any other.
func (d *duplicate) Observe(o history.Outcome, evidence map[string]any) error {
	return d.outcome(anyEnd, "", o, evidence)
}
