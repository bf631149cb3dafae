package faults

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// KillAtAnswer kills a process as its answer leaves: the answer is held on the
// wire, so the process has said it, and then the process dies.
type KillAtAnswer struct {
	Line   wire.Line
	Match  wire.Match
	Victim process.Victim
	// Proof, when set, is waited for before the kill. It is left out where the
	// spec is about what was durable when the answer left: every look would give
	// a process that commits late the time to do so.
	Proof Proof
	// Deliver gives the answer to the caller once the process is dead, so that the
	// call is acknowledged; else the answer is lost.
	Deliver bool
	Limits  wait.Limits
}

// Arm places it; the call is made after that.
func (k KillAtAnswer) Arm(l *Ledger) Fault {
	return &killAtAnswer{arm(l, "kill-at-answer", k.Line, k.Match, "answer", k.Proof, k.Limits), k.Victim, k.Deliver}
}

type killAtAnswer struct {
	*placing
	victim  process.Victim
	deliver bool
}

// Strike implements Fault.
func (k *killAtAnswer) Strike(ctx context.Context) error {
	if err := k.matched(ctx); err != nil {
		return err
	}
	held, err := k.proven(ctx)
	if err != nil {
		return err
	}
	if err := k.kill(ctx, k.victim); err != nil {
		return err
	}
	if k.deliver {
		held.Release()
	} else {
		held.Drop()
	}
	if err := k.settled(ctx, held); err != nil {
		return k.missed(history.Observed, err)
	}
	answer := k.same()
	answer.Answer = true
	if n := k.line.Passed(answer); n > 0 != k.deliver {
		return k.missed(history.Observed, fmt.Errorf("%w: the answer passed %d times; it was to be delivered: %v", ErrLeaked, n, k.deliver))
	}
	return nil
}

// proven holds the answer, and proves the commit behind it where that is asked.
func (k *killAtAnswer) proven(ctx context.Context) (wire.Held, error) {
	if k.proof.Shows != nil {
		return k.provenCommit(ctx)
	}
	held, err := k.answer(ctx)
	if err != nil {
		return nil, err
	}
	k.Prove(Answered, "the wire, where the answer is held", map[string]any{"exchange": held.Message().Exchange})
	return held, nil
}

// kill kills, sees to it that the victim is dead, and records it as fired.
func (p *placing) kill(ctx context.Context, v process.Victim) error {
	evidence, err := process.Kill(ctx, v, p.limits)
	if err != nil {
		return p.missed(history.Fired, err)
	}
	p.killed = v.Name()
	p.Reach(history.Fired, evidence)
	return nil
}

// Observe implements Fault.
func (k *killAtAnswer) Observe(o history.Outcome, evidence map[string]any) error {
	if k.deliver {
		return k.outcome(func(o history.Outcome) bool { return o == history.Done || o == history.Refused }, "done or refused, because the answer was delivered", o, evidence)
	}
	return k.outcome(unknown, "unknown, because the answer was lost", o, evidence)
}

// KillAtRequest kills a process while a request is held on a wire: its own
// request, or one that it was to get.
type KillAtRequest struct {
	Line   wire.Line
	Match  wire.Match
	Victim process.Victim
	// Release lets the request go on after the kill; else it is lost.
	Release bool
	Limits  wait.Limits
}

// Arm places it; the call is made after that.
func (k KillAtRequest) Arm(l *Ledger) Fault {
	return &killAtRequest{arm(l, "kill-at-request", k.Line, k.Match, "request", Proof{}, k.Limits), k.Victim, k.Release}
}

type killAtRequest struct {
	*placing
	victim  process.Victim
	release bool
}

// Strike implements Fault.
func (k *killAtRequest) Strike(ctx context.Context) error {
	if err := k.matched(ctx); err != nil {
		return err
	}
	if err := k.provenAbsent(ctx, false); err != nil {
		return err
	}
	if err := k.kill(ctx, k.victim); err != nil {
		return err
	}
	if k.release {
		k.request.Release()
	} else {
		k.request.Drop()
	}
	return nil
}

// Observe implements Fault; the caller may itself be the victim.
func (k *killAtRequest) Observe(o history.Outcome, evidence map[string]any) error {
	return k.outcome(anyEnd, "", o, evidence)
}

// KillAtStored kills a process once a probe shows that something is stored. A
// victim that can be paused stands still while the probe looks again, so that it
// is killed in the very state that was seen.
type KillAtStored struct {
	// Position says in words what is stored.
	Position string
	Victim   process.Victim
	// Proof shows what is stored; it gets no message.
	Proof  Proof
	Limits wait.Limits
}

// Arm places it; Around looks before it lets the act begin.
func (k KillAtStored) Arm(l *Ledger) Fault {
	p := &placing{Placement: l.Arm("kill-at-stored", k.Victim.Name()+" · "+k.Position), proof: k.Proof, limits: orDefault(k.Limits)}
	return &killAtStored{p, k.Victim}
}

type killAtStored struct {
	*placing
	victim process.Victim
}

// before sees that what is waited for is not there yet.
func (k *killAtStored) before(ctx context.Context) error {
	if k.proof.Shows == nil {
		return k.missed(history.Matched, ErrNoProbe)
	}
	if k.proof.Replayed {
		return nil
	}
	evidence, stored, err := k.look(ctx, wire.Message{})
	if err != nil {
		return k.missed(history.Matched, err)
	}
	if stored {
		return k.missed(history.Matched, fmt.Errorf("%s: %w (it shows %v)", k.proof.By, ErrBlindProbe, evidence))
	}
	return nil
}

// Strike implements Fault.
func (k *killAtStored) Strike(ctx context.Context) error {
	if k.proof.Shows == nil {
		return k.missed(history.Matched, ErrNoProbe)
	}
	evidence, err := k.committed(ctx, wire.Message{})
	if err != nil {
		return k.missed(history.Matched, err)
	}
	k.Reach(history.Matched, map[string]any{"seen": evidence})
	if p, ok := k.victim.(process.Pausable); ok {
		if evidence, err = k.stillStored(ctx, p); err != nil {
			return errors.Join(err, process.Resume(ctx, p, k.limits))
		}
	} else {
		k.Reach(history.Held, map[string]any{"held": "nothing; it rests in the store"})
	}
	k.Prove(Committed, k.proof.By, evidence)
	return k.kill(ctx, k.victim)
}

// stillStored pauses the victim and looks again.
func (k *killAtStored) stillStored(ctx context.Context, p process.Pausable) (map[string]any, error) {
	paused, err := process.Pause(ctx, p, k.limits)
	if err != nil {
		return nil, k.missed(history.Held, err)
	}
	k.Reach(history.Held, paused)
	evidence, stored, err := k.look(ctx, wire.Message{})
	if err == nil && !stored {
		err = fmt.Errorf("%w: with the process paused it shows %v; it had gone on before it stood still", ErrNotProven, evidence)
	}
	if err != nil {
		return nil, k.missed(history.Proven, err)
	}
	return evidence, nil
}

// Observe implements Fault; the act need not have been the victim's.
func (k *killAtStored) Observe(o history.Outcome, evidence map[string]any) error {
	return k.outcome(anyEnd, "", o, evidence)
}

// Pause lets a process stand still from now until Heal. It strikes at once.
type Pause struct {
	Victim process.Pausable
	Limits wait.Limits
}

// Arm makes it ready.
func (p Pause) Arm(l *Ledger) Fault {
	return &pause{Placement: l.Arm("pause", p.Victim.Name()), victim: p.Victim, limits: orDefault(p.Limits)}
}

type pause struct {
	*Placement
	victim process.Pausable
	limits wait.Limits
	still  bool
}

func (p *pause) missed(stage history.Stage, err error) error {
	return &Missed{Fault: p.Name(), Position: p.Position(), Stage: stage, Err: err}
}

// Strike implements Fault.
func (p *pause) Strike(ctx context.Context) error {
	p.Reach(history.Matched, map[string]any{"pid": p.victim.PID()})
	p.still = true // from here on it has to be resumed, also if the pause is not seen
	evidence, err := process.Pause(ctx, p.victim, p.limits)
	if err != nil {
		return errors.Join(p.missed(history.Held, err), p.Heal())
	}
	p.Reach(history.Held, evidence)
	p.Prove(Stopped, fmt.Sprint(evidence["seen_by"]), evidence)
	p.Reach(history.Fired, evidence)
	return nil
}

// Observe implements Fault.
func (p *pause) Observe(o history.Outcome, evidence map[string]any) error {
	p.Reach(history.Observed, map[string]any{"outcome": string(o), "evidence": evidence})
	return nil
}

// Heal implements Fault.
func (p *pause) Heal() error {
	if !p.still {
		return nil
	}
	p.still = false
	if err := process.Resume(context.Background(), p.victim, p.limits); err != nil {
		return err
	}
	p.Reach(history.Healed, map[string]any{"process": "goes on"})
	return nil
}
