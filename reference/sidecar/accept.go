package sidecar

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// OpenWork implements Accepting.
func (s *Store) OpenWork(ctx context.Context, o Open) (Opened, error) {
	if o.ItemID == "" || o.TaskKey == "" || o.Key == "" || o.Digest == "" {
		return Opened{}, errors.New("open work: item ID, task key, idempotency key and digest are all needed")
	}
	var out Opened
	err := s.write(ctx, fmt.Sprintf("open work on task key %q", o.TaskKey), func(ctx context.Context, c conn) (err error) {
		out, err = openWork(ctx, c, o)
		return err
	})
	if err != nil {
		return Opened{}, err
	}
	return out, nil
}

func openWork(ctx context.Context, c conn, o Open) (Opened, error) {
	owner, err := BoundOwner(ctx, c)
	if err != nil {
		return Opened{}, err
	}
	known, replayed, err := keyOf(ctx, c, owner, o.Key)
	if err != nil {
		return Opened{}, err
	}
	if replayed && (known.kind != StartKind || known.digest != o.Digest) {
		return Opened{}, fmt.Errorf("%w: key %q belongs to a %s of item %s", ErrKeyReused, o.Key, known.kind, known.itemID)
	}
	out := Opened{Replayed: replayed}
	var had bool
	if replayed {
		out.Anchor, had, err = First(anchors(ctx, c, `WHERE item_id = ?`, known.itemID))
	} else {
		out.Anchor, had, err = First(anchors(ctx, c, `WHERE owner = ? AND task_key = ? AND state <> 'dead' AND start_failed = 0`, owner, o.TaskKey))
	}
	if err != nil {
		return Opened{}, err
	}
	if !had {
		id := o.ItemID
		if replayed {
			id = known.itemID // an issued ID never changes, whatever became of its row
		}
		out.Anchor = Anchor{ItemID: id, TaskKey: o.TaskKey, Owner: owner, State: Provisional}
		if _, err := c.ExecContext(ctx, `INSERT INTO anchors (item_id, task_key, owner) VALUES (?, ?, ?)`, id, o.TaskKey, owner); err != nil {
			return Opened{}, err
		}
	}
	added, err := ensureStart(ctx, c, &out, o, owner)
	if err != nil {
		return Opened{}, err
	}
	out.Existing = had && !added && !replayed
	if err := ensureFirstNote(ctx, c, &out, o, owner, known); err != nil {
		return Opened{}, err
	}
	return out, rememberStart(ctx, c, out, o, owner, added)
}

// ensureStart finds the item's start intent, and adds one where a usable
// provisional anchor has none, so that no task key stays locked (WR-12).
func ensureStart(ctx context.Context, c conn, out *Opened, o Open, owner string) (added bool, err error) {
	var had bool
	out.Start, had, err = First(intents(ctx, c, `WHERE i.item_id = ? AND i.kind = 'start'`, out.Anchor.ItemID))
	if err != nil || had || out.Anchor.State != Provisional || out.Anchor.StartFailed {
		return false, err
	}
	out.Start = Intent{ItemID: out.Anchor.ItemID, Kind: StartKind, Payload: o.Payload, Key: o.Key, Digest: o.Digest, Owner: owner}
	return true, insertIntent(ctx, c, &out.Start)
}

// ensureFirstNote accepts the note that came with the start, once a key.
func ensureFirstNote(ctx context.Context, c conn, out *Opened, o Open, owner string, known keyed) error {
	if o.FirstNote == nil {
		return nil
	}
	if known.noteSeq.Valid {
		note, had, err := First(intents(ctx, c, `WHERE i.seq = ?`, known.noteSeq.Int64))
		if err != nil {
			return err
		}
		if had {
			out.Note = &note
			return nil
		}
	}
	if !out.Anchor.Usable() {
		return nil
	}
	out.Note = &Intent{ItemID: out.Anchor.ItemID, Kind: NoteKind, Payload: o.FirstNote, Owner: owner}
	return insertIntent(ctx, c, out.Note)
}

func rememberStart(ctx context.Context, c conn, out Opened, o Open, owner string, added bool) error {
	var seq, note sql.NullInt64
	if added || out.Start.Key == o.Key && out.Start.Seq > 0 {
		seq = sql.NullInt64{Int64: out.Start.Seq, Valid: true}
	}
	if out.Note != nil {
		note = sql.NullInt64{Int64: out.Note.Seq, Valid: true}
	}
	if out.Replayed && !added {
		return nil
	}
	return rememberKey(ctx, c, owner, o.Key, keyed{kind: StartKind, digest: o.Digest, itemID: out.Anchor.ItemID, seq: seq, noteSeq: note})
}

// Append implements Accepting.
func (s *Store) Append(ctx context.Context, f Follow) (Appended, error) {
	if f.ItemID == "" || f.Key == "" || f.Digest == "" || f.Kind == StartKind {
		return Appended{}, errors.New("append: item ID, idempotency key and digest are all needed, and a start is no follow-up")
	}
	var out Appended
	err := s.write(ctx, fmt.Sprintf("accept %s on item %s", f.Kind, f.ItemID), func(ctx context.Context, c conn) (err error) {
		out, err = appendIntent(ctx, c, f)
		return err
	})
	if err != nil {
		return Appended{}, err
	}
	return out, nil
}

func appendIntent(ctx context.Context, c conn, f Follow) (out Appended, err error) {
	owner, err := BoundOwner(ctx, c)
	if err != nil {
		return out, err
	}
	known, replayed, err := keyOf(ctx, c, owner, f.Key)
	if err != nil {
		return out, err
	}
	if replayed && (known.kind != f.Kind || known.digest != f.Digest || known.itemID != f.ItemID) {
		return out, fmt.Errorf("%w: key %q belongs to a %s of item %s", ErrKeyReused, f.Key, known.kind, known.itemID)
	}
	out.Replayed = replayed
	var issued, had bool
	if out.Anchor, issued, err = First(anchors(ctx, c, `WHERE item_id = ?`, f.ItemID)); err != nil {
		return out, err
	}
	if replayed {
		if out.Intent, had, err = First(intents(ctx, c, `WHERE i.seq = ?`, known.seq.Int64)); err != nil || had {
			return out, err
		}
	}
	switch {
	case !issued:
		return out, ErrNeverIssued
	case out.Anchor.State == Dead:
		return out, fmt.Errorf("%w: %s", ErrDead, out.Anchor.Reason)
	case out.Anchor.StartFailed:
		return out, ErrStartFailed
	}
	out.Intent = Intent{ItemID: f.ItemID, Kind: f.Kind, Payload: f.Payload, Key: f.Key, Digest: f.Digest, Owner: owner}
	if err := insertIntent(ctx, c, &out.Intent); err != nil {
		return out, err
	}
	return out, rememberKey(ctx, c, owner, f.Key, keyed{kind: f.Kind, digest: f.Digest, itemID: f.ItemID, seq: sql.NullInt64{Int64: out.Intent.Seq, Valid: true}})
}

// CountRefusal counts a call that was turned down for good with nothing stored.
func (s *Store) CountRefusal(ctx context.Context) error {
	return s.write(ctx, "count a refusal", func(ctx context.Context, c conn) error {
		_, err := c.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('refused', '1')
			ON CONFLICT DO UPDATE SET value = CAST(value AS INTEGER) + 1`)
		return err
	})
}

// insertIntent stores a pending intent and gives it its place in the order.
func insertIntent(ctx context.Context, c conn, i *Intent) error {
	if len(i.Payload) == 0 {
		i.Payload = json.RawMessage(`{}`)
	}
	i.State = Pending
	return c.QueryRowContext(ctx, `INSERT INTO intents (item_id, kind, payload, idempotency_key, digest, owner) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq`,
		i.ItemID, i.Kind, string(i.Payload), i.Key, i.Digest, i.Owner).Scan(&i.Seq)
}

// rememberKey keeps what a key stands for. It replaces only a key whose intent
// was lost and has just been accepted again.
func rememberKey(ctx context.Context, c conn, owner, key string, k keyed) error {
	_, err := c.ExecContext(ctx, `INSERT INTO idempotency_keys (owner, idempotency_key, kind, digest, item_id, seq, note_seq) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET seq = excluded.seq, note_seq = excluded.note_seq`,
		owner, key, k.kind, k.digest, k.itemID, k.seq, k.noteSeq)
	return err
}
