package postgres

// schemaVersion is the one row of schema_version in a database that holds these tables.
const schemaVersion = 1

// SchemaSQL creates the tables. Their names and columns are those of package sqlite,
// so that whoever looks from outside asks the same questions.
const SchemaSQL = `CREATE TABLE schema_version (
	version BIGINT NOT NULL
);
CREATE TABLE drafts (
	draft       TEXT PRIMARY KEY,
	owner       TEXT NOT NULL,
	revision    BIGINT NOT NULL CHECK (revision >= 1),
	status      TEXT NOT NULL CHECK (status IN ('draft', 'submitted')),
	destination TEXT NOT NULL,
	purpose     TEXT NOT NULL,
	starts      TEXT NOT NULL,
	ends        TEXT NOT NULL
);
CREATE INDEX drafts_owner ON drafts (owner, draft);
CREATE TABLE receipts (
	command_id    TEXT NOT NULL,
	draft         TEXT NOT NULL REFERENCES drafts (draft),
	owner         TEXT NOT NULL,
	kind          TEXT NOT NULL CHECK (kind IN ('update', 'submit')),
	digest        TEXT NOT NULL,
	from_revision BIGINT NOT NULL,
	to_revision   BIGINT NOT NULL,
	result        TEXT NOT NULL,
	PRIMARY KEY (owner, command_id)
);
CREATE TABLE fences (
	command_id TEXT NOT NULL,
	draft      TEXT NOT NULL REFERENCES drafts (draft),
	owner      TEXT NOT NULL,
	PRIMARY KEY (owner, command_id)
);
CREATE TABLE sessions (
	digest TEXT PRIMARY KEY,
	owner  TEXT NOT NULL,
	began  BIGINT NOT NULL
);
CREATE INDEX sessions_owner ON sessions (owner);
`
