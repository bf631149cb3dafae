package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
// is still provisional makes it live (WR-11), an anchor whose item is gone
// becomes dead (WR-13): a live one, or one whose start an older app applied.
func (e *Executor) repair(ctx context.Context, account string) error {
	provisional, err := e.Sidecar.ProvisionalAnchors(ctx)
	if err != nil {
		return err
	}
	for _, a := range provisional {
		if a.Owner != account {
			continue
		}
		// Asked before the library is: what was made by now is there, unless it is gone.
		made, err := e.made(ctx, a.ItemID)
		if err != nil {
			return err
		}
		there, err := e.Library.Present(ctx, a.ItemID)
		if err != nil {
			return err
		}
		switch {
		case there:
			err = e.mended(a, sidecar.Live, e.Sidecar.MarkLive(ctx, a.ItemID))
		case made:
			err = e.mended(a, sidecar.Dead, e.Sidecar.MarkDead(ctx, a.ItemID, ports.DeletionReason))
		}
		if err != nil {
			return err
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
			if err := e.mended(a, sidecar.Dead, e.Sidecar.MarkDead(ctx, a.ItemID, ports.DeletionReason)); err != nil {
				return err
			}
		}
	}
	return nil
}

// made says whether an app has told the sidecar that it made the item.
func (e *Executor) made(ctx context.Context, itemID string) (bool, error) {
	intents, err := e.Records.IntentsOf(ctx, itemID)
	return slices.ContainsFunc(intents, func(in sidecar.Intent) bool {
		return in.Kind == sidecar.StartKind && in.State == sidecar.Applied
	}), err
}

// mended tells of a repair. It makes nothing of an anchor that came to its
// end meanwhile.
func (e *Executor) mended(a sidecar.Anchor, now sidecar.AnchorState, err error) error {
	switch {
	case errors.Is(err, sidecar.ErrDead), errors.Is(err, sidecar.ErrStartFailed):
		return nil
	case err != nil:
		return fmt.Errorf("repairing the anchor of item %s: %w", a.ItemID, err)
	}
	e.Log.Info("repaired an anchor", "item_id", a.ItemID, "now", now)
	return nil
}
