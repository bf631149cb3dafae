package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Each saboteur makes the harness fool itself by decorating one seam (design
// rule 12); the fault must notice.

// early cuts before the commit: it holds the request where the answer is asked for.
type early struct{ wire.Line }

func (e early) Trap(m wire.Match) wire.Trap {
	if m.Answer {
		e.Line.Refuse(1, wire.Match{}) // whatever comes is never committed
	}
	m.Answer = false
	return e.Line.Trap(m)
}

// leaky delivers what it was to drop.
type leaky struct{ wire.Line }
type leakyTrap struct{ wire.Trap }
type leakyHeld struct{ wire.Held }

func (l leaky) Trap(m wire.Match) wire.Trap { return leakyTrap{l.Line.Trap(m)} }
func (l leaky) Cut(wire.Side) error         { return nil }
func (t leakyTrap) Held(ctx context.Context) (wire.Held, error) {
	h, err := t.Trap.Held(ctx)
	return leakyHeld{h}, err
}
func (h leakyHeld) Drop() { h.Release() }

// blindLeak hides the leak from the counter, too: only the caller's outcome shows it.
type blindLeak struct{ leaky }

func (b blindLeak) Trap(m wire.Match) wire.Trap { return b.leaky.Trap(m) }
func (b blindLeak) Passed(wire.Match) int       { return 0 }

// stuck counts nothing.
type stuck struct{ wire.Line }

func (stuck) Count(wire.Match) int  { return 0 }
func (stuck) Passed(wire.Match) int { return 0 }

// harmless kills nobody.
type harmless struct{ process.Victim }

func (harmless) Kill(context.Context) error { return nil }

func TestSaboteursAreUnmasked(t *testing.T) {
	always := func(s *stage) faults.Proof {
		return faults.Proof{By: "the store", Shows: func(context.Context, wire.Message) (map[string]any, bool, error) {
			return map[string]any{"rows": 1}, true, nil
		}}
	}
	for name, c := range map[string]struct {
		fault func(*stage) faults.Fault
		at    history.Stage
		why   error
	}{
		"a cut before the commit": {func(s *stage) faults.Fault {
			return faults.AnswerLost{Line: early{s.line}, Match: write, Shape: faults.Withheld, Proof: s.proof(), Limits: noAnswer()}.Arm(s.ledger)
		}, history.Held, context.DeadlineExceeded},
		"an answer that leaks": {func(s *stage) faults.Fault {
			return faults.AnswerLost{Line: leaky{s.line}, Match: write, Shape: faults.Withheld, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
		}, history.Fired, faults.ErrLeaked},
		"a cut that cuts nothing": {func(s *stage) faults.Fault {
			return faults.AnswerLost{Line: leaky{s.line}, Match: write, Shape: faults.Cut, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
		}, history.Fired, faults.ErrLeaked},
		"an answer that leaks past the counter": {func(s *stage) faults.Fault {
			return faults.AnswerLost{Line: blindLeak{leaky{s.line}}, Match: write, Shape: faults.Withheld, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
		}, history.Observed, faults.ErrOutcome},
		"a request that leaks": {func(s *stage) faults.Fault {
			return faults.RequestLost{Line: leaky{s.line}, Match: write, Shape: faults.Withheld, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
		}, history.Fired, faults.ErrLeaked},
		"a probe that always says committed": {func(s *stage) faults.Fault {
			return faults.AnswerLost{Line: s.line, Match: write, Shape: faults.Withheld, Proof: always(s), Limits: limits()}.Arm(s.ledger)
		}, history.Proven, faults.ErrBlindProbe},
		"a probe that always says committed, of a lost request": {func(s *stage) faults.Fault {
			return faults.RequestLost{Line: s.line, Match: write, Shape: faults.Withheld, Proof: always(s), Limits: limits()}.Arm(s.ledger)
		}, history.Proven, faults.ErrBlindProbe},
		"a counter stuck at zero": {func(s *stage) faults.Fault {
			return faults.AnswerLost{Line: stuck{s.line}, Match: write, Shape: faults.Withheld, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
		}, history.Matched, faults.ErrMiscounted},
		"a counter stuck at zero, of a race": {func(s *stage) faults.Fault {
			return faults.Race{Lanes: faults.Lanes(stuck{s.line}, write, 1), Limits: limits()}.Arm(s.ledger)
		}, history.Held, faults.ErrMiscounted},
		"a kill that does nothing": {func(s *stage) faults.Fault {
			return faults.KillAtAnswer{Line: s.line, Match: write, Victim: harmless{s.victim}, Limits: noDeath()}.Arm(s.ledger)
		}, history.Fired, process.ErrLives},
	} {
		t.Run(name, func(t *testing.T) {
			s := stdioStage(t)
			s.patience = 500 * time.Millisecond
			_, err := faults.Around(soon(t), c.fault(s), s.act("write", "a"))
			s.wantMissed(err, c.at, c.why)
		})
	}
}
