package sidecar

import (
	"context"
	"fmt"
)

// Anchor implements Reading.
func (s *Store) Anchor(ctx context.Context, itemID string) (Anchor, error) {
	a, issued, err := First(anchors(ctx, s.reader, `WHERE item_id = ?`, itemID))
	if err == nil && !issued {
		err = ErrNeverIssued
	}
	return a, s.explain("read anchor of item "+itemID, err)
}

// AnchorOfTask implements Reading.
func (s *Store) AnchorOfTask(ctx context.Context, taskKey string) (Anchor, bool, error) {
	a, found, err := First(anchors(ctx, s.reader, `WHERE task_key = ? AND owner = coalesce((SELECT value FROM meta WHERE name = 'bound_owner'), '') ORDER BY rowid DESC LIMIT 1`, taskKey))
	return a, found, s.explain(fmt.Sprintf("read anchor of task key %q", taskKey), err)
}

// IntentsOf implements Reading.
func (s *Store) IntentsOf(ctx context.Context, itemID string) ([]Intent, error) {
	list, err := intents(ctx, s.reader, `WHERE i.item_id = ? ORDER BY i.seq`, itemID)
	return list, s.explain("read intents of item "+itemID, err)
}

// Numbers implements Reading.
func (s *Store) Numbers(ctx context.Context) (Numbers, error) {
	var n Numbers
	err := s.reader.QueryRowContext(ctx, `SELECT
		coalesce(sum(state = 'retrying'), 0),
		coalesce(sum(state = 'failed'), 0) + coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'refused'), 0),
		coalesce(sum(state = 'pending'), 0), coalesce(sum(state = 'applied'), 0) FROM intents`).
		Scan(&n.Retrying, &n.Permanent, &n.Pending, &n.Applied)
	return n, s.explain("count intents", err)
}

// RunnableSQL chooses, of intents i, the next one of each item: its start while
// the anchor is provisional, then its oldest unsettled follow-up.
const RunnableSQL = `JOIN anchors a ON a.item_id = i.item_id
WHERE i.state IN ('pending', 'retrying') AND (
	(a.state = 'provisional' AND a.start_failed = 0 AND i.kind = 'start')
	OR (a.state = 'live' AND i.seq = (
		SELECT min(j.seq) FROM intents j WHERE j.item_id = i.item_id AND j.state IN ('pending', 'retrying'))))
ORDER BY i.seq`

// Runnable implements Executing.
func (s *Store) Runnable(ctx context.Context) ([]Intent, error) {
	list, err := intents(ctx, s.reader, RunnableSQL)
	return list, s.explain("list runnable intents", err)
}

// LiveAnchors implements Executing.
func (s *Store) LiveAnchors(ctx context.Context, owner string) ([]Anchor, error) {
	list, err := anchors(ctx, s.reader, `WHERE state = 'live' AND owner = ? ORDER BY rowid`, owner)
	return list, s.explain("list live anchors of "+owner, err)
}

// ProvisionalAnchors implements Executing.
func (s *Store) ProvisionalAnchors(ctx context.Context) ([]Anchor, error) {
	list, err := anchors(ctx, s.reader, `WHERE state = 'provisional' AND start_failed = 0 ORDER BY rowid`)
	return list, s.explain("list provisional anchors", err)
}
