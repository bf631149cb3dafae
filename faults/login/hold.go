// Package login places faults on the way from an app to its account service: the
// restoration of a session that is held, refused, or given to another account.
package login

import (
	"context"
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Trouble is a login fault that is in place. The world is launched, or the app
// started again, after it is armed.
type Trouble interface {
	// Seen waits until the app has run into it and proves that it did. An error
	// that is a *faults.Missed means that nothing can be judged.
	Seen(ctx context.Context) error
	// Release ends it and waits until the login went through. evidence is what the
	// spec saw meanwhile, such as the attempts that were turned away. It calls
	// Seen where that was not done.
	Release(ctx context.Context, evidence map[string]any) error
	// Heal takes it away without looking, for a spec that ends early.
	Heal() error
}

// Hold holds every restoration until it is released: the login is late.
type Hold struct {
	Line   wire.Line  // from the app to the account service
	Match  wire.Match // the restoration's request
	Until  faults.Condition
	Limits wait.Limits
}

// Arm places it.
func (h Hold) Arm(l *faults.Ledger) Trouble {
	b := begin(l, "login-held", h.Line, h.Match, h.Limits)
	return &held{base: b, gate: h.Line.Gate(b.match), until: h.Until}
}

type held struct {
	base
	gate  wire.Gate
	until faults.Condition
}

// Seen implements Trouble.
func (h *held) Seen(ctx context.Context) error {
	err := wait.For(ctx, "a restoration to be held on wire "+h.line.Name(), h.limits.Ready, func(context.Context) (bool, error) {
		return h.gate.Waiting() > 0, nil
	})
	if err != nil {
		return h.missed(history.Matched, err)
	}
	if err := h.counted(); err != nil {
		return h.missed(history.Matched, err)
	}
	h.Reach(history.Matched, map[string]any{"restorations": h.came()})
	h.Reach(history.Held, map[string]any{"waiting": h.gate.Waiting()})
	if n := h.passed(); n != 0 {
		return h.missed(history.Proven, fmt.Errorf("%d restorations went through while they were to be held", n))
	}
	h.Prove(faults.Absent, "the wire, where every restoration is held and none has left", map[string]any{"restorations": h.came(), "passed": 0})
	h.seen = true
	return nil
}

// Release implements Trouble.
func (h *held) Release(ctx context.Context, evidence map[string]any) error {
	if !h.seen {
		if err := h.Seen(ctx); err != nil {
			return err
		}
	}
	met, err := h.until.Wait(ctx, h.limits)
	if err != nil {
		return h.missed(history.Fired, err)
	}
	if n := h.passed(); n != 0 {
		return h.missed(history.Fired, fmt.Errorf("%d restorations went through while they were to be held", n))
	}
	h.Reach(history.Fired, map[string]any{"restorations": h.came(), "passed": 0, "held_until": h.until.What, "condition": met, "spec": evidence})
	h.gate.Open()
	if err := h.through(ctx); err != nil {
		return h.missed(history.Observed, err)
	}
	h.Reach(history.Observed, map[string]any{"passed": h.passed()})
	return h.Heal()
}

// Heal implements Trouble.
func (h *held) Heal() error {
	h.gate.Open()
	h.Reach(history.Healed, map[string]any{"wire": "as before"})
	return nil
}
