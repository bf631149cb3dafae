// Package two is contract version 2 as it was: item IDs are issued at once with
// an anchor, but nothing tells failures apart except their text, and the app
// makes items without touching their anchors, which stay provisional. An anchor is
// stored before its start, in a transaction of its own, and whoever finds it
// afterwards trusts that its start is there.
package two

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Version is the contract version of this package.
const Version = 2

// Store is a sidecar of version 2.
type Store struct{ *sidecar.File }

// Open opens a sidecar of version 2, creates it, or lifts one of version 1.
func Open(ctx context.Context, path string, o sidecar.Options) (*Store, error) {
	f, err := sidecar.OpenFile(ctx, path, o, Version)
	if err != nil {
		return nil, err
	}
	return &Store{f}, nil
}

const anchorColumns = `SELECT item_id, task_key, owner, state, reason FROM anchors `

func anchors(ctx context.Context, q sidecar.Querier, where string, args ...any) ([]sidecar.Anchor, error) {
	return sidecar.Collect(ctx, q, func(scan func(...any) error) (a sidecar.Anchor, err error) {
		err = scan(&a.ItemID, &a.TaskKey, &a.Owner, &a.State, &a.Reason)
		return a, err
	}, anchorColumns+where, args...)
}

const intentColumns = `SELECT i.seq, i.item_id, i.kind, i.payload, i.idempotency_key, i.digest, i.owner, i.state, i.error, i.attempts FROM intents i `

// intents reads intents. A stored error becomes a failure without class or code.
func intents(ctx context.Context, q sidecar.Querier, where string, args ...any) ([]sidecar.Intent, error) {
	return sidecar.Collect(ctx, q, func(scan func(...any) error) (i sidecar.Intent, err error) {
		var payload, text string
		err = scan(&i.Seq, &i.ItemID, &i.Kind, &payload, &i.Key, &i.Digest, &i.Owner, &i.State, &text, &i.Attempts)
		i.Payload = json.RawMessage(payload)
		if text != "" {
			i.Failure = &sidecar.Failure{Reason: text}
		}
		return i, err
	}, intentColumns+where, args...)
}

// key is what an idempotency key stands for.
type key struct {
	kind      sidecar.Kind
	digest    string
	itemID    string
	seq, note sql.NullInt64
}

func keyOf(ctx context.Context, q sidecar.Querier, owner, word string) (k key, known bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT kind, digest, item_id, seq, note_seq FROM idempotency_keys WHERE owner = ? AND idempotency_key = ?`, owner, word).
		Scan(&k.kind, &k.digest, &k.itemID, &k.seq, &k.note)
	if errors.Is(err, sql.ErrNoRows) {
		return key{}, false, nil
	}
	return k, err == nil, err
}

func remember(ctx context.Context, c *sql.Conn, owner, word string, k key) error {
	_, err := c.ExecContext(ctx, `INSERT INTO idempotency_keys (owner, idempotency_key, kind, digest, item_id, seq, note_seq) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		owner, word, k.kind, k.digest, k.itemID, k.seq, k.note)
	return err
}

func insert(ctx context.Context, c *sql.Conn, i *sidecar.Intent) error {
	i.State = sidecar.Pending
	return c.QueryRowContext(ctx, `INSERT INTO intents (item_id, kind, payload, idempotency_key, digest, owner) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq`,
		i.ItemID, i.Kind, string(i.Payload), i.Key, i.Digest, i.Owner).Scan(&i.Seq)
}

// OpenWork implements sidecar.Accepting: first the anchor, then what belongs to it.
func (s *Store) OpenWork(ctx context.Context, o sidecar.Open) (out sidecar.Opened, err error) {
	issued := false
	err = s.Write(ctx, fmt.Sprintf("issue an item ID for task key %q", o.TaskKey), func(ctx context.Context, c *sql.Conn) (err error) {
		issued, err = issue(ctx, c, o)
		return err
	})
	if err != nil {
		return out, err
	}
	err = s.Write(ctx, fmt.Sprintf("open work on task key %q", o.TaskKey), func(ctx context.Context, c *sql.Conn) (err error) {
		out, err = openWork(ctx, c, o, issued)
		return err
	})
	return out, err
}

// usable is the newest anchor of a task that is not dead, whatever became of its start.
func usable(ctx context.Context, q sidecar.Querier, owner, taskKey string) (sidecar.Anchor, bool, error) {
	return sidecar.First(anchors(ctx, q, `WHERE owner = ? AND task_key = ? AND state <> 'dead' ORDER BY rowid DESC LIMIT 1`, owner, taskKey))
}

// issue stores an anchor for a task that has none, and says whether it did.
func issue(ctx context.Context, c *sql.Conn, o sidecar.Open) (bool, error) {
	owner, err := sidecar.BoundOwner(ctx, c)
	if err != nil {
		return false, err
	}
	_, known, err := keyOf(ctx, c, owner, o.Key)
	if err != nil || known {
		return false, err
	}
	if _, had, err := usable(ctx, c, owner, o.TaskKey); err != nil || had {
		return false, err
	}
	_, err = c.ExecContext(ctx, `INSERT INTO anchors (item_id, task_key, owner) VALUES (?, ?, ?)`, o.ItemID, o.TaskKey, owner)
	return err == nil, err
}

func openWork(ctx context.Context, c *sql.Conn, o sidecar.Open, issued bool) (out sidecar.Opened, err error) {
	owner, err := sidecar.BoundOwner(ctx, c)
	if err != nil {
		return out, err
	}
	k, known, err := keyOf(ctx, c, owner, o.Key)
	if err != nil {
		return out, err
	}
	if known {
		return replay(ctx, c, o, k)
	}
	var there bool
	if out.Anchor, there, err = usable(ctx, c, owner, o.TaskKey); err != nil {
		return out, err
	}
	if !there {
		return out, fmt.Errorf("%w: the person deleted the item meanwhile", sidecar.ErrDead)
	}
	k = key{kind: sidecar.StartKind, digest: o.Digest}
	if out.Existing = !issued; out.Existing {
		if out.Start, there, err = sidecar.First(intents(ctx, c, `WHERE i.item_id = ? AND i.kind = 'start'`, out.Anchor.ItemID)); err != nil {
			return out, err
		}
		if !there {
			out.Start.State = sidecar.Pending // nothing is queued for it, and nobody notices
		}
	} else {
		out.Start = sidecar.Intent{ItemID: o.ItemID, Kind: sidecar.StartKind, Payload: o.Payload, Key: o.Key, Digest: o.Digest, Owner: owner}
		if err = insert(ctx, c, &out.Start); err != nil {
			return out, err
		}
		k.seq = sql.NullInt64{Int64: out.Start.Seq, Valid: true}
	}
	k.itemID = out.Anchor.ItemID
	if o.FirstNote != nil {
		out.Note = &sidecar.Intent{ItemID: k.itemID, Kind: sidecar.NoteKind, Payload: o.FirstNote, Owner: owner}
		if err = insert(ctx, c, out.Note); err != nil {
			return out, err
		}
		k.note = sql.NullInt64{Int64: out.Note.Seq, Valid: true}
	}
	return out, remember(ctx, c, owner, o.Key, k)
}

func replay(ctx context.Context, c *sql.Conn, o sidecar.Open, k key) (out sidecar.Opened, err error) {
	if k.kind != sidecar.StartKind || k.digest != o.Digest {
		return out, fmt.Errorf("%w: key %q belongs to a %s of item %s", sidecar.ErrKeyReused, o.Key, k.kind, k.itemID)
	}
	out.Replayed = true
	if out.Anchor, _, err = sidecar.First(anchors(ctx, c, `WHERE item_id = ?`, k.itemID)); err != nil {
		return out, err
	}
	if out.Start, _, err = sidecar.First(intents(ctx, c, `WHERE i.item_id = ? AND i.kind = 'start'`, k.itemID)); err != nil || !k.note.Valid {
		return out, err
	}
	note, _, err := sidecar.First(intents(ctx, c, `WHERE i.seq = ?`, k.note.Int64))
	out.Note = &note
	return out, err
}

// Append implements sidecar.Accepting.
func (s *Store) Append(ctx context.Context, f sidecar.Follow) (out sidecar.Appended, err error) {
	err = s.Write(ctx, fmt.Sprintf("accept %s on item %s", f.Kind, f.ItemID), func(ctx context.Context, c *sql.Conn) (err error) {
		out, err = appendIntent(ctx, c, f)
		return err
	})
	return out, err
}

func appendIntent(ctx context.Context, c *sql.Conn, f sidecar.Follow) (out sidecar.Appended, err error) {
	owner, err := sidecar.BoundOwner(ctx, c)
	if err != nil {
		return out, err
	}
	k, known, err := keyOf(ctx, c, owner, f.Key)
	if err != nil {
		return out, err
	}
	if known && (k.kind != f.Kind || k.digest != f.Digest || k.itemID != f.ItemID) {
		return out, fmt.Errorf("%w: key %q belongs to a %s of item %s", sidecar.ErrKeyReused, f.Key, k.kind, k.itemID)
	}
	var issued bool
	if out.Anchor, issued, err = sidecar.First(anchors(ctx, c, `WHERE item_id = ?`, f.ItemID)); err != nil {
		return out, err
	}
	switch {
	case known:
		out.Replayed = true
		out.Intent, _, err = sidecar.First(intents(ctx, c, `WHERE i.seq = ?`, k.seq.Int64))
		return out, err
	case !issued:
		return out, sidecar.ErrNeverIssued
	case out.Anchor.State == sidecar.Dead:
		return out, fmt.Errorf("%w: %s", sidecar.ErrDead, out.Anchor.Reason)
	}
	out.Intent = sidecar.Intent{ItemID: f.ItemID, Kind: f.Kind, Payload: f.Payload, Key: f.Key, Digest: f.Digest, Owner: owner}
	if err = insert(ctx, c, &out.Intent); err != nil {
		return out, err
	}
	return out, remember(ctx, c, owner, f.Key, key{kind: f.Kind, digest: f.Digest, itemID: f.ItemID, seq: sql.NullInt64{Int64: out.Intent.Seq, Valid: true}})
}
