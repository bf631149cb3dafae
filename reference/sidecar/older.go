package sidecar

// intents1SQL is the whole store of contract version 1: no anchors, and no item
// ID before the app has given one to a start. A key stands for its intent.
const intents1SQL = `CREATE TABLE intents (
	seq             INTEGER PRIMARY KEY AUTOINCREMENT,
	item_id         TEXT,
	task_key        TEXT NOT NULL,
	kind            TEXT NOT NULL,
	payload         TEXT NOT NULL,
	idempotency_key TEXT NOT NULL,
	digest          TEXT NOT NULL,
	owner           TEXT NOT NULL DEFAULT '',
	state           TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'failed', 'applied')),
	error           TEXT NOT NULL DEFAULT '',
	attempts        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX intents_key ON intents (owner, idempotency_key);
CREATE INDEX intents_item ON intents (item_id, seq);
`

// anchors2SQL is how version 2 keeps anchors: nothing marks one whose start
// failed, and nothing but the newest one of a task key is asked for.
const anchors2SQL = `CREATE TABLE anchors (
	item_id  TEXT PRIMARY KEY,
	task_key TEXT NOT NULL,
	owner    TEXT NOT NULL DEFAULT '',
	state    TEXT NOT NULL DEFAULT 'provisional' CHECK (state IN ('provisional', 'live', 'dead')),
	reason   TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX anchors_task ON anchors (owner, task_key);
`

// intents2SQL is how version 2 keeps intents: with the text of the last error
// instead of a failure's class, code and reason.
const intents2SQL = `CREATE TABLE intents (
	seq             INTEGER PRIMARY KEY AUTOINCREMENT,
	item_id         TEXT NOT NULL REFERENCES anchors (item_id),
	kind            TEXT NOT NULL,
	payload         TEXT NOT NULL,
	idempotency_key TEXT NOT NULL DEFAULT '',
	digest          TEXT NOT NULL DEFAULT '',
	owner           TEXT NOT NULL DEFAULT '',
	state           TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'retrying', 'failed', 'applied')),
	error           TEXT NOT NULL DEFAULT '',
	attempts        INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX intents_start ON intents (item_id) WHERE kind = 'start';
CREATE INDEX intents_item ON intents (item_id, seq);
`
