package sidecar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// schemaSQL is the whole store of ContractVersion. It is created in one
// transaction, so a sidecar is there wholly or not at all.
//
//	meta              contract_version, bound_owner once an account was bound, and
//	                  refused, how many calls were turned down with nothing stored
//	anchors           one row an issued item ID; rowid is the order of issue
//	intents           one row an accepted command; seq is the order of acceptance
//	idempotency_keys  one row an accepted key, and what it stands for
//
// What the constraints hold, whatever a writer does:
//   - at most one usable anchor an owner and task key (WR-40)
//   - at most one start intent an item (WR-06)
//   - at most one meaning a key within an owner's scope (WR-08)
//   - an intent without an anchor can not be stored (WR-03)
//   - failed intents have a class and a code (WR-25)
//
// idempotency_keys.seq is the intent that the call made, note_seq the note that
// a start brought along; either is NULL where the call made none.
const schemaSQL = `
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;
CREATE TABLE anchors (
	item_id      TEXT PRIMARY KEY,
	task_key     TEXT NOT NULL,
	owner        TEXT NOT NULL DEFAULT '',
	state        TEXT NOT NULL DEFAULT 'provisional' CHECK (state IN ('provisional', 'live', 'dead')),
	reason       TEXT NOT NULL DEFAULT '',
	start_failed INTEGER NOT NULL DEFAULT 0 CHECK (start_failed IN (0, 1)),
	CHECK (start_failed = 0 OR state = 'provisional')
) STRICT;
CREATE UNIQUE INDEX anchors_usable ON anchors (owner, task_key) WHERE state <> 'dead' AND start_failed = 0;
CREATE INDEX anchors_task ON anchors (owner, task_key);
CREATE TABLE intents (
	seq             INTEGER PRIMARY KEY AUTOINCREMENT,
	item_id         TEXT NOT NULL REFERENCES anchors (item_id),
	kind            TEXT NOT NULL CHECK (kind IN ('start', 'note', 'status', 'complete', 'cancel')),
	payload         TEXT NOT NULL,
	idempotency_key TEXT NOT NULL DEFAULT '',
	digest          TEXT NOT NULL DEFAULT '',
	owner           TEXT NOT NULL DEFAULT '',
	state           TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'retrying', 'failed', 'applied')),
	failure_class   TEXT CHECK (failure_class IN ('transient', 'permanent', 'blocked')),
	failure_code    TEXT,
	failure_reason  TEXT,
	attempts        INTEGER NOT NULL DEFAULT 0,
	CHECK (state <> 'failed' OR (failure_class IS NOT NULL AND failure_code IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX intents_start ON intents (item_id) WHERE kind = 'start';
CREATE INDEX intents_item ON intents (item_id, seq);
CREATE INDEX intents_unsettled ON intents (item_id, seq) WHERE state IN ('pending', 'retrying');
CREATE TABLE idempotency_keys (
	owner           TEXT NOT NULL,
	idempotency_key TEXT NOT NULL,
	kind            TEXT NOT NULL,
	digest          TEXT NOT NULL,
	item_id         TEXT NOT NULL,
	seq             INTEGER,
	note_seq        INTEGER,
	PRIMARY KEY (owner, idempotency_key)
) STRICT, WITHOUT ROWID;
`

// migration lifts a sidecar by one contract version, inside the transaction
// that also writes the new version.
type migration func(context.Context, *sql.Conn) error

// migrations are keyed by the version that they start from.
var migrations = map[int]migration{}

// VersionError says that a sidecar is of a contract version that this build
// does not read (WR-42). The file was not changed.
type VersionError struct {
	Path      string
	Found     int
	Supported int
}

func (e *VersionError) Error() string {
	advice := "start a build that supports it"
	if e.Found < e.Supported {
		advice = "no migration from it is known; open it once with a build between the two"
	}
	return fmt.Sprintf("open sidecar %s: it has contract version %d, this build supports version %d: %s", e.Path, e.Found, e.Supported, advice)
}

// versionOf reads the contract version, 0 for a file that holds nothing yet.
func versionOf(ctx context.Context, c *sql.Conn) (int, error) {
	var tables, meta int
	err := c.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(name = 'meta'), 0) FROM sqlite_schema WHERE type = 'table'`).Scan(&tables, &meta)
	if err != nil || tables == 0 {
		return 0, err
	}
	if meta == 0 {
		return 0, fmt.Errorf("%w: it is a database of something else (no table meta)", ErrUnreadable)
	}
	var text string
	err = c.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'contract_version'`).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("%w: its meta table names no contract_version", ErrUnreadable)
	}
	if err != nil {
		return 0, err
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 {
		return 0, fmt.Errorf("%w: its contract_version is %q, expected a number from 1", ErrUnreadable, text)
	}
	return v, nil
}

// settleSchema creates the schema or lifts an older one; it runs inside a
// write transaction, so of several first starts one creates and the others see it.
func settleSchema(ctx context.Context, c *sql.Conn, path string) error {
	found, err := versionOf(ctx, c)
	if err != nil {
		return err
	}
	if found == 0 {
		if _, err := c.ExecContext(ctx, schemaSQL); err != nil {
			return err
		}
		_, err := c.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('contract_version', ?)`, strconv.Itoa(ContractVersion))
		return err
	}
	for v := found; v != ContractVersion; v++ {
		lift, ok := migrations[v]
		if !ok {
			return &VersionError{Path: path, Found: found, Supported: ContractVersion}
		}
		if err := lift(ctx, c); err != nil {
			return fmt.Errorf("lift it from contract version %d to %d: %w", v, v+1, err)
		}
		if _, err := c.ExecContext(ctx, `UPDATE meta SET value = ? WHERE name = 'contract_version'`, strconv.Itoa(v+1)); err != nil {
			return err
		}
	}
	return nil
}
