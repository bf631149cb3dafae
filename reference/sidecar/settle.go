package sidecar

import (
	"context"
	"fmt"
)

// TryLater implements Executing.
func (s *Store) TryLater(ctx context.Context, seq int64, f Failure) error {
	var to IntentState
	switch f.Class {
	case Transient:
		to = Retrying
	case Blocked:
		to = Pending
	default:
		return fmt.Errorf("try intent %d later: class is %q, expected transient or blocked; end a permanent one with Fail", seq, f.Class)
	}
	return s.settle(ctx, seq, to, &f, nil)
}

// Fail implements Executing.
func (s *Store) Fail(ctx context.Context, seq int64, f Failure) error {
	return s.settle(ctx, seq, Failed, &f, func(ctx context.Context, c conn, i Intent) error {
		if i.Kind != StartKind {
			return nil
		}
		if _, err := c.ExecContext(ctx, `UPDATE anchors SET start_failed = 1 WHERE item_id = ? AND state = 'provisional'`, i.ItemID); err != nil {
			return err
		}
		return failQueued(ctx, c, i.ItemID, Failure{Class: Permanent, Code: CodeStartFailed,
			Reason: "the start of this item failed (" + f.Code + "); start the task again for a new item ID"})
	})
}

// Apply implements Executing.
func (s *Store) Apply(ctx context.Context, seq int64) error {
	return s.settle(ctx, seq, Applied, nil, func(ctx context.Context, c conn, i Intent) error {
		if i.Kind != StartKind {
			return nil
		}
		_, err := c.ExecContext(ctx, `UPDATE anchors SET state = 'live' WHERE item_id = ? AND state = 'provisional'`, i.ItemID)
		return err
	})
}

// settle moves one unsettled intent on, counts the attempt, and does what else
// belongs to that step in the same transaction.
func (s *Store) settle(ctx context.Context, seq int64, to IntentState, f *Failure, also func(context.Context, conn, Intent) error) error {
	return s.write(ctx, fmt.Sprintf("settle intent %d as %s", seq, to), func(ctx context.Context, c conn) error {
		i, found, err := First(intents(ctx, c, `WHERE i.seq = ?`, seq))
		switch {
		case err != nil:
			return err
		case !found:
			return ErrNoIntent
		case i.State == to && to.Terminal():
			return nil
		case i.State.Terminal():
			return fmt.Errorf("%w: it is %s", ErrSettled, i.State)
		}
		var class, code, reason any
		if f != nil {
			class, code, reason = string(f.Class), f.Code, f.Reason
		}
		if _, err := c.ExecContext(ctx, `UPDATE intents SET state = ?, failure_class = ?, failure_code = ?, failure_reason = ?, attempts = attempts + 1 WHERE seq = ?`,
			to, class, code, reason, seq); err != nil {
			return err
		}
		if also == nil {
			return nil
		}
		return also(ctx, c, i)
	})
}

// failQueued ends what is still queued on an item; nothing is dropped.
func failQueued(ctx context.Context, c conn, itemID string, f Failure) error {
	_, err := c.ExecContext(ctx, `UPDATE intents SET state = 'failed', failure_class = ?, failure_code = ?, failure_reason = ?
		WHERE item_id = ? AND state IN ('pending', 'retrying')`, f.Class, f.Code, f.Reason, itemID)
	return err
}

// MarkLive implements Executing.
func (s *Store) MarkLive(ctx context.Context, itemID string) error {
	return s.write(ctx, "mark item "+itemID+" live", func(ctx context.Context, c conn) error {
		a, issued, err := First(anchors(ctx, c, `WHERE item_id = ?`, itemID))
		switch {
		case err != nil:
			return err
		case !issued:
			return ErrNeverIssued
		case a.State == Dead:
			return fmt.Errorf("%w: %s", ErrDead, a.Reason)
		case a.StartFailed:
			return ErrStartFailed
		case a.State == Live:
			return nil
		}
		if _, err := c.ExecContext(ctx, `UPDATE anchors SET state = 'live' WHERE item_id = ?`, itemID); err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, `UPDATE intents SET state = 'applied', failure_class = NULL, failure_code = NULL, failure_reason = NULL
			WHERE item_id = ? AND kind = 'start' AND state IN ('pending', 'retrying')`, itemID)
		return err
	})
}

// MarkDead implements MarkingDead.
func (s *Store) MarkDead(ctx context.Context, itemID, reason string) error {
	return s.write(ctx, "mark item "+itemID+" dead", func(ctx context.Context, c conn) error {
		a, issued, err := First(anchors(ctx, c, `WHERE item_id = ?`, itemID))
		switch {
		case err != nil:
			return err
		case !issued:
			return ErrNeverIssued
		case a.StartFailed:
			return ErrStartFailed
		case a.State == Dead:
			return nil
		}
		if _, err := c.ExecContext(ctx, `UPDATE anchors SET state = 'dead', reason = ? WHERE item_id = ?`, reason, itemID); err != nil {
			return err
		}
		return failQueued(ctx, c, itemID, Failure{Class: Permanent, Code: CodeItemDeleted, Reason: reason})
	})
}
