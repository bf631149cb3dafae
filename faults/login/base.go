package login

import (
	"context"
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// base is what every login fault counts: restorations since it was armed.
type base struct {
	*faults.Placement
	line   wire.Line
	match  wire.Match
	limits wait.Limits

	cameBefore, passedBefore, answeredBefore int
	seen                                     bool
}

func begin(l *faults.Ledger, name string, line wire.Line, m wire.Match, limits wait.Limits) base {
	if limits == (wait.Limits{}) {
		limits = wait.Default()
	}
	m.Answer, m.Occurrence = false, 0
	b := base{line: line, match: m, limits: limits}
	b.cameBefore, b.passedBefore, b.answeredBefore = line.Count(m), line.Passed(m), line.Passed(b.answer())
	b.Placement = l.Arm(name, fmt.Sprintf("%s · %s · every · request", line.Name(), m.Call()))
	return b
}

func (b *base) answer() wire.Match {
	m := b.match
	m.Answer = true
	return m
}

func (b *base) came() int     { return b.line.Count(b.match) - b.cameBefore }
func (b *base) passed() int   { return b.line.Passed(b.match) - b.passedBefore }
func (b *base) answered() int { return b.line.Passed(b.answer()) - b.answeredBefore }

// counted says whether the wire counts what it has just held or refused.
func (b *base) counted() error {
	if b.came() <= 0 {
		return fmt.Errorf("%w: restorations came, and its count stands as before", faults.ErrMiscounted)
	}
	return nil
}

// through waits until a restoration has reached the account service and its
// answer the app.
func (b *base) through(ctx context.Context) error {
	return wait.For(ctx, "a restoration to go through wire "+b.line.Name()+" and be answered", b.limits.Converge, func(context.Context) (bool, error) {
		return b.passed() > 0 && b.answered() > 0, nil
	})
}

func (b *base) missed(stage history.Stage, err error) error {
	return &faults.Missed{Fault: b.Name(), Position: b.Position(), Stage: stage, Err: err}
}
