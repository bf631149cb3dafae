package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

const (
	draftColumns   = `draft, owner, revision, status, destination, purpose, starts, ends`
	receiptColumns = `command_id, draft, owner, kind, digest, from_revision, to_revision, result`
)

// Plant stores drafts of which there is none yet.
func (s *Store) Plant(ctx context.Context, drafts []ports.Draft) error {
	return s.inTransaction(ctx, func(ctx context.Context, tx *sql.Conn) error {
		for _, d := range drafts {
			_, err := tx.ExecContext(ctx, `INSERT INTO drafts (`+draftColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (draft) DO NOTHING`,
				d.Draft, d.Owner, d.Revision, d.Status, d.Destination, d.Purpose, d.Starts, d.Ends)
			if err != nil {
				return fmt.Errorf("plant draft %q: %w", d.Draft, s.explain(err))
			}
		}
		return nil
	})
}

// Drafts lists a user's drafts by name.
func (s *Store) Drafts(ctx context.Context, owner string) ([]ports.Draft, error) {
	rows, err := s.reader.QueryContext(ctx, `SELECT `+draftColumns+` FROM drafts WHERE owner = ? ORDER BY draft`, owner)
	if err != nil {
		return nil, s.explain(err)
	}
	defer rows.Close()
	all := []ports.Draft{}
	for rows.Next() {
		d, err := scanDraft(rows)
		if err != nil {
			return nil, s.explain(err)
		}
		all = append(all, d)
	}
	return all, s.explain(rows.Err())
}

// Draft reads a draft, whoever's it is.
func (s *Store) Draft(ctx context.Context, draft string) (ports.Draft, error) {
	d, err := readDraft(ctx, s.reader, draft)
	return d, s.explain(err)
}

// Receipt reads the receipt of an owner's command on a draft.
func (s *Store) Receipt(ctx context.Context, owner, draft, command string) (ports.Receipt, error) {
	r, err := scanReceipt(s.reader.QueryRowContext(ctx, `SELECT `+receiptColumns+` FROM receipts WHERE owner = ? AND command_id = ? AND draft = ?`, owner, command, draft))
	return r, s.explain(err)
}

// Change runs do as one transaction.
func (s *Store) Change(ctx context.Context, do func(context.Context, ports.Tx) error) error {
	return s.inTransaction(ctx, func(ctx context.Context, tx *sql.Conn) error { return do(ctx, transaction{s, tx}) })
}

// transaction is open on its connection.
type transaction struct {
	of *Store
	tx *sql.Conn
}

func (t transaction) Draft(ctx context.Context, draft string) (ports.Draft, error) {
	d, err := readDraft(ctx, t.tx, draft)
	return d, t.of.explain(err)
}

func (t transaction) Receipt(ctx context.Context, owner, command string) (ports.Receipt, error) {
	r, err := scanReceipt(t.tx.QueryRowContext(ctx, `SELECT `+receiptColumns+` FROM receipts WHERE owner = ? AND command_id = ?`, owner, command))
	return r, t.of.explain(err)
}

func (t transaction) Fenced(ctx context.Context, owner, command string) (fenced bool, err error) {
	err = t.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM fences WHERE owner = ? AND command_id = ?)`, owner, command).Scan(&fenced)
	return fenced, t.of.explain(err)
}

func (t transaction) SaveDraft(ctx context.Context, d ports.Draft) error {
	done, err := t.tx.ExecContext(ctx, `UPDATE drafts SET revision = ?, status = ?, destination = ?, purpose = ?, starts = ?, ends = ? WHERE draft = ?`,
		d.Revision, d.Status, d.Destination, d.Purpose, d.Starts, d.Ends, d.Draft)
	if err != nil {
		return t.of.explain(err)
	}
	n, err := done.RowsAffected()
	if err == nil && n != 1 {
		err = ports.ErrNoDraft
	}
	return t.of.explain(err)
}

func (t transaction) StoreReceipt(ctx context.Context, r ports.Receipt) error {
	_, err := t.tx.ExecContext(ctx, `INSERT INTO receipts (`+receiptColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		r.CommandID, r.Draft, r.Owner, r.Kind, r.Digest, r.From, r.To, string(r.Result))
	return t.of.explain(err)
}

func (t transaction) Fence(ctx context.Context, owner, draft, command string) error {
	_, err := t.tx.ExecContext(ctx, `INSERT INTO fences (command_id, draft, owner) VALUES (?, ?, ?) ON CONFLICT (owner, command_id) DO NOTHING`, command, draft, owner)
	return t.of.explain(err)
}

func readDraft(ctx context.Context, q querier, draft string) (ports.Draft, error) {
	d, err := scanDraft(q.QueryRowContext(ctx, `SELECT `+draftColumns+` FROM drafts WHERE draft = ?`, draft))
	if errors.Is(err, sql.ErrNoRows) {
		return ports.Draft{}, ports.ErrNoDraft
	}
	return d, err
}

func scanDraft(row interface{ Scan(...any) error }) (d ports.Draft, err error) {
	err = row.Scan(&d.Draft, &d.Owner, &d.Revision, &d.Status, &d.Destination, &d.Purpose, &d.Starts, &d.Ends)
	return d, err
}

func scanReceipt(row *sql.Row) (r ports.Receipt, err error) {
	var result string
	err = row.Scan(&r.CommandID, &r.Draft, &r.Owner, &r.Kind, &r.Digest, &r.From, &r.To, &result)
	if errors.Is(err, sql.ErrNoRows) {
		return ports.Receipt{}, ports.ErrNoReceipt
	}
	r.Result = []byte(result)
	return r, err
}

// AddSession stores a session under the digest of its token.
func (s *Store) AddSession(ctx context.Context, digest, owner string, began time.Time) error {
	return s.write(ctx, `INSERT INTO sessions (digest, owner, began) VALUES (?, ?, ?)`, digest, owner, began.UnixMilli())
}

// Session reads whose session it is and when it began.
func (s *Store) Session(ctx context.Context, digest string) (owner string, began time.Time, err error) {
	var ms int64
	err = s.reader.QueryRowContext(ctx, `SELECT owner, began FROM sessions WHERE digest = ?`, digest).Scan(&owner, &ms)
	if errors.Is(err, sql.ErrNoRows) {
		return "", time.Time{}, ports.ErrNoSession
	}
	return owner, time.UnixMilli(ms), s.explain(err)
}

// RemoveSession removes a session.
func (s *Store) RemoveSession(ctx context.Context, digest string) error {
	return s.write(ctx, `DELETE FROM sessions WHERE digest = ?`, digest)
}

// RemoveSessions removes all sessions of an owner.
func (s *Store) RemoveSessions(ctx context.Context, owner string) error {
	return s.write(ctx, `DELETE FROM sessions WHERE owner = ?`, owner)
}

func (s *Store) write(ctx context.Context, statement string, args ...any) error {
	return s.inTransaction(ctx, func(ctx context.Context, tx *sql.Conn) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return s.explain(err)
	})
}
