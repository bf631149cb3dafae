package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// revokedWhileWaiting is WR-20: a record with a note that waits, and a start that
// waits, when the access of their account is revoked.
func revokedWhileWaiting() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1"))        // c1
	s.call("note", and(item("i1"), "text", "late", "key", "n"), done("state", "queued")) // c2
	s.call("start", params("task_key", "t2", "key", "k2"), done("item_id", "i2"))        // c3
	start := row("seq", 1, "kind", "start", "state", "applied", "class", nil, "code", nil, "reason", nil)
	denied := func(seq int, kind, text string) map[string]any {
		return row("seq", seq, "kind", kind, "text", text, "state", "failed", "class", "permanent", "code", "access_denied", "reason", "revoked")
	}
	s.look("intents", "held", item("i1"), start, row("seq", 2, "kind", "note", "text", "late", "state", "pending"))
	s.look("intents", "held", item("i2"), row("seq", 3, "kind", "start", "state", "pending"))
	s.look("writes", "held", nil, row("seq", 1, "op", "create"))
	s.mark("person", "action", "revoke", "user", "a")
	s.call("note", and(item("i1"), "text", "late", "key", "n", "moment", "converged"),
		refused("permanent", "access_denied", "state", "failed")) // c4
	s.look("intents", "converged", item("i1"), start, denied(2, "note", "late"))
	s.look("intents", "converged", item("i2"), denied(3, "start", ""))
	s.look("item", "converged", item("i1"), row("item_id", "i1", "notes", list("before")))
	s.look("item", "converged", item("i2"))
	s.look("writes", "converged", nil, row("seq", 1, "op", "create"))
	return s.told()
}

func TestRevokedNotWritten(t *testing.T) {
	const note, start = "intent 2 (note) of item i1", "intent 3 (start) of item i2"
	end := func(column string, value any) edit {
		return lookOf("i1", "intents", "converged", func(l *history.Look) { l.Rows[1][column] = value })
	}
	untold := func(name, column string, value any, fact string) variant {
		return variant{name, edits(end(column, value)),
			finds(broken("WR-20", "an intent whose access was revoked does not tell so by structure", note+fact)), nil}
	}
	answered := func(name, fact string, e edit) variant {
		return variant{name, edits(e), finds(broken("WR-20", "an answer does not tell of the revoked access by structure", "call c4: "+fact)), nil}
	}
	const writesUnseen = "the library's write log was not seen both before and after access was revoked"
	rules(t, RevokedNotWritten, revokedWhileWaiting(),
		variant{"a note is applied", edits(end("state", "applied")),
			finds(broken("WR-20", "an intent was applied although its access had been revoked", note)), nil},
		variant{"a note is dropped", edits(lookOf("i1", "intents", "converged", func(l *history.Look) { l.Rows = l.Rows[:1] })),
			finds(broken("WR-20", "an intent whose access was revoked was dropped in silence", note)), nil},
		variant{"a start is dropped", edits(lookOf("i2", "intents", "converged", func(l *history.Look) { l.Rows = nil })),
			finds(broken("WR-20", "an intent whose access was revoked was dropped in silence", start)), nil},
		variant{"a note is retried for ever", edits(end("state", "retrying")),
			finds(broken("WR-20", "an intent whose access was revoked does not come to its end", note+` is "retrying", code "access_denied"`)), nil},
		untold("another class", "class", "transient", `: class "transient", code "access_denied", reason "revoked"`),
		untold("another code", "code", "invalid_content", `: class "permanent", code "invalid_content", reason "revoked"`),
		untold("no reason", "reason", nil, `: class "permanent", code "access_denied", reason ""`),
		variant{"a note stands on the record", edits(lookOf("i1", "item", "converged", func(l *history.Look) { l.Rows[0]["notes"] = list("before", "late") })),
			finds(broken("WR-20", "a note stands on the record although access had been revoked", "item i1", `note: "late"`)), nil},
		variant{"an item is made", edits(lookOf("i2", "item", "converged", func(l *history.Look) { l.Rows = []map[string]any{row("item_id", "i2")} })),
			finds(broken("WR-20", "an item was made although access had been revoked", "item i2")), nil},
		variant{"the library is written", edits(rowsLater("writes", "converged", row("seq", 2, "op", "update"))),
			finds(broken("WR-20", "the library was written although access had been revoked", "1 write before, 2 after")), nil},
		answered("the answer calls it queued", `state "queued", class "", code ""`, ends("c4", done("state", "queued"))),
		answered("the answer has no code", `state "failed", class "permanent", code ""`, noField("c4", "failure_code")),
		variant{"the answer is lost", edits(ends("c4", unknown())), nil,
			[]string{"call c4 (note) got no answer, so that it is not known what it tells of the revoked access"}},
		variant{"nobody asked", edits(noCall("c4")), nil, []string{"nobody asked what became of a note whose access was revoked"}},
		variant{"access was not revoked", edits(markData("person", "action", "lock")), nil, []string{"the access of the account was not revoked"}},
		variant{"nothing waited", edits(noLook("intents", "held")), nil, []string{"nothing waited when the access of the account was revoked"}},
		variant{"the end was not seen", edits(noLookOf("i2", "intents", "converged")), nil, []string{"the intents of item i2 were not seen at the end"}},
		variant{"the record was not seen", edits(noLookOf("i1", "item", "converged")), nil, []string{"the library was not seen at the end for item i1"}},
		variant{"the probe shows no code", edits(lookOf("i2", "intents", "converged", func(l *history.Look) { delete(l.Rows[0], "code") })), nil,
			[]string{`the probe intents shows no column "code"`}},
		variant{"the write log was not seen", edits(noLook("writes", "held")), nil, []string{writesUnseen}},
		variant{"the look at the write log failed", edits(lookFails("writes", "converged")), nil, []string{writesUnseen}},
		variant{"no write was ever seen", edits(shows("writes", "held"), shows("writes", "converged")), nil,
			[]string{"no library write was ever seen, so that one would not have been noticed either"}},
	)
}
