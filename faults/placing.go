package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// placing is what every fault at a call does: it holds the request, looks, lets
// it go on and holds its answer. It keeps what has to be undone.
type placing struct {
	*Placement
	line   wire.Line
	match  wire.Match // of the request
	proof  Proof
	limits wait.Limits

	before  int // requests that the wire had counted at arming
	traps   []wire.Trap
	request wire.Held
	cut     bool
	killed  string // name of the process that was killed
	healed  bool
}

// arm sets the trap for the request.
func arm(l *Ledger, name string, line wire.Line, match wire.Match, phase string, proof Proof, limits wait.Limits) *placing {
	match.Answer = false
	p := &placing{line: line, match: match, proof: proof, limits: orDefault(limits)}
	words := match
	words.Answer = phase == "answer"
	p.before = line.Count(match)
	p.traps = []wire.Trap{line.Trap(match)}
	p.Placement = l.Arm(name, fmt.Sprintf("%s · %s", line.Name(), words))
	return p
}

func orDefault(l wait.Limits) wait.Limits {
	if l == (wait.Limits{}) {
		return wait.Default()
	}
	return l
}

// missed heals and says how far the fault came.
func (p *placing) missed(stage history.Stage, err error) error {
	return errors.Join(&Missed{Fault: p.Name(), Position: p.Position(), Stage: stage, Err: err}, p.Heal())
}

// held waits for a trap, at most as long as for an answer.
func (p *placing) held(ctx context.Context, t wire.Trap) (wire.Held, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limits.Answer)
	defer cancel()
	return t.Held(ctx)
}

// matched holds the request, checks that the wire counted it, and that the probe
// sees nothing of it yet.
func (p *placing) matched(ctx context.Context) error {
	held, err := p.held(ctx, p.traps[0])
	if err != nil {
		return p.missed(history.Matched, err)
	}
	p.request = held
	m := held.Message()
	counted := p.line.Count(p.match)
	if counted <= p.before {
		return p.missed(history.Matched, fmt.Errorf("%w: exchange %d is held, and the count of its kind stands at %d as before", ErrMiscounted, m.Exchange, counted))
	}
	p.Reach(history.Matched, map[string]any{"exchange": m.Exchange, "call": p.match.Call(), "counted": counted, "counted_before_arming": p.before})
	return nil
}

// unseen is the probe's first look, while the request is still held.
func (p *placing) unseen(ctx context.Context) (map[string]any, error) {
	if p.proof.Shows == nil {
		return nil, p.missed(history.Proven, ErrNoProbe)
	}
	if p.proof.Replayed {
		return map[string]any{"first_look": "left out: the call repeats an earlier one"}, nil
	}
	evidence, committed, err := p.look(ctx, p.request.Message())
	if err != nil {
		return nil, p.missed(history.Proven, err)
	}
	if committed {
		return nil, p.missed(history.Proven, fmt.Errorf("%s: %w (it shows %v)", p.proof.By, ErrBlindProbe, evidence))
	}
	return evidence, nil
}

// look looks once, at most as long as a proof may take.
func (p *placing) look(ctx context.Context, m wire.Message) (map[string]any, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limits.Proof)
	defer cancel()
	evidence, committed, err := p.proof.Shows(ctx, m)
	if err != nil {
		return nil, false, fmt.Errorf("looking through %s: %w", p.proof.By, err)
	}
	return evidence, committed, nil
}

// committed waits until the probe shows the commit.
func (p *placing) committed(ctx context.Context, m wire.Message) (map[string]any, error) {
	var evidence map[string]any
	err := wait.For(ctx, "the commit to show through "+p.proof.By, p.limits.Proof, func(ctx context.Context) (ok bool, err error) {
		evidence, ok, err = p.proof.Shows(ctx, m)
		return ok, err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w (the last look showed %v)", ErrNotProven, err, evidence)
	}
	return evidence, nil
}

// answer lets the request go on and holds its answer.
func (p *placing) answer(ctx context.Context) (wire.Held, error) {
	trap := p.trapAnswer()
	p.request.Release()
	held, err := p.held(ctx, trap)
	if err != nil {
		return nil, p.missed(history.Held, err)
	}
	m := held.Message()
	p.Reach(history.Held, map[string]any{"phase": "answer", "exchange": m.Exchange, "status": m.Status, "bytes": len(m.Body)})
	return held, nil
}

func (p *placing) trapAnswer() wire.Trap {
	trap := p.line.Trap(wire.Match{Exchange: p.request.Message().Exchange, Answer: true})
	p.traps = append(p.traps, trap)
	return trap
}

// provenCommit looks before the request goes on, holds the answer, and proves
// the commit behind it.
func (p *placing) provenCommit(ctx context.Context) (wire.Held, error) {
	first, err := p.unseen(ctx)
	if err != nil {
		return nil, err
	}
	held, err := p.answer(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := p.committed(ctx, held.Message())
	if err != nil {
		return nil, p.missed(history.Proven, err)
	}
	p.Prove(Committed, p.proof.By, map[string]any{"before": first, "behind_the_held_answer": seen})
	return held, nil
}

// provenAbsent proves that the held request had no effect: it is known not to
// have left, and where there is a probe it shows nothing.
func (p *placing) provenAbsent(ctx context.Context, probed bool) error {
	m := p.request.Message()
	p.Reach(history.Held, map[string]any{"phase": "request", "exchange": m.Exchange, "bytes": len(m.Body)})
	evidence := map[string]any{"passed": p.line.Passed(p.same())}
	if evidence["passed"] != 0 {
		return p.missed(history.Proven, fmt.Errorf("%w: the held request of exchange %d counts as passed", ErrLeaked, m.Exchange))
	}
	by := "the wire, where the request is held and has not left"
	if probed {
		seen, err := p.unseen(ctx)
		if err != nil {
			return err
		}
		evidence["seen"], by = seen, by+"; "+p.proof.By
	}
	p.Prove(Absent, by, evidence)
	return nil
}

// same matches the request that was held.
func (p *placing) same() wire.Match { return wire.Match{Exchange: p.request.Message().Exchange} }

// settled waits until a decision is carried out.
func (p *placing) settled(ctx context.Context, held wire.Held) error {
	ctx, cancel := context.WithTimeout(ctx, p.limits.Answer)
	defer cancel()
	select {
	case <-held.Settled():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the held %s of exchange %d to be carried on or lost: %w", wire.Match{Answer: held.Message().Answer}.Phase(), held.Message().Exchange, ctx.Err())
	}
}

// sever cuts the wire, and remembers that it has to be healed.
func (p *placing) sever(side wire.Side) error {
	p.cut = true
	return p.line.Cut(side)
}

// outcome records what the caller saw if it is what it has to be.
func (p *placing) outcome(want func(history.Outcome) bool, words string, got history.Outcome, evidence map[string]any) error {
	if !want(got) {
		return p.missed(history.Observed, fmt.Errorf("%w: expected %s, the caller's outcome is %q", ErrOutcome, words, got))
	}
	all := map[string]any{"outcome": string(got)}
	maps.Copy(all, evidence)
	p.Reach(history.Observed, all)
	return nil
}

func unknown(o history.Outcome) bool { return o == history.Unknown }
func anyEnd(history.Outcome) bool    { return true }

// Heal implements Fault: what is held goes on, what is cut is whole again.
func (p *placing) Heal() error {
	if p.healed {
		return nil
	}
	p.healed = true
	for _, t := range p.traps {
		t.Disarm()
	}
	evidence := map[string]any{"wire": "as before"}
	if p.killed != "" {
		evidence = map[string]any{"process": p.killed + " is dead until it is started again"}
	}
	if p.cut {
		err := p.line.Heal()
		if errors.Is(err, wire.ErrSevered) {
			evidence["wire"] = "stays cut; the caller goes on with a new process on a new wire"
		} else if err != nil {
			return err
		}
	}
	p.Reach(history.Healed, evidence)
	return nil
}
