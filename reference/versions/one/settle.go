package one

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Runnable implements sidecar.Executing: the oldest pending intent of each item.
// A start gets its item ID here, durably before the item is made, so that a kill
// between the two makes no second one.
func (s *Store) Runnable(ctx context.Context) ([]sidecar.Intent, error) {
	nameless, err := s.list(ctx, "list starts without an item ID", `WHERE kind = 'start' AND state = 'pending' AND item_id IS NULL`)
	if err != nil {
		return nil, err
	}
	if len(nameless) > 0 {
		err := s.Write(ctx, "give item IDs", func(ctx context.Context, c *sql.Conn) error {
			_, err := c.ExecContext(ctx, `UPDATE intents SET item_id = 'item_' || lower(hex(randomblob(16))) WHERE kind = 'start' AND state = 'pending' AND item_id IS NULL`)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s.list(ctx, "list runnable intents", `AS i WHERE state = 'pending' AND item_id IS NOT NULL
		AND seq = (SELECT min(j.seq) FROM intents j WHERE j.item_id = i.item_id AND j.state = 'pending') ORDER BY seq`)
}

// TryLater implements sidecar.Executing: the intent stays pending.
func (s *Store) TryLater(ctx context.Context, seq int64, f sidecar.Failure) error {
	return s.settle(ctx, seq, sidecar.Pending, f.Reason)
}

// Fail implements sidecar.Executing.
func (s *Store) Fail(ctx context.Context, seq int64, f sidecar.Failure) error {
	return s.settle(ctx, seq, sidecar.Failed, f.Reason)
}

// Apply implements sidecar.Executing. From now on the item's ID is told.
func (s *Store) Apply(ctx context.Context, seq int64) error {
	return s.settle(ctx, seq, sidecar.Applied, "")
}

func (s *Store) settle(ctx context.Context, seq int64, to sidecar.IntentState, text string) error {
	return s.Write(ctx, fmt.Sprintf("settle intent %d as %s", seq, to), func(ctx context.Context, c *sql.Conn) error {
		r, found, err := sidecar.First(rows(ctx, c, `WHERE seq = ?`, seq))
		switch {
		case err != nil:
			return err
		case !found:
			return sidecar.ErrNoIntent
		case r.State.Terminal() && r.State == to:
			return nil
		case r.State.Terminal():
			return fmt.Errorf("%w: it is %s", sidecar.ErrSettled, r.State)
		}
		_, err = c.ExecContext(ctx, `UPDATE intents SET state = ?, error = ?, attempts = attempts + 1 WHERE seq = ?`, to, text, seq)
		return err
	})
}

// Version 1 has no anchors, so none is marked and none is repaired.

// MarkDead implements sidecar.MarkingDead.
func (s *Store) MarkDead(context.Context, string, string) error { return nil }

// MarkLive implements sidecar.Executing.
func (s *Store) MarkLive(context.Context, string) error { return nil }

// LiveAnchors implements sidecar.Executing.
func (s *Store) LiveAnchors(context.Context, string) ([]sidecar.Anchor, error) { return nil, nil }

// ProvisionalAnchors implements sidecar.Executing.
func (s *Store) ProvisionalAnchors(context.Context) ([]sidecar.Anchor, error) { return nil, nil }
