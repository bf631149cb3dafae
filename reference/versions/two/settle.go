package two

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Anchor implements sidecar.Reading.
func (s *Store) Anchor(ctx context.Context, itemID string) (a sidecar.Anchor, err error) {
	err = s.Read(ctx, "read anchor of item "+itemID, func(q sidecar.Querier) (err error) {
		var issued bool
		if a, issued, err = sidecar.First(anchors(ctx, q, `WHERE item_id = ?`, itemID)); err == nil && !issued {
			err = sidecar.ErrNeverIssued
		}
		return err
	})
	return a, err
}

// AnchorOfTask implements sidecar.Reading.
func (s *Store) AnchorOfTask(ctx context.Context, taskKey string) (a sidecar.Anchor, found bool, err error) {
	err = s.Read(ctx, fmt.Sprintf("read anchor of task key %q", taskKey), func(q sidecar.Querier) (err error) {
		a, found, err = sidecar.First(anchors(ctx, q, `WHERE task_key = ? AND owner = coalesce((SELECT value FROM meta WHERE name = 'bound_owner'), '') ORDER BY rowid DESC LIMIT 1`, taskKey))
		return err
	})
	return a, found, err
}

func (s *Store) intentsWhere(ctx context.Context, doing, where string, args ...any) (list []sidecar.Intent, err error) {
	err = s.Read(ctx, doing, func(q sidecar.Querier) (err error) {
		list, err = intents(ctx, q, where, args...)
		return err
	})
	return list, err
}

// IntentsOf implements sidecar.Reading.
func (s *Store) IntentsOf(ctx context.Context, itemID string) ([]sidecar.Intent, error) {
	return s.intentsWhere(ctx, "read intents of item "+itemID, `WHERE i.item_id = ? ORDER BY i.seq`, itemID)
}

// Numbers implements sidecar.Reading.
func (s *Store) Numbers(ctx context.Context) (n sidecar.Numbers, err error) {
	err = s.Read(ctx, "count intents", func(q sidecar.Querier) error {
		return q.QueryRowContext(ctx, `SELECT coalesce(sum(state = 'retrying'), 0), coalesce(sum(state = 'failed'), 0),
			coalesce(sum(state = 'pending'), 0), coalesce(sum(state = 'applied'), 0) FROM intents`).
			Scan(&n.Retrying, &n.Permanent, &n.Pending, &n.Applied)
	})
	return n, err
}

// Runnable implements sidecar.Executing: the oldest unsettled intent of each
// item. Behind a start that failed it stays where it is.
func (s *Store) Runnable(ctx context.Context) ([]sidecar.Intent, error) {
	return s.intentsWhere(ctx, "list runnable intents", `JOIN anchors a ON a.item_id = i.item_id
		WHERE a.state <> 'dead'
			AND i.seq = (SELECT min(j.seq) FROM intents j WHERE j.item_id = i.item_id AND j.state IN ('pending', 'retrying'))
			AND NOT EXISTS (SELECT 1 FROM intents j WHERE j.item_id = i.item_id AND j.kind = 'start' AND j.state = 'failed')
		ORDER BY i.seq`)
}

// TryLater implements sidecar.Executing. Version 2 knows no classes: what was
// turned away is tried again, whatever may help against it.
func (s *Store) TryLater(ctx context.Context, seq int64, f sidecar.Failure) error {
	return s.settle(ctx, seq, sidecar.Retrying, f.Reason)
}

// Fail implements sidecar.Executing.
func (s *Store) Fail(ctx context.Context, seq int64, f sidecar.Failure) error {
	return s.settle(ctx, seq, sidecar.Failed, f.Reason)
}

// Apply implements sidecar.Executing. The anchor of an applied start stays as it is.
func (s *Store) Apply(ctx context.Context, seq int64) error {
	return s.settle(ctx, seq, sidecar.Applied, "")
}

func (s *Store) settle(ctx context.Context, seq int64, to sidecar.IntentState, text string) error {
	return s.Write(ctx, fmt.Sprintf("settle intent %d as %s", seq, to), func(ctx context.Context, c *sql.Conn) error {
		i, found, err := sidecar.First(intents(ctx, c, `WHERE i.seq = ?`, seq))
		switch {
		case err != nil:
			return err
		case !found:
			return sidecar.ErrNoIntent
		case i.State.Terminal() && i.State == to:
			return nil
		case i.State.Terminal():
			return fmt.Errorf("%w: it is %s", sidecar.ErrSettled, i.State)
		}
		_, err = c.ExecContext(ctx, `UPDATE intents SET state = ?, error = ?, attempts = attempts + 1 WHERE seq = ?`, to, text, seq)
		return err
	})
}

// MarkDead implements sidecar.MarkingDead.
func (s *Store) MarkDead(ctx context.Context, itemID, reason string) error {
	return s.Write(ctx, "mark item "+itemID+" dead", func(ctx context.Context, c *sql.Conn) error {
		done, err := c.ExecContext(ctx, `UPDATE anchors SET state = 'dead', reason = ? WHERE item_id = ? AND state <> 'dead'`, reason, itemID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err
		}
		_, err = c.ExecContext(ctx, `UPDATE intents SET state = 'failed', error = ? WHERE item_id = ? AND state IN ('pending', 'retrying')`, reason, itemID)
		return err
	})
}

// MarkLive implements sidecar.Executing. Version 2 repairs nothing.
func (s *Store) MarkLive(context.Context, string) error { return nil }

// LiveAnchors implements sidecar.Executing: there is nothing that version 2 repairs.
func (s *Store) LiveAnchors(context.Context, string) ([]sidecar.Anchor, error) { return nil, nil }

// ProvisionalAnchors implements sidecar.Executing: see LiveAnchors.
func (s *Store) ProvisionalAnchors(context.Context) ([]sidecar.Anchor, error) { return nil, nil }
