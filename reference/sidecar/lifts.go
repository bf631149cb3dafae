package sidecar

import "slices"

// lifts are the statements that make a sidecar of the next contract version out
// of one of the version that they are keyed by. They run in the transaction that
// also writes the new version, so that a kill leaves the old or the new sidecar
// and a second run finds nothing to do (WR-42). seq and rowid keep their values:
// the library's marks and the orders of acceptance and issue rest on them.
var lifts = map[int][]string{1: lift1, 2: lift2}

// Lifts are the statements that make the tables of the next contract version out
// of those of a version. To be safe they belong into one transaction with the mark
// of the new version.
func Lifts(from int) []string { return slices.Clone(lifts[from]) }

// lift1 gives every start an anchor. What the app had not given an ID gets one
// here. That an applied start's item was made is known, so its anchor is live.
var lift1 = []string{
	`UPDATE intents SET item_id = 'item_' || lower(hex(randomblob(16))) WHERE kind = 'start' AND item_id IS NULL`,
	`ALTER TABLE intents RENAME TO intents_of_1`,
	`DROP INDEX intents_key`,
	`DROP INDEX intents_item`,
	anchors2SQL,
	intents2SQL,
	keysSQL,
	`INSERT INTO anchors (item_id, task_key, owner, state)
		SELECT item_id, task_key, owner, CASE state WHEN 'applied' THEN 'live' ELSE 'provisional' END
		FROM intents_of_1 WHERE kind = 'start' ORDER BY seq`,
	`INSERT INTO intents (seq, item_id, kind, payload, idempotency_key, digest, owner, state, error, attempts)
		SELECT seq, item_id, kind, payload, idempotency_key, digest, owner,
			CASE WHEN state = 'pending' AND attempts > 0 THEN 'retrying' ELSE state END, error, attempts
		FROM intents_of_1 ORDER BY seq`,
	`INSERT INTO idempotency_keys (owner, idempotency_key, kind, digest, item_id, seq)
		SELECT owner, idempotency_key, kind, digest, item_id, seq FROM intents_of_1`,
	`DROP TABLE intents_of_1`,
}

// lift2 tells failures by structure as far as version 2 had kept them: whether
// they were to be tried again. An anchor whose start failed is marked, and what
// version 2 left queued behind such a start for ever is failed.
var lift2 = []string{
	`ALTER TABLE intents RENAME TO intents_of_2`,
	`ALTER TABLE anchors RENAME TO anchors_of_2`,
	`DROP INDEX intents_start`,
	`DROP INDEX intents_item`,
	`DROP INDEX anchors_task`,
	anchorsSQL,
	intentsSQL,
	`INSERT INTO anchors (item_id, task_key, owner, state, reason, start_failed)
		SELECT item_id, task_key, owner, state, reason, state = 'provisional' AND EXISTS (
			SELECT 1 FROM intents_of_2 i WHERE i.item_id = a.item_id AND i.kind = 'start' AND i.state = 'failed')
		FROM anchors_of_2 a ORDER BY rowid`,
	`INSERT INTO intents (seq, item_id, kind, payload, idempotency_key, digest, owner, state, failure_class, failure_code, failure_reason, attempts)
		SELECT seq, item_id, kind, payload, idempotency_key, digest, owner, state,
			CASE state WHEN 'failed' THEN 'permanent' WHEN 'retrying' THEN 'transient' END,
			CASE WHEN state IN ('failed', 'retrying') THEN 'unclassified' END,
			CASE WHEN state IN ('failed', 'retrying') THEN error END, attempts
		FROM intents_of_2 ORDER BY seq`,
	`UPDATE intents SET state = 'failed', failure_class = 'permanent', failure_code = 'start_failed',
			failure_reason = 'the start of this item failed; start the task again for a new item ID'
		WHERE state IN ('pending', 'retrying') AND item_id IN (SELECT item_id FROM anchors WHERE start_failed = 1)`,
	`DROP TABLE intents_of_2`,
	`DROP TABLE anchors_of_2`,
}
