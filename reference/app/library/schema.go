package library

// schemaVersion is stored as the database's user_version.
const schemaVersion = 1

// The triggers are the database's own witness of every write, whoever made it.
// A revision that no envelope names is a write past the repository; revision 0
// stands for a change that did not even take a revision.
const schema = `
CREATE TABLE items (
	position INTEGER PRIMARY KEY AUTOINCREMENT,
	item_id  TEXT NOT NULL UNIQUE,
	owner    TEXT NOT NULL,
	title    BLOB NOT NULL,
	revision INTEGER NOT NULL
) STRICT;

CREATE TABLE notes (
	item_id         TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
	revision        INTEGER NOT NULL,
	seq             INTEGER NOT NULL,
	text            BLOB NOT NULL,
	attachment_name BLOB,
	attachment      BLOB,
	PRIMARY KEY (item_id, revision)
) STRICT;

CREATE TABLE tags (
	item_id  TEXT NOT NULL REFERENCES items(item_id) ON DELETE CASCADE,
	tag      TEXT NOT NULL,
	revision INTEGER NOT NULL,
	PRIMARY KEY (item_id, tag)
) STRICT;
CREATE UNIQUE INDEX one_status ON tags(item_id) WHERE tag LIKE 'status:%';

CREATE TABLE applied (
	item_id TEXT NOT NULL,
	seq     INTEGER NOT NULL,
	PRIMARY KEY (item_id, seq)
) STRICT;

CREATE TABLE envelopes (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT,
	item_id   TEXT NOT NULL,
	revision  INTEGER NOT NULL,
	operation TEXT NOT NULL,
	owner     TEXT NOT NULL,
	body      BLOB
) STRICT;

CREATE TABLE events (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT,
	item_id   TEXT NOT NULL,
	revision  INTEGER NOT NULL,
	operation TEXT NOT NULL
) STRICT;

CREATE TABLE settings (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;

CREATE TABLE writes (
	seq       INTEGER PRIMARY KEY,
	item_id   TEXT NOT NULL,
	revision  INTEGER NOT NULL,
	operation TEXT NOT NULL,
	UNIQUE (item_id, revision)
) STRICT;

CREATE TRIGGER item_created AFTER INSERT ON items BEGIN
	INSERT OR IGNORE INTO writes (item_id, revision, operation) VALUES (NEW.item_id, NEW.revision, 'create');
END;
CREATE TRIGGER item_updated AFTER UPDATE ON items BEGIN
	INSERT OR IGNORE INTO writes (item_id, revision, operation) VALUES (NEW.item_id, NEW.revision, 'update');
END;
CREATE TRIGGER item_deleted AFTER DELETE ON items BEGIN
	INSERT OR IGNORE INTO writes (item_id, revision, operation) VALUES (OLD.item_id, OLD.revision + 1, 'delete');
END;
CREATE TRIGGER note_added AFTER INSERT ON notes BEGIN
	INSERT OR IGNORE INTO writes (item_id, revision, operation) VALUES (NEW.item_id, NEW.revision, 'update');
END;
CREATE TRIGGER note_changed AFTER UPDATE ON notes BEGIN
	INSERT OR IGNORE INTO writes (item_id, revision, operation) VALUES (NEW.item_id, 0, 'update');
END;
CREATE TRIGGER note_removed AFTER DELETE ON notes
WHEN EXISTS (SELECT 1 FROM items WHERE item_id = OLD.item_id) BEGIN
	INSERT OR IGNORE INTO writes (item_id, revision, operation) VALUES (OLD.item_id, 0, 'update');
END;
CREATE TRIGGER tag_added AFTER INSERT ON tags BEGIN
	INSERT OR IGNORE INTO writes (item_id, revision, operation) VALUES (NEW.item_id, NEW.revision, 'update');
END;
CREATE TRIGGER tag_changed AFTER UPDATE ON tags BEGIN
	INSERT OR IGNORE INTO writes (item_id, revision, operation) VALUES (NEW.item_id, 0, 'update');
END;
`
