package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

const (
	draftColumns   = `draft, owner, revision, status, destination, purpose, starts, ends`
	receiptColumns = `command_id, draft, owner, kind, digest, from_revision, to_revision, result`
)

// Plant stores drafts of which there is none yet.
func (s *Store) Plant(ctx context.Context, drafts []ports.Draft) error {
	return s.inTransaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		for _, d := range drafts {
			_, err := tx.Exec(ctx, `INSERT INTO drafts (`+draftColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (draft) DO NOTHING`,
				d.Draft, d.Owner, d.Revision, d.Status, d.Destination, d.Purpose, d.Starts, d.Ends)
			if err != nil {
				return fmt.Errorf("plant draft %q: %w", d.Draft, s.explain(err))
			}
		}
		return nil
	})
}

// Drafts lists a user's drafts by name, in the order of its bytes.
func (s *Store) Drafts(ctx context.Context, owner string) (all []ports.Draft, err error) {
	err = s.connected(s.reader, func() error {
		rows, err := s.reader.Query(ctx, `SELECT `+draftColumns+` FROM drafts WHERE owner = $1 ORDER BY draft COLLATE "C"`, owner)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ports.Draft, error) { return scanDraft(row) })
		return err
	})
	return all, s.explain(err)
}

// Draft reads a draft, whoever's it is.
func (s *Store) Draft(ctx context.Context, draft string) (d ports.Draft, err error) {
	err = s.connected(s.reader, func() error {
		d, err = readDraft(ctx, s.reader, draft)
		return err
	})
	return d, s.explain(err)
}

// Receipt reads the receipt of an owner's command on a draft.
func (s *Store) Receipt(ctx context.Context, owner, draft, command string) (r ports.Receipt, err error) {
	err = s.connected(s.reader, func() error {
		r, err = scanReceipt(s.reader.QueryRow(ctx, `SELECT `+receiptColumns+` FROM receipts WHERE owner = $1 AND command_id = $2 AND draft = $3`, owner, command, draft))
		return err
	})
	return r, s.explain(err)
}

// Change runs do as one transaction.
func (s *Store) Change(ctx context.Context, do func(context.Context, ports.Tx) error) error {
	return s.inTransaction(ctx, func(ctx context.Context, tx pgx.Tx) error { return do(ctx, transaction{s, tx}) })
}

// transaction is open on its connection.
type transaction struct {
	of *Store
	tx pgx.Tx
}

func (t transaction) Draft(ctx context.Context, draft string) (ports.Draft, error) {
	d, err := readDraft(ctx, t.tx, draft)
	return d, t.of.explain(err)
}

func (t transaction) Receipt(ctx context.Context, owner, command string) (ports.Receipt, error) {
	r, err := scanReceipt(t.tx.QueryRow(ctx, `SELECT `+receiptColumns+` FROM receipts WHERE owner = $1 AND command_id = $2`, owner, command))
	return r, t.of.explain(err)
}

func (t transaction) Fenced(ctx context.Context, owner, command string) (fenced bool, err error) {
	err = t.tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM fences WHERE owner = $1 AND command_id = $2)`, owner, command).Scan(&fenced)
	return fenced, t.of.explain(err)
}

func (t transaction) SaveDraft(ctx context.Context, d ports.Draft) error {
	done, err := t.tx.Exec(ctx, `UPDATE drafts SET revision = $1, status = $2, destination = $3, purpose = $4, starts = $5, ends = $6 WHERE draft = $7`,
		d.Revision, d.Status, d.Destination, d.Purpose, d.Starts, d.Ends, d.Draft)
	if err == nil && done.RowsAffected() != 1 {
		err = ports.ErrNoDraft
	}
	return t.of.explain(err)
}

func (t transaction) StoreReceipt(ctx context.Context, r ports.Receipt) error {
	_, err := t.tx.Exec(ctx, `INSERT INTO receipts (`+receiptColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		r.CommandID, r.Draft, r.Owner, r.Kind, r.Digest, r.From, r.To, string(r.Result))
	return t.of.explain(err)
}

func (t transaction) Fence(ctx context.Context, owner, draft, command string) error {
	_, err := t.tx.Exec(ctx, `INSERT INTO fences (command_id, draft, owner) VALUES ($1, $2, $3) ON CONFLICT (owner, command_id) DO NOTHING`, command, draft, owner)
	return t.of.explain(err)
}

func readDraft(ctx context.Context, q querier, draft string) (ports.Draft, error) {
	d, err := scanDraft(q.QueryRow(ctx, `SELECT `+draftColumns+` FROM drafts WHERE draft = $1`, draft))
	if errors.Is(err, pgx.ErrNoRows) {
		return ports.Draft{}, ports.ErrNoDraft
	}
	return d, err
}

func scanDraft(row pgx.Row) (d ports.Draft, err error) {
	err = row.Scan(&d.Draft, &d.Owner, &d.Revision, &d.Status, &d.Destination, &d.Purpose, &d.Starts, &d.Ends)
	return d, err
}

func scanReceipt(row pgx.Row) (r ports.Receipt, err error) {
	var result string
	err = row.Scan(&r.CommandID, &r.Draft, &r.Owner, &r.Kind, &r.Digest, &r.From, &r.To, &result)
	if errors.Is(err, pgx.ErrNoRows) {
		return ports.Receipt{}, ports.ErrNoReceipt
	}
	r.Result = []byte(result)
	return r, err
}

// AddSession stores a session under the digest of its token.
func (s *Store) AddSession(ctx context.Context, digest, owner string, began time.Time) error {
	return s.write(ctx, `INSERT INTO sessions (digest, owner, began) VALUES ($1, $2, $3)`, digest, owner, began.UnixMilli())
}

// Session reads whose session it is and when it began.
func (s *Store) Session(ctx context.Context, digest string) (owner string, began time.Time, err error) {
	var ms int64
	err = s.connected(s.reader, func() error {
		return s.reader.QueryRow(ctx, `SELECT owner, began FROM sessions WHERE digest = $1`, digest).Scan(&owner, &ms)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", time.Time{}, ports.ErrNoSession
	}
	return owner, time.UnixMilli(ms), s.explain(err)
}

// RemoveSession removes a session.
func (s *Store) RemoveSession(ctx context.Context, digest string) error {
	return s.write(ctx, `DELETE FROM sessions WHERE digest = $1`, digest)
}

// RemoveSessions removes all sessions of an owner.
func (s *Store) RemoveSessions(ctx context.Context, owner string) error {
	return s.write(ctx, `DELETE FROM sessions WHERE owner = $1`, owner)
}

func (s *Store) write(ctx context.Context, statement string, args ...any) error {
	return s.inTransaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return s.explain(err)
	})
}
