package login

import (
	"context"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Another lets another account be restored first.
type Another struct {
	Line  wire.Line
	Match wire.Match
	// Switch makes the account service restore to the other account, Back to the
	// owner again; where an app does not ask again by itself, Back makes it.
	Switch, Back func(context.Context) error
	// Signed, when its Fact is set, is the account service's own word that the
	// other account was restored.
	Signed faults.Condition
	Limits wait.Limits
}

// Arm places it: from now on the other account is restored.
func (a Another) Arm(ctx context.Context, l *faults.Ledger) (Trouble, error) {
	t := &another{base: begin(l, "another-account", a.Line, a.Match, a.Limits), back: a.Back, signed: a.Signed}
	if err := a.Switch(ctx); err != nil {
		return nil, t.missed(history.Matched, err)
	}
	t.switched = true
	return t, nil
}

type another struct {
	base
	back     func(context.Context) error
	signed   faults.Condition
	switched bool
}

// Seen implements Trouble: the other account's restoration was answered.
func (a *another) Seen(ctx context.Context) error {
	if err := a.through(ctx); err != nil {
		return a.missed(history.Matched, err)
	}
	a.Reach(history.Matched, map[string]any{"restorations": a.came(), "answered": a.answered()})
	a.Reach(history.Held, map[string]any{"account": "another one is signed in until it is released"})
	by := "the wire, which carried the answer to a restoration after the switch"
	evidence, err := a.signed.Wait(ctx, a.limits)
	if err != nil {
		return a.missed(history.Proven, err)
	}
	if a.signed.Fact != nil {
		by += "; " + a.signed.What
	}
	a.Prove(faults.Answered, by, map[string]any{"answered": a.answered(), "account_service": evidence})
	a.Reach(history.Fired, map[string]any{"answered": a.answered()})
	a.seen = true
	return nil
}

// Release implements Trouble: the owner is signed in again.
func (a *another) Release(ctx context.Context, evidence map[string]any) error {
	if !a.seen {
		if err := a.Seen(ctx); err != nil {
			return err
		}
	}
	// The account service's own count tells that it was the other one until now.
	met, err := a.signed.Wait(ctx, a.limits)
	if err != nil {
		return a.missed(history.Observed, err)
	}
	a.Reach(history.Observed, map[string]any{"account_service": met, "answered": a.answered(), "spec": evidence})
	before := a.answered()
	if err := a.goBack(ctx); err != nil {
		return a.missed(history.Healed, err)
	}
	err = wait.For(ctx, "the owner's restoration to be answered on wire "+a.line.Name(), a.limits.Converge, func(context.Context) (bool, error) {
		return a.answered() > before, nil
	})
	if err != nil {
		return a.missed(history.Healed, err)
	}
	a.Reach(history.Healed, map[string]any{"answered": a.answered()})
	return nil
}

func (a *another) goBack(ctx context.Context) error {
	if !a.switched {
		return nil
	}
	a.switched = false
	return a.back(ctx)
}

// Heal implements Trouble.
func (a *another) Heal() error {
	ctx, cancel := context.WithTimeout(context.Background(), a.limits.Answer)
	defer cancel()
	return a.goBack(ctx)
}
