package sidecar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Options bound how a store waits.
type Options struct {
	// Busy is how long a call waits for another writer before ErrBusy; 0 means 5 s.
	Busy time.Duration
}

// file is a sidecar of one contract version in one SQLite file. Helper and app
// processes, also several of each, use the same file at the same time.
type file struct {
	path   string
	schema schema
	busy   time.Duration
	writer *sql.DB // one connection: writers of this process queue here, not on the file
	reader *sql.DB
}

// openFile opens the sidecar at path, creates it where there is none, and lifts
// one of an older version. It keeps the file to its user (0600). Errors:
// *VersionError for a newer version, ErrUnreadable for a damaged or foreign
// file, ErrBusy, ErrStorage.
func openFile(ctx context.Context, path string, o Options, of schema) (*file, error) {
	if path == "" {
		return nil, errors.New("open sidecar: no path given; name a file in an existing folder")
	}
	if o.Busy <= 0 {
		o.Busy = 5 * time.Second
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open sidecar: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open sidecar: %w", err)
	}
	s := &file{path: path, schema: of, busy: o.Busy}
	if s.writer, err = sql.Open("sqlite", s.dsn(false)); err != nil {
		return nil, fmt.Errorf("open sidecar %s: %w", path, err)
	}
	s.writer.SetMaxOpenConns(1)
	if s.reader, err = sql.Open("sqlite", s.dsn(true)); err != nil {
		return nil, errors.Join(fmt.Errorf("open sidecar %s: %w", path, err), s.writer.Close())
	}
	s.reader.SetMaxOpenConns(4)
	s.reader.SetMaxIdleConns(4)
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// dsn names the file as a URI, so that no character of the path is read as an option.
func (s *file) dsn(readOnly bool) string {
	v := url.Values{}
	v.Set("_busy_timeout", fmt.Sprint(s.busy.Milliseconds()))
	v.Set("_synchronous", "FULL") // in WAL mode only FULL makes a commit durable before it is answered
	v.Set("_foreign_keys", "1")
	if readOnly {
		v.Set("_query_only", "1")
	}
	return "file:" + (&url.URL{Path: s.path}).EscapedPath() + "?" + v.Encode()
}

// prepare looks before it writes: a file of another contract version, or one
// that is no sidecar, stays as it is.
func (s *file) prepare(ctx context.Context) error {
	doing := "open sidecar " + s.path
	if err := s.peek(ctx); err != nil {
		return err
	}
	c, err := s.writer.Conn(ctx)
	if err != nil {
		return s.explain(doing, err)
	}
	defer c.Close()
	var found int
	err = s.untilFree(ctx, func() (err error) {
		found, err = versionOf(ctx, c)
		return err
	})
	if err != nil {
		return s.explain(doing, err)
	}
	if found > s.schema.version {
		return s.disagree(found)
	}
	// SQLite does not call its busy handler for a change of the journal mode.
	err = s.untilFree(ctx, func() error {
		var mode string
		if err := c.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
			return err
		}
		if mode != "wal" {
			return fmt.Errorf("%w: journal mode is %q, expected wal; put the file on a local file system", ErrStorage, mode)
		}
		return nil
	})
	if err != nil {
		return s.explain(doing, err)
	}
	if found == s.schema.version {
		return nil
	}
	err = inTransaction(ctx, c, func(ctx context.Context) error { return s.settleSchema(ctx, c) })
	if err != nil {
		return s.explain(doing, err)
	}
	// The file itself says from now on that it is a sidecar: a lost or cut WAL
	// can not make it look like one that was never used. Another process that
	// reads just now only puts this off.
	_, err = c.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	return s.explain(doing, err)
}

// peek refuses a newer sidecar whose owner was killed over a connection that can
// not write: an ordinary one would fold the WAL into the file as it closes.
func (s *file) peek(ctx context.Context) error {
	if wal, err := os.Stat(s.path + "-wal"); err != nil || wal.Size() == 0 {
		return nil // an ordinary connection changes nothing
	}
	db, err := sql.Open("sqlite", s.dsn(true)+"&mode=ro")
	if err != nil {
		return fmt.Errorf("open sidecar %s: %w", s.path, err)
	}
	defer db.Close()
	found, err := versionOf(ctx, db)
	if err == nil && found > s.schema.version {
		return s.disagree(found)
	}
	return nil // whatever else it is, the ordinary way says it better
}

// untilFree repeats what another process's lock turned away, as busy_timeout
// does for ordinary statements.
func (s *file) untilFree(ctx context.Context, do func() error) error {
	deadline := time.Now().Add(s.busy)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		err := do()
		if !isBusy(err) || !time.Now().Before(deadline) {
			return err
		}
		pause.Reset(2 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close gives the file back; the last one to close leaves no WAL behind.
func (s *file) Close() error {
	return errors.Join(s.reader.Close(), s.writer.Close())
}

// write runs do as one immediate transaction. Once begun it is not cut short by
// ctx, so that a cancelled call is wholly stored or not at all.
func (s *file) write(ctx context.Context, doing string, do func(context.Context, conn) error) error {
	turn, cancel := context.WithTimeout(ctx, s.busy)
	c, err := s.writer.Conn(turn)
	cancel()
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = ErrBusy
		}
		return s.explain(doing, err)
	}
	defer c.Close()
	return s.explain(doing, inTransaction(ctx, c, func(ctx context.Context) error {
		if err := s.agree(ctx, c); err != nil {
			return err
		}
		return do(ctx, c)
	}))
}

// agree says whether the file is still of this version: a newer process may have
// lifted it since it was opened (WR-31).
func (s *file) agree(ctx context.Context, q Querier) error {
	found, err := versionOf(ctx, q)
	if err == nil && found != s.schema.version {
		return s.disagree(found)
	}
	return err
}

func (s *file) disagree(found int) error {
	return &VersionError{Path: s.path, Found: found, Supported: s.schema.version}
}

// inTransaction begins (waiting for other writers), runs do, and commits.
func inTransaction(ctx context.Context, c conn, do func(context.Context) error) (err error) {
	whole := context.WithoutCancel(ctx)
	defer func() {
		if err != nil {
			// It fails only where no transaction is left to roll back.
			_, _ = c.ExecContext(whole, `ROLLBACK`)
		}
	}()
	if _, err := c.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := do(whole); err != nil {
		return err
	}
	_, err = c.ExecContext(whole, `COMMIT`)
	return err
}

// explain turns SQLite's result codes into the store's errors by structure; no
// raw storage error reaches a caller (WR-16, WR-32, WR-33).
func (s *file) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	var version *VersionError
	if errors.As(err, &version) {
		return version
	}
	var raw *sqlite.Error
	if !errors.As(err, &raw) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	switch raw.Code() & 0xff {
	case sqlite3.SQLITE_INTERRUPT:
		return fmt.Errorf("%s: %w; nothing was stored", doing, context.Canceled)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%s: %w: another writer held %s for %v; nothing was stored, try again", doing, ErrBusy, s.path, s.busy)
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%s: %w: %v; nothing was stored, see to room and permissions at %s", doing, ErrStorage, raw, s.path)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%s: %w: %v; %s was left as it is, restore it from a copy", doing, ErrUnreadable, raw, s.path)
	default:
		// Tables that are not as expected are those of another version.
		if err := s.agree(context.Background(), s.reader); errors.As(err, &version) {
			return version
		}
		return fmt.Errorf("%s: sidecar %s refused it: %v; nothing was stored", doing, s.path, raw)
	}
}

func isBusy(err error) bool {
	var raw *sqlite.Error
	if !errors.As(err, &raw) {
		return false
	}
	code := raw.Code() & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}
