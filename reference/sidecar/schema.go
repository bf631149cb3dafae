package sidecar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// schema is how one contract version keeps a sidecar. It is created in one
// transaction, so a sidecar is there wholly or not at all.
type schema struct {
	version int
	tables  string   // beside meta, which is the same in every version
	owned   []string // tables with an owner, "" while no account was bound
}

// schemas are those of every contract version so far.
var schemas = map[int]schema{
	1: {1, intents1SQL, []string{"intents"}},
	2: {2, anchors2SQL + intents2SQL + keysSQL, []string{"anchors", "intents", "idempotency_keys"}},
	3: {3, anchorsSQL + intentsSQL + keysSQL, []string{"anchors", "intents", "idempotency_keys"}},
}

// SchemaSQL is what creates a sidecar of a contract version, without the row
// of meta that names the version.
func SchemaSQL(version int) string { return metaSQL + schemas[version].tables }

// metaSQL holds contract_version, bound_owner once an account was bound, and
// refused, how many calls were turned down with nothing stored. No
// version changes it: it is what versions are compared by.
const metaSQL = `CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;
`

// anchorsSQL holds one row an issued item ID; rowid is the order of issue. At
// most one usable anchor an owner and task key can be stored (WR-40).
const anchorsSQL = `CREATE TABLE anchors (
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
`

// intentsSQL holds one row an accepted command; seq is the order of acceptance.
// At most one start an item can be stored (WR-06), no intent without an anchor
// (WR-03), and no failed one without a class and a code (WR-25).
const intentsSQL = `CREATE TABLE intents (
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
`

// keysSQL holds one row an accepted key, and what it stands for: seq is the
// intent that the call made, note_seq the note that a start brought along;
// either is NULL where the call made none. At most one meaning a key within an
// owner's scope can be stored (WR-08).
const keysSQL = `CREATE TABLE idempotency_keys (
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

// VersionError says that a sidecar is of a contract version that this build
// does not speak (WR-31, WR-42). Nothing was stored.
type VersionError struct {
	Path      string
	Found     int
	Supported int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("use sidecar %s: it has contract version %d, this build supports version %d: start a build that supports it", e.Path, e.Found, e.Supported)
}

// versionOf reads the contract version, 0 for a file that holds nothing yet.
func versionOf(ctx context.Context, c Querier) (int, error) {
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
func (s *file) settleSchema(ctx context.Context, c *sql.Conn) error {
	found, err := versionOf(ctx, c)
	if err != nil {
		return err
	}
	if found > s.schema.version {
		return s.disagree(found)
	}
	if found == 0 {
		if _, err := c.ExecContext(ctx, metaSQL+s.schema.tables); err != nil {
			return err
		}
		_, err := c.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('contract_version', ?)`, strconv.Itoa(s.schema.version))
		return err
	}
	for v := found; v < s.schema.version; v++ {
		for _, statement := range lifts[v] {
			if _, err := c.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("lift it from contract version %d to %d: %w", v, v+1, err)
			}
		}
		if _, err := c.ExecContext(ctx, `UPDATE meta SET value = ? WHERE name = 'contract_version'`, strconv.Itoa(v+1)); err != nil {
			return err
		}
	}
	return nil
}
