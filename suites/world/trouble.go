package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// LosesAnswer makes a call whose answer is lost behind a proven commit.
func (c *Caller) LosesAnswer(shape faults.Shape, act Act) {
	fault := faults.AnswerLost{Line: c.theLine(), Match: c.match(act), Shape: shape, Proof: c.w.proof(act), Limits: c.w.config.Limits}
	c.cut = c.cut || shape == faults.Cut
	c.under(fault.Arm(c.w.ledger), act, c.w.patience(shape))
}

// LosesRequest makes a call whose request never reaches the helper.
func (c *Caller) LosesRequest(act Act) {
	fault := faults.RequestLost{Line: c.theLine(), Match: c.match(act), Shape: faults.Withheld, Proof: c.w.proof(act), Limits: c.w.config.Limits}
	c.under(fault.Arm(c.w.ledger), act, c.w.patience(faults.Withheld))
}

// GoesAway makes a call and leaves behind its commit: the helper sees its
// caller disconnect.
func (c *Caller) GoesAway(act Act) {
	fault := faults.CallerGone{Line: c.theLine(), Match: c.match(act), Proof: c.w.proof(act), Limits: c.w.config.Limits}
	c.cut = true
	c.under(fault.Arm(c.w.ledger), act, c.w.config.Limits.Answer)
}

// KilledAsAnswerLeaves makes a call; the helper is killed while its answer is
// on the wire, and the answer is delivered then.
func (c *Caller) KilledAsAnswerLeaves(act Act) history.Operation {
	fault := faults.KillAtAnswer{Line: c.theLine(), Match: c.match(act), Victim: c.w.victim(c.theProcess()), Deliver: true, Limits: c.w.config.Limits}
	return c.under(fault.Arm(c.w.ledger), act, c.w.config.Limits.Answer)
}

// KilledSilently makes a call; the helper is killed behind the proven commit and
// its answer is lost.
func (c *Caller) KilledSilently(act Act) history.Operation {
	fault := faults.KillAtAnswer{Line: c.theLine(), Match: c.match(act), Victim: c.w.victim(c.theProcess()), Proof: c.w.proof(act), Limits: c.w.config.Limits}
	return c.under(fault.Arm(c.w.ledger), act, c.w.patience(faults.Withheld))
}

// Killed kills the helper, which has no call of ours in hand.
func (c *Caller) Killed() {
	if _, err := process.Kill(c.w.ctx, c.w.victim(c.theProcess()), c.w.config.Limits); err != nil {
		Inconclusive("%v", err)
	}
}

// Back is the caller as it comes back after it lost its connection: with a new
// helper process on stdio, with a new session over HTTP.
func (c *Caller) Back() *Caller {
	if !c.cut {
		return c // nothing was cut: the session goes on
	}
	if c.path == "" {
		return c.w.NewCaller()
	}
	c.cut = false
	_ = c.session.Close() // its connection is gone already
	if err := c.shakeHands(); err != nil {
		c.w.cannotStart(err)
	}
	return c
}

// KilledAtStored makes a call and kills a process of the target as soon as the
// store shows what the call was to store.
func (w *World) KilledAtStored(name string, act Act, c *Caller) history.Operation {
	p := w.process(name)
	if p.running == nil {
		Broken("process %s is to be killed and does not run", name)
	}
	fault := faults.KillAtStored{
		Position: "the " + act.Role + " is in the store", Victim: w.victim(p.running), Proof: w.proof(act), Limits: w.config.Limits,
	}
	op := c.under(fault.Arm(w.ledger), act, w.config.Limits.Answer)
	p.running = nil
	return op
}

// KilledOnceShown does something that sets a process of the target to work, and
// kills the process as soon as a probe shows how far it has come.
func (w *World) KilledOnceShown(name, position string, proof Proof, do func()) {
	p := w.process(name)
	if p.running == nil {
		Broken("process %s is to be killed and does not run", name)
	}
	fault := faults.KillAtStored{Position: position, Victim: w.victim(p.running), Proof: w.proof(Act{Proof: proof}), Limits: w.config.Limits}
	_, err := faults.Around(w.ctx, fault.Arm(w.ledger), func(context.Context) history.Outcome {
		do()
		return history.Done
	})
	w.placed(err)
	p.running = nil
}

// Race makes one act several times at once: all requests are held together on
// their wires, then released.
func (w *World) Race(act Act, callers ...*Caller) []history.Operation {
	acts := make([]Act, len(callers))
	for i := range acts {
		acts[i] = act
	}
	return w.Together(acts, callers...)
}

// Together makes many calls at once, spread over the callers in turn: all
// requests are held together on their wires, then released.
func (w *World) Together(acts []Act, callers ...*Caller) []history.Operation {
	race := faults.Race{Limits: w.config.Limits}
	n := map[*Caller]int{}
	for i := range acts {
		n[callers[i%len(callers)]]++
	}
	for _, c := range unique(callers) {
		race.Lanes = append(race.Lanes, faults.Lanes(c.theLine(), c.match(acts[0]), n[c])...)
	}
	ops := make([]history.Operation, len(acts))
	_, err := faults.Around(w.ctx, race.Arm(w.ledger), func(context.Context) history.Outcome {
		flights := make([]*Flight, len(acts))
		for i, act := range acts {
			flights[i] = callers[i%len(callers)].Go(act, w.config.Limits.Answer)
		}
		worst := history.Done
		for i, f := range flights {
			ops[i] = f.Wait()
			if ops[i].Outcome() != history.Done {
				worst = ops[i].Outcome()
			}
		}
		return worst
	})
	w.placed(err)
	return ops
}

func unique(callers []*Caller) []*Caller {
	var out []*Caller
	seen := map[*Caller]bool{}
	for _, c := range callers {
		if !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	return out
}

// under makes a call under an armed fault and returns how it ended.
func (c *Caller) under(fault faults.Fault, act Act, patience time.Duration) history.Operation {
	var op history.Operation
	_, err := faults.Around(c.w.ctx, fault, func(context.Context) history.Outcome {
		op = c.Go(act, patience).Wait()
		return op.Outcome()
	})
	c.w.placed(err)
	return op
}

// placed stops the spec if a fault did not come to its end.
func (w *World) placed(err error) {
	var missed *faults.Missed
	switch {
	case errors.As(err, &missed):
		Inconclusive("%v", missed)
	case err != nil:
		Broken("placing a fault: %v", err)
	}
}

// match is the position of an act's request on the caller's wire.
func (c *Caller) match(act Act) wire.Match {
	return wire.Match{Method: "tools/call", Tool: c.tool(act).Name}
}

// patience is how long a caller waits under a fault of a shape: where its answer
// is withheld on purpose nothing is gained by waiting long.
func (w *World) patience(shape faults.Shape) time.Duration {
	if shape == faults.Withheld {
		return w.config.Limits.Withheld
	}
	return w.config.Limits.Answer
}

// proof shows an act's commit through its probe.
func (w *World) proof(act Act) faults.Proof {
	spec, there := w.probes()[act.Proof.Probe]
	if !there {
		return faults.Proof{} // a fault that needs one says that it is missing
	}
	return faults.Proof{
		By: fmt.Sprintf("probe %s (%s)", act.Proof.Probe, kindOf(spec)),
		Shows: func(context.Context, wire.Message) (map[string]any, bool, error) {
			rows, err := w.rows(act.Proof.Probe, act.Proof.Params)
			if err != nil {
				// A store between two writes may not be readable; it is looked at again.
				return map[string]any{"look failed": err.Error()}, w.config.Seams.shows(false), nil
			}
			if row := act.Proof.row(rows); row != nil {
				return map[string]any{"row": row}, w.config.Seams.shows(true), nil
			}
			return map[string]any{"rows": len(rows), "of them the one in question": 0}, w.config.Seams.shows(false), nil
		},
	}
}

// victim is a process as faults see it.
type victim struct {
	*launch.Process
	kill func(context.Context) error
}

func (v victim) Kill(ctx context.Context) error { return v.kill(ctx) }

func (w *World) victim(p *launch.Process) process.Victim {
	w.killed = true
	kill := p.Kill
	if w.config.Seams.Kill != nil {
		kill = w.config.Seams.Kill(kill)
	}
	return victim{p, kill}
}

// Trouble is a fault that lasts until it is released.
type Trouble struct {
	release, heal func()
	ended         bool
}

// Release ends the trouble and sees to it that it is over; what it held goes on.
func (t *Trouble) Release() {
	if !t.ended {
		t.ended = true
		t.release()
	}
}

// end takes a trouble away when its world ends before it was released.
func (t *Trouble) end() {
	if !t.ended {
		t.ended = true
		t.heal()
	}
}

func (w *World) trouble(release, heal func()) *Trouble {
	t := &Trouble{release: release, heal: heal}
	w.mu.Lock()
	w.troubles = append(w.troubles, t)
	w.mu.Unlock()
	return t
}

// kindOf says by which mechanism a probe looks.
func kindOf(p target.Probe) string {
	switch {
	case p.SQLite != "":
		return "sqlite"
	case p.Postgres != "":
		return "postgres"
	case p.HTTP != "":
		return "http"
	case p.File != "":
		return "file"
	case len(p.Command) > 0:
		return "command"
	}
	return "page"
}
