// Package sqlite keeps trips in one SQLite file.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// Store is a ports.Database in a file. It keeps to one transaction at a time, with
// BEGIN IMMEDIATE. It is safe for concurrent use, also by
// several processes.
type Store struct {
	path   string
	writer *sql.DB // one connection: a Change waits here for the one before it
	reader *sql.DB
}

// busy is how long a transaction waits for another process's.
const busy = 5 * time.Second

// Open opens the file at a path, and makes it, for its user alone, where there is none.
func Open(ctx context.Context, path string) (*Store, error) {
	doing := "open the trips at " + path
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	// SQLite gives its side files the mode of the main one.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	s := &Store{path: path}
	if s.writer, err = sql.Open("sqlite", s.source("")); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	s.writer.SetMaxOpenConns(1)
	if s.reader, err = sql.Open("sqlite", s.source("&_pragma=query_only(1)")); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", doing, err), s.writer.Close())
	}
	s.reader.SetMaxOpenConns(4)
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", doing, err), s.Close())
	}
	return s, nil
}

// source names the file as a URI, so that no character of the path is read as an
// option. In WAL mode only FULL makes a commit durable before it is answered.
func (s *Store) source(options string) string {
	return "file:" + (&url.URL{Path: s.path}).EscapedPath() +
		fmt.Sprintf("?_pragma=busy_timeout(%d)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)%s", busy.Milliseconds(), options)
}

func (s *Store) prepare(ctx context.Context) error {
	var version int
	if err := s.writer.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return s.explain(err)
	}
	var mode string
	if err := s.writer.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return s.explain(err)
	}
	if mode != "wal" {
		return fmt.Errorf("its journal mode is %q, expected wal; put it on a local file system", mode)
	}
	return s.inTransaction(ctx, func(ctx context.Context, tx *sql.Conn) error {
		if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
			return err
		}
		switch version {
		case schemaVersion:
			return nil
		case 0:
			if _, err := tx.ExecContext(ctx, SchemaSQL); err != nil {
				return fmt.Errorf("make its tables: %w; name a file that is new, or one of a trips server", err)
			}
			_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, schemaVersion))
			return err
		}
		return fmt.Errorf("it has schema version %d, this server reads %d: use the server that wrote it", version, schemaVersion)
	})
}

// Close lets go of the file.
func (s *Store) Close() error { return errors.Join(s.reader.Close(), s.writer.Close()) }

// inTransaction runs do as one transaction, whole or not at all, that waits for
// every other writer before it begins. Errors of do come back as they are.
func (s *Store) inTransaction(ctx context.Context, do func(context.Context, *sql.Conn) error) (err error) {
	c, err := s.writer.Conn(ctx)
	if err != nil {
		return s.explain(err)
	}
	defer c.Close()
	whole := context.WithoutCancel(ctx)
	committed := false
	defer func() {
		// Also where do panics, the commit failed and left the transaction open, or it
		// began just as ctx ended.
		if !committed {
			_, _ = c.ExecContext(whole, `ROLLBACK`) // it fails only where none is open
		}
	}()
	if _, err := c.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return s.explain(err)
	}
	if err := do(whole, c); err != nil {
		return err
	}
	if _, err := c.ExecContext(whole, `COMMIT`); err != nil {
		return s.explain(err)
	}
	committed = true
	return nil
}

// explain makes every error but the answers of the ports an ErrStore.
func (s *Store) explain(err error) error {
	var said *sqlite.Error
	switch {
	case err == nil, errors.Is(err, ports.ErrNoDraft), errors.Is(err, ports.ErrNoReceipt), errors.Is(err, ports.ErrNoSession), errors.Is(err, ports.ErrStore):
		return err
	case errors.As(err, &said) && said.Code()&0xff == sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%w: another writer held %s for %v; nothing was stored, try again", ports.ErrStore, s.path, busy)
	case errors.As(err, &said) && said.Code()&0xff == sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: there is no room at %s: %w; nothing was stored, make room and try again", ports.ErrStore, s.path, err)
	}
	return fmt.Errorf("%w: %s: %w; nothing was stored", ports.ErrStore, s.path, err)
}
