package sqlite

// schemaVersion is PRAGMA user_version of a file that holds these tables.
const schemaVersion = 1

// SchemaSQL creates the tables. Their names and columns are the same on every
// database, so that whoever looks from outside asks the same questions.
const SchemaSQL = `CREATE TABLE drafts (
	draft       TEXT PRIMARY KEY,
	owner       TEXT NOT NULL,
	revision    INTEGER NOT NULL CHECK (revision >= 1),
	status      TEXT NOT NULL CHECK (status IN ('draft', 'submitted')),
	destination TEXT NOT NULL,
	purpose     TEXT NOT NULL,
	starts      TEXT NOT NULL,
	ends        TEXT NOT NULL
) STRICT;
CREATE INDEX drafts_owner ON drafts (owner, draft);
CREATE TABLE receipts (
	command_id    TEXT NOT NULL,
	draft         TEXT NOT NULL REFERENCES drafts (draft),
	owner         TEXT NOT NULL,
	kind          TEXT NOT NULL CHECK (kind IN ('update', 'submit')),
	digest        TEXT NOT NULL,
	from_revision INTEGER NOT NULL,
	to_revision   INTEGER NOT NULL,
	result        TEXT NOT NULL,
	PRIMARY KEY (owner, command_id)
) STRICT;
CREATE TABLE fences (
	command_id TEXT NOT NULL,
	draft      TEXT NOT NULL REFERENCES drafts (draft),
	owner      TEXT NOT NULL,
	PRIMARY KEY (owner, command_id)
) STRICT;
CREATE TABLE sessions (
	digest TEXT PRIMARY KEY,
	owner  TEXT NOT NULL,
	began  INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_owner ON sessions (owner);
`
