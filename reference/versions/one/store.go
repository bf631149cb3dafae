// Package one is contract version 1 as it was: a start is accepted before there
// is an anchor, and its item ID is told once the app has made the item. Until
// then nothing can follow it.
package one

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Version is the contract version of this package.
const Version = 1

// Store is a sidecar of version 1.
type Store struct{ *sidecar.File }

// Open opens a sidecar of version 1 or creates it.
func Open(ctx context.Context, path string, o sidecar.Options) (*Store, error) {
	f, err := sidecar.OpenFile(ctx, path, o, Version)
	if err != nil {
		return nil, err
	}
	return &Store{f}, nil
}

// row is an intent with the task that it belongs to.
type row struct {
	sidecar.Intent
	task string
}

// anchor is what version 1 knows in the place of an anchor: an ID that is told
// once the item is there.
func (r row) anchor() sidecar.Anchor {
	a := sidecar.Anchor{TaskKey: r.task, Owner: r.Owner, State: sidecar.Provisional}
	if r.State == sidecar.Applied {
		a.ItemID, a.State = r.ItemID, sidecar.Live
	}
	return a
}

func rows(ctx context.Context, q sidecar.Querier, where string, args ...any) ([]row, error) {
	return sidecar.Collect(ctx, q, func(scan func(...any) error) (r row, err error) {
		var payload, text string
		var item sql.NullString
		err = scan(&r.Seq, &item, &r.task, &r.Kind, &payload, &r.Key, &r.Digest, &r.Owner, &r.State, &text, &r.Attempts)
		r.ItemID, r.Payload = item.String, json.RawMessage(payload)
		if text != "" {
			r.Failure = &sidecar.Failure{Reason: text}
		}
		return r, err
	}, `SELECT seq, item_id, task_key, kind, payload, idempotency_key, digest, owner, state, error, attempts FROM intents `+where, args...)
}

// insert stores a pending intent, with an item ID only if it follows a start.
func insert(ctx context.Context, c *sql.Conn, r *row) error {
	r.State = sidecar.Pending
	item := sql.NullString{String: r.ItemID, Valid: r.ItemID != ""}
	return c.QueryRowContext(ctx, `INSERT INTO intents (item_id, task_key, kind, payload, idempotency_key, digest, owner) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
		item, r.task, r.Kind, string(r.Payload), r.Key, r.Digest, r.Owner).Scan(&r.Seq)
}

// known finds the intent that a key stands for, and refuses other content.
func known(ctx context.Context, c *sql.Conn, owner, key string, kind sidecar.Kind, digest string) (row, bool, error) {
	r, had, err := sidecar.First(rows(ctx, c, `WHERE owner = ? AND idempotency_key = ?`, owner, key))
	if err == nil && had && (r.Kind != kind || r.Digest != digest) {
		err = fmt.Errorf("%w: key %q belongs to a %s of task %q", sidecar.ErrKeyReused, key, r.Kind, r.task)
	}
	return r, had, err
}

// OpenWork implements sidecar.Accepting. The item ID that the call brings is not
// used: the app gives one.
func (s *Store) OpenWork(ctx context.Context, o sidecar.Open) (out sidecar.Opened, err error) {
	err = s.Write(ctx, fmt.Sprintf("open work on task key %q", o.TaskKey), func(ctx context.Context, c *sql.Conn) error {
		owner, err := sidecar.BoundOwner(ctx, c)
		if err != nil {
			return err
		}
		r, had, err := known(ctx, c, owner, o.Key, sidecar.StartKind, o.Digest)
		if err != nil {
			return err
		}
		out.Replayed = had
		if !had {
			if r, had, err = sidecar.First(rows(ctx, c, `WHERE owner = ? AND task_key = ? AND kind = 'start' AND state <> 'failed'`, owner, o.TaskKey)); err != nil {
				return err
			}
			out.Existing = had
		}
		if !had {
			r = row{Intent: sidecar.Intent{Kind: sidecar.StartKind, Payload: o.Payload, Key: o.Key, Digest: o.Digest, Owner: owner}, task: o.TaskKey}
			if err := insert(ctx, c, &r); err != nil {
				return err
			}
		}
		out.Anchor, out.Start = r.anchor(), r.Intent
		return nil
	})
	return out, err
}

// Append implements sidecar.Accepting: nothing follows a start whose item is not
// there yet.
func (s *Store) Append(ctx context.Context, f sidecar.Follow) (out sidecar.Appended, err error) {
	err = s.Write(ctx, fmt.Sprintf("accept %s on item %s", f.Kind, f.ItemID), func(ctx context.Context, c *sql.Conn) error {
		owner, err := sidecar.BoundOwner(ctx, c)
		if err != nil {
			return err
		}
		start, there, err := made(ctx, c, f.ItemID)
		if err != nil {
			return err
		}
		r, had, err := known(ctx, c, owner, f.Key, f.Kind, f.Digest)
		switch {
		case err != nil:
			return err
		case !there:
			return fmt.Errorf("%w: contract version 1 gives an item its ID when the app has made it", sidecar.ErrNeverIssued)
		case had:
			out.Replayed = true
		default:
			r = row{Intent: sidecar.Intent{ItemID: f.ItemID, Kind: f.Kind, Payload: f.Payload, Key: f.Key, Digest: f.Digest, Owner: owner}, task: start.task}
			err = insert(ctx, c, &r)
		}
		out.Anchor, out.Intent = start.anchor(), r.Intent
		return err
	})
	return out, err
}

// made finds the start of an item that the app has made.
func made(ctx context.Context, q sidecar.Querier, itemID string) (row, bool, error) {
	return sidecar.First(rows(ctx, q, `WHERE item_id = ? AND kind = 'start' AND state = 'applied'`, itemID))
}

// Anchor implements sidecar.Reading.
func (s *Store) Anchor(ctx context.Context, itemID string) (a sidecar.Anchor, err error) {
	err = s.Read(ctx, "read the start of item "+itemID, func(q sidecar.Querier) error {
		start, there, err := made(ctx, q, itemID)
		if err == nil && !there {
			err = sidecar.ErrNeverIssued
		}
		a = start.anchor()
		return err
	})
	return a, err
}

// AnchorOfTask implements sidecar.Reading: version 1 has no anchors.
func (s *Store) AnchorOfTask(context.Context, string) (sidecar.Anchor, bool, error) {
	return sidecar.Anchor{}, false, nil
}

// IntentsOf implements sidecar.Reading.
func (s *Store) IntentsOf(ctx context.Context, itemID string) ([]sidecar.Intent, error) {
	return s.list(ctx, "read intents of item "+itemID, `WHERE item_id = ? ORDER BY seq`, itemID)
}

func (s *Store) list(ctx context.Context, doing, where string, args ...any) (list []sidecar.Intent, err error) {
	err = s.Read(ctx, doing, func(q sidecar.Querier) error {
		all, err := rows(ctx, q, where, args...)
		for _, r := range all {
			list = append(list, r.Intent)
		}
		return err
	})
	return list, err
}

// Numbers implements sidecar.Reading. What was turned away once is retrying.
func (s *Store) Numbers(ctx context.Context) (n sidecar.Numbers, err error) {
	err = s.Read(ctx, "count intents", func(q sidecar.Querier) error {
		return q.QueryRowContext(ctx, `SELECT coalesce(sum(state = 'pending' AND attempts > 0), 0), coalesce(sum(state = 'failed'), 0),
			coalesce(sum(state = 'pending' AND attempts = 0), 0), coalesce(sum(state = 'applied'), 0) FROM intents`).
			Scan(&n.Retrying, &n.Permanent, &n.Pending, &n.Applied)
	})
	return n, err
}
