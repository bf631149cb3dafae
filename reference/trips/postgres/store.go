// Package postgres keeps trips in a PostgreSQL database, in the tables of package
// sqlite and by the same rules.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// Store is a ports.Database in a PostgreSQL. It keeps to one transaction at a time: a
// Change locks the tables against every other writer before it looks at anything, so
// that what it found stays so, without isolation levels that would have it run again.
// It is safe for concurrent use, also by several processes, and goes on when the
// database has been restarted.
type Store struct {
	name   string        // for errors, without the password
	writer *pgxpool.Pool // one connection: a Change waits here for the one before it
	reader *pgxpool.Pool
}

const (
	// busy is how long a transaction waits for another process's.
	busy = 5 * time.Second
	// patience is how long a connection may take, and a transaction from its begin.
	patience = 30 * time.Second
)

// Open opens the database that a DSN names, and makes its tables where there are
// none. No error repeats the DSN, which can hold a password.
func Open(ctx context.Context, dsn string) (*Store, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("open the trips in PostgreSQL: its address cannot be read; expected postgres://USER@HOST:PORT/DATABASE")
	}
	at := config.ConnConfig
	s := &Store{name: fmt.Sprintf("PostgreSQL %s:%d/%s", at.Host, at.Port, at.Database)}
	doing := "open the trips in " + s.name
	if at.ConnectTimeout == 0 || at.ConnectTimeout > patience {
		at.ConnectTimeout = patience
	}
	// Only then is a commit durable before it is answered, whatever the server's default.
	at.RuntimeParams["synchronous_commit"] = "on"
	if s.writer, err = pool(ctx, config, 1, "off"); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if s.reader, err = pool(ctx, config, 4, "on"); err != nil {
		s.writer.Close()
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", doing, err), s.Close())
	}
	return s, nil
}

// pool is a set of connections that may change something or, with readOnly on, not.
func pool(ctx context.Context, config *pgxpool.Config, connections int32, readOnly string) (*pgxpool.Pool, error) {
	own := config.Copy()
	own.MaxConns = connections
	own.ConnConfig.RuntimeParams["default_transaction_read_only"] = readOnly
	return pgxpool.NewWithConfig(ctx, own)
}

// opening is the lock under which tables are made: two servers may begin at once.
const opening = 0x7472697073 // "trips"

func (s *Store) prepare(ctx context.Context) error {
	return s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(opening))
		return err
	}, func(ctx context.Context, tx pgx.Tx) error {
		var there bool
		if err := tx.QueryRow(ctx, `SELECT to_regclass('schema_version') IS NOT NULL`).Scan(&there); err != nil {
			return s.explain(err)
		}
		if there {
			return s.checkVersion(ctx, tx)
		}
		if _, err := tx.Exec(ctx, SchemaSQL); err != nil {
			return fmt.Errorf("make its tables: %w; name a database that is new, or one of a trips server", err)
		}
		_, err := tx.Exec(ctx, `INSERT INTO schema_version (version) VALUES ($1)`, schemaVersion)
		return s.explain(err)
	})
}

func (s *Store) checkVersion(ctx context.Context, tx pgx.Tx) error {
	var version int64
	if err := tx.QueryRow(ctx, `SELECT version FROM schema_version`).Scan(&version); err != nil {
		return fmt.Errorf("read its schema version: %w; name a database that is new, or one of a trips server", err)
	}
	if version != schemaVersion {
		return fmt.Errorf("it has schema version %d, this server reads %d: use the server that wrote it", version, schemaVersion)
	}
	return nil
}

// Close lets go of the database.
func (s *Store) Close() error {
	s.reader.Close()
	s.writer.Close()
	return nil
}

// alone keeps every other writer out until the transaction ends; readers read on.
func alone(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL lock_timeout = %d`, busy.Milliseconds())); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `LOCK TABLE drafts, receipts, fences, sessions IN SHARE ROW EXCLUSIVE MODE`)
	return err
}

// inTransaction runs do as one transaction, whole or not at all, that waits for
// every other writer before it begins. Errors of do come back as they are.
func (s *Store) inTransaction(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	return s.transact(ctx, alone, do)
}

func (s *Store) transact(ctx context.Context, lock, do func(context.Context, pgx.Tx) error) error {
	var tx pgx.Tx
	err := s.connected(s.writer, func() (err error) {
		tx, err = begin(ctx, s.writer, lock)
		return err
	})
	if err != nil {
		return s.explain(err)
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	// Also where do panics; behind a commit it does nothing.
	defer func() { _ = tx.Rollback(whole) }()
	if err := do(whole, tx); err != nil {
		return err
	}
	return s.committed(tx.Commit(whole))
}

// begin begins a transaction that has its lock.
func begin(ctx context.Context, from *pgxpool.Pool, lock func(context.Context, pgx.Tx) error) (pgx.Tx, error) {
	// What a statement sees is what was committed when it began: the lock comes first.
	tx, err := from.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return nil, err
	}
	if err := lock(ctx, tx); err != nil {
		return nil, errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
	}
	return tx, nil
}

// connected does what changes nothing yet. Where that shows that the connection was
// lost while nobody used it, because the database was restarted, all of its like are
// let go, and it is done over a new one.
func (s *Store) connected(over *pgxpool.Pool, do func() error) error {
	err := do()
	if err == nil || !lost(err) {
		return err
	}
	over.Reset()
	return do()
}

// lost says whether an error means the end of a connection, rather than being an
// answer or the caller's own doing.
func lost(err error) bool {
	var said *pgconn.PgError
	var refused *pgconn.ConnectError
	switch {
	case errors.As(err, &said):
		return said.Code == adminShutdown || said.Code == crashShutdown
	case errors.As(err, &refused), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, pgx.ErrNoRows), errors.Is(err, ports.ErrNoDraft), errors.Is(err, ports.ErrNoReceipt):
		return false
	}
	return true
}

// What PostgreSQL says, by SQLSTATE.
const (
	adminShutdown = "57P01"
	crashShutdown = "57P02"
	lockTimeout   = "55P03"
	noRoom        = "53100"
	noText        = "22021" // bytes that are no text: U+0000
)

// committed tells what came of a commit. One that was not answered may have happened.
func (s *Store) committed(err error) error {
	var said *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said) && !lost(err), errors.Is(err, pgx.ErrTxCommitRollback):
		return s.explain(err)
	}
	return fmt.Errorf("%w: %s: the commit was not answered: %w; whether it was stored is not known, look for the receipt", ports.ErrStore, s.name, err)
}

// explain makes every error but the answers of the ports an ErrStore. Nothing was
// stored where it came before a commit.
func (s *Store) explain(err error) error {
	var said *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, ports.ErrNoDraft), errors.Is(err, ports.ErrNoReceipt), errors.Is(err, ports.ErrNoSession), errors.Is(err, ports.ErrStore):
		return err
	case errors.As(err, &said) && said.Code == noText:
		return ports.Invalid("a text holds U+0000, which cannot be stored; leave it out; nothing was stored")
	case errors.As(err, &said) && said.Code == lockTimeout:
		return fmt.Errorf("%w: another writer held %s for %v; nothing was stored, try again", ports.ErrStore, s.name, busy)
	case errors.As(err, &said) && said.Code == noRoom:
		return fmt.Errorf("%w: there is no room at %s: %w; nothing was stored, make room and try again", ports.ErrStore, s.name, err)
	}
	return fmt.Errorf("%w: %s: %w; nothing was stored", ports.ErrStore, s.name, err)
}
