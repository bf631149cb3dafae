package sidecar

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
)

// Querier is what both a connection in a transaction and the readers can do.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// conn is a connection inside a transaction.
type conn = *sql.Conn

const anchorColumns = `item_id, task_key, owner, state, reason, start_failed`

func scanAnchor(scan func(...any) error) (a Anchor, err error) {
	err = scan(&a.ItemID, &a.TaskKey, &a.Owner, &a.State, &a.Reason, &a.StartFailed)
	return a, err
}

const intentColumns = `i.seq, i.item_id, i.kind, i.payload, i.idempotency_key, i.digest, i.owner, i.state,
	i.failure_class, i.failure_code, i.failure_reason, i.attempts`

func scanIntent(scan func(...any) error) (Intent, error) {
	var i Intent
	var payload string
	var class, code, reason sql.NullString
	err := scan(&i.Seq, &i.ItemID, &i.Kind, &payload, &i.Key, &i.Digest, &i.Owner, &i.State, &class, &code, &reason, &i.Attempts)
	if err != nil {
		return Intent{}, err
	}
	i.Payload = json.RawMessage(payload)
	if class.Valid {
		i.Failure = &Failure{Class: Class(class.String), Code: code.String, Reason: reason.String}
	}
	return i, nil
}

func anchors(ctx context.Context, q Querier, where string, args ...any) ([]Anchor, error) {
	return Collect(ctx, q, scanAnchor, `SELECT `+anchorColumns+` FROM anchors `+where, args...)
}

func intents(ctx context.Context, q Querier, where string, args ...any) ([]Intent, error) {
	return Collect(ctx, q, scanIntent, `SELECT `+intentColumns+` FROM intents i `+where, args...)
}

// Collect reads every row of a query.
func Collect[T any](ctx context.Context, q Querier, scan func(func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// First returns the only or first of a list; false if it is empty.
func First[T any](list []T, err error) (T, bool, error) {
	var none T
	if err != nil || len(list) == 0 {
		return none, false, err
	}
	return list[0], true, nil
}

// BoundOwner reads which account a sidecar of any version is bound to, "" if none.
func BoundOwner(ctx context.Context, q Querier) (string, error) {
	var owner string
	err := q.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'bound_owner'`).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return owner, err
}

// keyed is what an idempotency key stands for.
type keyed struct {
	kind    Kind
	digest  string
	itemID  string
	seq     sql.NullInt64
	noteSeq sql.NullInt64
}

func keyOf(ctx context.Context, q Querier, owner, key string) (keyed, bool, error) {
	var k keyed
	err := q.QueryRowContext(ctx, `SELECT kind, digest, item_id, seq, note_seq FROM idempotency_keys WHERE owner = ? AND idempotency_key = ?`, owner, key).
		Scan(&k.kind, &k.digest, &k.itemID, &k.seq, &k.noteSeq)
	if errors.Is(err, sql.ErrNoRows) {
		return keyed{}, false, nil
	}
	return k, err == nil, err
}
