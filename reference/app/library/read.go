package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Done says whether the write of a mark is already in the library.
func (l *Library) Done(ctx context.Context, m Mark) (bool, error) {
	var n int
	err := l.reader.QueryRowContext(ctx, "SELECT count(*) FROM applied WHERE item_id = ? AND seq = ?", m.ItemID, m.Seq).Scan(&n)
	return n > 0, structured(err)
}

// Present says whether the item exists, whoever owns it. It needs no key.
func (l *Library) Present(ctx context.Context, itemID string) (bool, error) {
	var n int
	err := l.reader.QueryRowContext(ctx, "SELECT count(*) FROM items WHERE item_id = ?", itemID).Scan(&n)
	return n > 0, structured(err)
}

// Item reads one item. Errors: ErrNoItem, ErrForeign, ErrSealed.
func (l *Library) Item(ctx context.Context, g Grant, itemID string) (Item, error) {
	var found Item
	err := l.look(ctx, func(tx *sql.Tx) error {
		var title []byte
		err := tx.QueryRowContext(ctx, "SELECT item_id, owner, title, revision FROM items WHERE item_id = ?", itemID).
			Scan(&found.ID, &found.Owner, &title, &found.Revision)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return ErrNoItem
		case err != nil:
			return err
		case found.Owner != g.Account:
			return ErrForeign
		}
		return fill(ctx, tx, g, &found, title)
	})
	if err != nil {
		return Item{}, about("reading", itemID, err)
	}
	return found, nil
}

// Items reads every item of the grant's account, in the order of creation.
func (l *Library) Items(ctx context.Context, g Grant) ([]Item, error) {
	var all []Item
	err := l.look(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT item_id, owner, title, revision FROM items WHERE owner = ? ORDER BY position", g.Account)
		if err != nil {
			return err
		}
		defer rows.Close()
		var titles [][]byte
		for rows.Next() {
			var item Item
			var title []byte
			if err := rows.Scan(&item.ID, &item.Owner, &title, &item.Revision); err != nil {
				return err
			}
			all, titles = append(all, item), append(titles, title)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for i := range all {
			if err := fill(ctx, tx, g, &all[i], titles[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the items of account %s: %w", g.Account, err)
	}
	return all, nil
}

// fill adds what an item has in other tables.
func fill(ctx context.Context, tx *sql.Tx, g Grant, item *Item, title []byte) error {
	raw, err := open(g.Key, item.ID, "title", title)
	if err != nil {
		return err
	}
	item.Title = string(raw)
	if item.Statuses, err = statuses(ctx, tx, item.ID); err != nil {
		return err
	}
	item.Notes, err = notes(ctx, tx, g, item.ID)
	return err
}

func statuses(ctx context.Context, tx *sql.Tx, itemID string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT tag FROM tags WHERE item_id = ? AND tag LIKE 'status:%' ORDER BY tag", itemID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var tag string
		if err := rows.Scan(&tag); err != nil {
			return nil, err
		}
		all = append(all, strings.TrimPrefix(tag, statusTag))
	}
	return all, rows.Err()
}

func notes(ctx context.Context, tx *sql.Tx, g Grant, itemID string) ([]Note, error) {
	rows, err := tx.QueryContext(ctx, "SELECT revision, seq, text, attachment_name, attachment FROM notes WHERE item_id = ? ORDER BY revision", itemID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Note
	for rows.Next() {
		var revision, seq int64
		var text, name, content []byte
		if err := rows.Scan(&revision, &seq, &text, &name, &content); err != nil {
			return nil, err
		}
		note, err := openNote(g, itemID, revision, text, name, content)
		if err != nil {
			return nil, err
		}
		note.Seq = seq
		all = append(all, note)
	}
	return all, rows.Err()
}

func openNote(g Grant, itemID string, revision int64, text, name, content []byte) (Note, error) {
	raw, err := open(g.Key, itemID, place("note", revision), text)
	if err != nil {
		return Note{}, err
	}
	note := Note{Text: string(raw)}
	if name == nil {
		return note, nil
	}
	if raw, err = open(g.Key, itemID, place("attachment name", revision), name); err != nil {
		return Note{}, err
	}
	note.Attachment = &Attachment{Name: string(raw)}
	note.Attachment.Content, err = open(g.Key, itemID, place("attachment", revision), content)
	return note, err
}

// Log reads what the library keeps of its writes, in one snapshot.
func (l *Library) Log(ctx context.Context) (Log, error) {
	var log Log
	err := l.look(ctx, func(tx *sql.Tx) error {
		for table, into := range map[string]*[]Entry{"writes": &log.Writes, "envelopes": &log.Envelopes, "events": &log.Events} {
			if err := entries(ctx, tx, table, into); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Log{}, fmt.Errorf("reading the library's log: %w", err)
	}
	return log, nil
}

func entries(ctx context.Context, tx *sql.Tx, table string, into *[]Entry) error {
	rows, err := tx.QueryContext(ctx, "SELECT seq, item_id, revision, operation FROM "+table+" ORDER BY seq")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e Entry
		if err := rows.Scan(&e.Seq, &e.ItemID, &e.Revision, &e.Operation); err != nil {
			return err
		}
		*into = append(*into, e)
	}
	return rows.Err()
}

// look reads in one snapshot.
func (l *Library) look(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := l.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return structured(err)
	}
	// Nothing was changed, so there is nothing that a failed rollback could lose.
	defer func() { _ = tx.Rollback() }()
	return structured(do(tx))
}

// Locked says whether its user has closed the library to commands. It survives
// a restart. What the person does is not a command and goes on.
func (l *Library) Locked(ctx context.Context) (bool, error) {
	var n int
	err := l.reader.QueryRowContext(ctx, "SELECT count(*) FROM settings WHERE name = 'locked'").Scan(&n)
	return n > 0, structured(err)
}

// SetLocked closes or opens the library to commands. It is no write to a record.
func (l *Library) SetLocked(ctx context.Context, locked bool) error {
	return l.inTransaction(ctx, func(tx *sql.Tx) error {
		if !locked {
			_, err := tx.ExecContext(ctx, "DELETE FROM settings WHERE name = 'locked'")
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO settings (name, value) VALUES ('locked', 'by its user') ON CONFLICT DO NOTHING")
		return err
	})
}
