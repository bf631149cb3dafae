package login

import (
	"context"
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Refuse answers the next Times restorations with 503 on the wire; the account
// service sees none of them.
type Refuse struct {
	Line   wire.Line
	Match  wire.Match
	Times  int
	Limits wait.Limits
}

// Arm places it.
func (r Refuse) Arm(l *faults.Ledger) Trouble {
	b := begin(l, "login-refused", r.Line, r.Match, r.Limits)
	return &refused{base: b, refusal: r.Line.Refuse(r.Times, b.match), times: r.Times}
}

type refused struct {
	base
	refusal wire.Refusal
	times   int
}

// Seen implements Trouble: it waits for the first refusal.
func (r *refused) Seen(ctx context.Context) error {
	if err := r.until(ctx, 1); err != nil {
		return r.missed(history.Matched, err)
	}
	if err := r.counted(); err != nil {
		return r.missed(history.Matched, err)
	}
	r.Reach(history.Matched, map[string]any{"restorations": r.came(), "refused": r.refusal.Used()})
	r.seen = true
	return nil
}

func (r *refused) until(ctx context.Context, n int) error {
	err := wait.For(ctx, fmt.Sprintf("%d restorations to be refused on wire %s", n, r.line.Name()), r.limits.Converge, func(context.Context) (bool, error) {
		return r.refusal.Used() >= n, nil
	})
	if err != nil {
		return fmt.Errorf("%w; %d were", err, r.refusal.Used())
	}
	return nil
}

// Release implements Trouble: it waits until all refusals are used up.
func (r *refused) Release(ctx context.Context, evidence map[string]any) error {
	if !r.seen {
		if err := r.Seen(ctx); err != nil {
			return err
		}
	}
	if err := r.until(ctx, r.times); err != nil {
		return r.missed(history.Held, err)
	}
	// The next restoration may be through already, but none before the last refusal.
	r.Reach(history.Held, map[string]any{"refused": r.refusal.Used(), "with": 503})
	if r.came() < r.times {
		return r.missed(history.Proven, fmt.Errorf("%w: %d restorations were refused and %d came", faults.ErrMiscounted, r.refusal.Used(), r.came()))
	}
	r.Prove(faults.Absent, "the wire, which answered them itself", map[string]any{"refused": r.refusal.Used(), "restorations": r.came(), "passed": r.passed()})
	r.Reach(history.Fired, map[string]any{"refused": r.refusal.Used(), "spec": evidence})
	if err := r.through(ctx); err != nil {
		return r.missed(history.Observed, err)
	}
	r.Reach(history.Observed, map[string]any{"passed": r.passed()})
	return r.Heal()
}

// Heal implements Trouble.
func (r *refused) Heal() error {
	r.refusal.Stop()
	r.Reach(history.Healed, map[string]any{"wire": "as before"})
	return nil
}
