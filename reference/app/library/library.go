package library

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Library is the SQLite library. It is safe for concurrent use.
type Library struct {
	// Journal keeps the envelope and the event of each write.
	Journal Journal

	writer *sql.DB // one connection: a write waits for the one before it
	reader *sql.DB
}

// Path is the database file behind a LIBRARY setting, which names either a
// .db file or a folder.
func Path(setting string) string {
	if strings.HasSuffix(setting, ".db") {
		return setting
	}
	return filepath.Join(setting, "library.db")
}

// busyTimeout bounds, in ms, how long a write waits for another writer before
// it is ErrBusy. It is short, because the executor tries the same intent again.
const busyTimeout = 25

// Open opens the library at a path (see Path), creating it if it is not there.
func Open(ctx context.Context, path string) (*Library, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("opening the library: %w", err)
	}
	// SQLite gives its side files the mode of the main one.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the library: %w", err)
	}
	file.Close()
	l := &Library{Journal: journal{}}
	if l.writer, err = sql.Open("sqlite", source(path, "_txlock=immediate&_pragma=synchronous(FULL)")); err != nil {
		return nil, fmt.Errorf("opening the library %s: %w", path, err)
	}
	l.writer.SetMaxOpenConns(1)
	if l.reader, err = sql.Open("sqlite", source(path, "_pragma=query_only(1)")); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the library %s: %w", path, err), l.writer.Close())
	}
	l.reader.SetMaxOpenConns(4)
	if err := l.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the library %s: %w", path, err), l.Close())
	}
	return l, nil
}

// source names the file as a URI, so that no character of the path is read as an option.
func source(path, options string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() +
		fmt.Sprintf("?_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)&%s", busyTimeout, options)
}

// prepare makes the tables of a new library. A library that has them is only
// read, so that the app starts while another writer holds it.
func (l *Library) prepare(ctx context.Context) error {
	var version int
	if err := l.writer.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return structured(err)
	}
	switch {
	case version == schemaVersion:
		return nil
	case version != 0:
		return fmt.Errorf("it has schema version %d, this app reads %d: use the app that wrote it", version, schemaVersion)
	}
	if _, err := l.writer.ExecContext(ctx, "PRAGMA journal_mode=WAL"); err != nil {
		return structured(err)
	}
	return l.inTransaction(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d", schemaVersion))
		return err
	})
}

// Close lets go of the files.
func (l *Library) Close() error { return errors.Join(l.reader.Close(), l.writer.Close()) }

func (l *Library) inTransaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := l.writer.BeginTx(ctx, nil)
	if err != nil {
		return structured(err)
	}
	if err := do(tx); err != nil {
		// The cause matters; the connection is dropped if it cannot roll back.
		_ = tx.Rollback()
		return structured(err)
	}
	return structured(tx.Commit())
}

// structured turns what SQLite says into the package's errors.
func structured(err error) error {
	var said *sqlite.Error
	if !errors.As(err, &said) {
		return err
	}
	switch said.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
