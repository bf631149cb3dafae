package library

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Journal leaves, in the transaction of a write, its sync envelope and its
// refresh event.
type Journal interface {
	Record(ctx context.Context, tx *sql.Tx, w Write) error
}

// Write is one write as its journal sees it.
type Write struct {
	ItemID    string
	Owner     string
	Revision  int64
	Operation Operation
	Body      []byte // what other devices need to follow, sealed; nil on Deleted
}

type journal struct{}

func (journal) Record(ctx context.Context, tx *sql.Tx, w Write) error {
	if _, err := tx.ExecContext(ctx, "INSERT INTO envelopes (item_id, revision, operation, owner, body) VALUES (?, ?, ?, ?, ?)",
		w.ItemID, w.Revision, w.Operation, w.Owner, w.Body); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO events (item_id, revision, operation) VALUES (?, ?, ?)", w.ItemID, w.Revision, w.Operation)
	return err
}

// Create adds an item. A mark that was already applied writes nothing and is no
// error. Errors: ErrExists, ErrForeign, ErrAccountChanged, ErrBusy, ErrFull.
func (l *Library) Create(ctx context.Context, g Grant, m Mark, d Draft) error {
	err := l.write(ctx, g, func(tx *sql.Tx) error {
		if done, err := marked(ctx, tx, m); done || err != nil {
			return err
		}
		switch _, err := revisionOf(ctx, tx, g, m.ItemID); {
		case err == nil:
			return ErrExists
		case !errors.Is(err, ErrNoItem):
			return err
		}
		title, err := seal(g.Key, m.ItemID, "title", []byte(d.Title))
		if err != nil {
			return err
		}
		const first = 1
		if _, err := tx.ExecContext(ctx, "INSERT INTO items (item_id, owner, title, revision) VALUES (?, ?, ?, ?)", m.ItemID, g.Account, title, first); err != nil {
			return err
		}
		if err := tag(ctx, tx, m.ItemID, d.Status, first); err != nil {
			return err
		}
		return l.leave(ctx, tx, g, Write{ItemID: m.ItemID, Revision: first, Operation: Created}, d)
	})
	return about("creating", m.ItemID, err)
}

// Update changes an item. A mark that was already applied writes nothing and is
// no error. Errors: ErrNoItem, ErrForeign, ErrAccountChanged, ErrBusy, ErrFull.
func (l *Library) Update(ctx context.Context, g Grant, m Mark, c Change) error {
	err := l.write(ctx, g, func(tx *sql.Tx) error {
		if done, err := marked(ctx, tx, m); done || err != nil {
			return err
		}
		revision, err := revisionOf(ctx, tx, g, m.ItemID)
		if err != nil {
			return err
		}
		revision++
		if _, err := tx.ExecContext(ctx, "UPDATE items SET revision = ? WHERE item_id = ?", revision, m.ItemID); err != nil {
			return err
		}
		if c.Note != nil {
			if err := addNote(ctx, tx, g, m, revision, *c.Note); err != nil {
				return err
			}
		}
		if c.Status != "" {
			if err := tag(ctx, tx, m.ItemID, c.Status, revision); err != nil {
				return err
			}
		}
		return l.leave(ctx, tx, g, Write{ItemID: m.ItemID, Revision: revision, Operation: Updated}, c)
	})
	return about("updating", m.ItemID, err)
}

// Delete removes an item and its notes. Errors: ErrNoItem, ErrForeign,
// ErrAccountChanged, ErrBusy, ErrFull.
func (l *Library) Delete(ctx context.Context, g Grant, itemID string) error {
	err := l.write(ctx, g, func(tx *sql.Tx) error {
		revision, err := revisionOf(ctx, tx, g, itemID)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM items WHERE item_id = ?", itemID); err != nil {
			return err
		}
		return l.leave(ctx, tx, g, Write{ItemID: itemID, Revision: revision + 1, Operation: Deleted}, nil)
	})
	return about("deleting", itemID, err)
}

// write runs one write and asks, last of all, whether its grant still holds.
func (l *Library) write(ctx context.Context, g Grant, do func(*sql.Tx) error) error {
	return l.inTransaction(ctx, func(tx *sql.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		if g.Holds != nil && !g.Holds() {
			return ErrAccountChanged
		}
		return nil
	})
}

func (l *Library) leave(ctx context.Context, tx *sql.Tx, g Grant, w Write, content any) error {
	w.Owner = g.Account
	if content != nil {
		raw, err := json.Marshal(content)
		if err != nil {
			return err
		}
		if w.Body, err = seal(g.Key, w.ItemID, place("envelope", w.Revision), raw); err != nil {
			return err
		}
	}
	return l.Journal.Record(ctx, tx, w)
}

// marked claims a mark; true means that its write is already there.
func marked(ctx context.Context, tx *sql.Tx, m Mark) (bool, error) {
	result, err := tx.ExecContext(ctx, "INSERT INTO applied (item_id, seq) VALUES (?, ?) ON CONFLICT DO NOTHING", m.ItemID, m.Seq)
	if err != nil {
		return false, err
	}
	added, err := result.RowsAffected()
	return added == 0, err
}

func revisionOf(ctx context.Context, tx *sql.Tx, g Grant, itemID string) (int64, error) {
	var owner string
	var revision int64
	err := tx.QueryRowContext(ctx, "SELECT owner, revision FROM items WHERE item_id = ?", itemID).Scan(&owner, &revision)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrNoItem
	case err != nil:
		return 0, err
	case owner != g.Account:
		return 0, ErrForeign
	}
	return revision, nil
}

// tag removes the old status and sets the new one, in this order, because the
// database itself refuses a second one.
func tag(ctx context.Context, tx *sql.Tx, itemID, status string, revision int64) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM tags WHERE item_id = ? AND tag LIKE 'status:%'", itemID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO tags (item_id, tag, revision) VALUES (?, ?, ?)", itemID, statusTag+status, revision)
	return err
}

const statusTag = "status:"

func addNote(ctx context.Context, tx *sql.Tx, g Grant, m Mark, revision int64, n Note) error {
	itemID := m.ItemID
	text, err := seal(g.Key, itemID, place("note", revision), []byte(n.Text))
	if err != nil {
		return err
	}
	var name, content []byte
	if n.Attachment != nil {
		if name, err = seal(g.Key, itemID, place("attachment name", revision), []byte(n.Attachment.Name)); err != nil {
			return err
		}
		if content, err = seal(g.Key, itemID, place("attachment", revision), n.Attachment.Content); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO notes (item_id, revision, seq, text, attachment_name, attachment) VALUES (?, ?, ?, ?, ?, ?)", itemID, revision, m.Seq, text, name, content)
	return err
}

func place(field string, revision int64) string {
	return field + " of revision " + strconv.FormatInt(revision, 10)
}

func about(doing, itemID string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s item %s: %w", doing, itemID, err)
}
