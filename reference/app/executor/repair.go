package executor

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// repairIfDue repairs after a start, after every change of the account, when it
// was asked for, and now and then. Without an account nothing is missing (WR-18).
func (e *Executor) repairIfDue(ctx context.Context, state session.State) error {
	if state.Phase != session.Restored {
		return nil
	}
	asked := e.sick.Swap(false)
	if !asked && e.repaired == state.Generation && e.Clock.Now().Sub(e.checked) < e.RepairEvery {
		return nil
	}
	if err := e.repair(ctx, state.Account); err != nil {
		e.sick.Store(true)
		return err
	}
	e.repaired, e.checked = state.Generation, e.Clock.Now()
	return nil
}

// repair makes an account's anchors agree with its items: an item whose anchor
// is still provisional makes it live (WR-11), a live anchor whose item is gone
// becomes dead (WR-13).
func (e *Executor) repair(ctx context.Context, account string) error {
	provisional, err := e.Sidecar.ProvisionalAnchors(ctx)
	if err != nil {
		return err
	}
	for _, a := range provisional {
		if a.Owner != account {
			continue
		}
		there, err := e.Library.Present(ctx, a.ItemID)
		if err != nil {
			return err
		}
		if there {
			if err := settled(e.Sidecar.MarkLive(ctx, a.ItemID)); err != nil {
				return fmt.Errorf("repairing the anchor of item %s: %w", a.ItemID, err)
			}
			e.Log.Info("repaired an anchor", "item_id", a.ItemID, "now", sidecar.Live)
		}
	}
	live, err := e.Sidecar.LiveAnchors(ctx, account)
	if err != nil {
		return err
	}
	for _, a := range live {
		there, err := e.Library.Present(ctx, a.ItemID)
		if err != nil {
			return err
		}
		if !there {
			if err := settled(e.Sidecar.MarkDead(ctx, a.ItemID, ports.DeletionReason)); err != nil {
				return fmt.Errorf("repairing the anchor of item %s: %w", a.ItemID, err)
			}
			e.Log.Info("repaired an anchor", "item_id", a.ItemID, "now", sidecar.Dead)
		}
	}
	return nil
}

// settled makes nothing of an anchor that came to its end meanwhile.
func settled(err error) error {
	if errors.Is(err, sidecar.ErrDead) || errors.Is(err, sidecar.ErrStartFailed) {
		return nil
	}
	return err
}
