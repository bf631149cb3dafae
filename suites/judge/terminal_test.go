package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// repeatedOnceApplied is WR-24: a start and a note, applied, and sent again.
func repeatedOnceApplied() history.History {
	s := newStory()
	start, note, cancel := params("task_key", "t1", "key", "k1"), and(item("i1"), "text", "n", "key", "k2"), and(item("i1"), "key", "k3")
	applied := func(seq int, kind string) map[string]any {
		return row("seq", seq, "kind", kind, "state", "applied", "attempts", 1)
	}
	s.call("start", start, done("item_id", "i1", "state", "queued"))   // c1
	s.call("note", note, done("item_id", "i1", "state", "queued"))     // c2
	s.call("cancel", cancel, done("item_id", "i1", "state", "queued")) // c3
	s.look("intents", "early", item("i1"), applied(1, "start"), applied(2, "note"), applied(3, "cancel"))
	s.look("item", "early", item("i1"), row("title", "one", "status", "done", "notes", list("n")))
	s.call("start", start, done("item_id", "i1", "state", "applied", "anchor", "live", "materialized", true)) // c4
	s.call("note", note, done("item_id", "i1", "state", "applied"))                                           // c5
	s.call("cancel", cancel, done("item_id", "i1", "state", "applied"))                                       // c6
	s.look("intents", "converged", item("i1"), applied(1, "start"), applied(2, "note"), applied(3, "cancel"))
	s.look("item", "converged", item("i1"), row("title", "one", "status", "done", "notes", list("n")))
	return s.told()
}

func TestAppliedIsTerminal(t *testing.T) {
	const note, again = "intent 2 (note) of item i1", "call c5 (note), first made as call c2"
	later := func(column string, value any) edit { return cell("intents", "converged", 1, column, value) }
	changed := func(name, column string, value any, fact string) variant {
		return variant{name, edits(cell("item", "converged", 0, column, value)),
			finds(broken("WR-24", "repeating applied calls changed the record", "item i1: its "+fact)), nil}
	}
	none := func(role string) string { return "no " + role + " was repeated once it had been seen applied" }
	rules(t, AppliedIsTerminal, repeatedOnceApplied(),
		variant{"it is queued again", edits(later("state", "pending")),
			finds(broken("WR-24", "an applied intent did not stay applied", note+` became "pending"`)), nil},
		variant{"it fails later", edits(later("state", "failed")),
			finds(broken("WR-24", "an applied intent did not stay applied", note+` became "failed"`)), nil},
		variant{"it is tried again", edits(later("attempts", 2)),
			finds(broken("WR-24", "an applied intent was tried again", note+": attempts were 1 and became 2")), nil},
		variant{"it is purged", edits(noRow("intents", "converged", 1)), finds(broken("WR-24", "an applied intent is gone", note)), nil},
		variant{"a new one is queued behind it", edits(rowsLater("intents", "converged", row("seq", 4, "kind", "note", "state", "pending", "attempts", 0))), nil, nil},
		variant{"a repetition is refused for good", edits(ends("c5", refused("permanent", "key_reused"))),
			finds(broken("WR-24", "a repetition of an applied call was refused for good", again, `class "permanent", code "key_reused"`)), nil},
		variant{"a repetition names another item", edits(field("c4", "item_id", "i2")),
			finds(broken("WR-24", "a repetition of an applied call names another item", "call c4 (start), first made as call c1", `first "i1", now "i2"`)), nil},
		variant{"a repetition is queued", edits(field("c5", "state", "queued")),
			finds(broken("WR-24", "a repetition of an applied call does not say that it is applied", again, `state "queued"`)), nil},
		variant{"a repetition tells a failure", edits(field("c5", "failure_code", "key_reused")),
			finds(broken("WR-24", "a repetition of an applied call tells a failure", again, `class "", code "key_reused"`)), nil},
		variant{"a repetition denies the record", edits(field("c4", "materialized", false)),
			finds(broken("WR-24", "a repetition of an applied call denies that the record is there", "call c4 (start), first made as call c1", `materialized false, anchor "live"`)), nil},
		variant{"a repeated cancel is a new one", edits(field("c6", "state", "queued")),
			finds(broken("WR-24", "a repetition of an applied call does not say that it is applied", "call c6 (cancel), first made as call c3", `state "queued"`)), nil},
		variant{"a cancel was not repeated", edits(noCall("c6")), nil, []string{none("cancel")}},
		variant{"a repetition is refused for a while", edits(ends("c5", refused("transient", "busy"))), nil, []string{again + " was not answered: refused", none("note")}},
		variant{"a repetition gets no answer", edits(neverReturned("c4")), nil,
			[]string{"call c4 (start), first made as call c1 was not answered: unknown", none("start")}},
		variant{"nothing was repeated", edits(noCall("c4", "c5", "c6")), nil, []string{none("start"), none("note"), none("cancel")}},
		variant{"it was repeated too early", edits(noLook("intents", "early")), nil,
			[]string{"no intent was looked at again after it had been seen applied", none("start"), none("note"), none("cancel")}},
		variant{"not all of it had been applied", edits(cell("intents", "early", 1, "state", "pending")), nil, []string{none("start"), none("note"), none("cancel")}},
		variant{"the intents were not seen again", edits(lookFails("intents", "converged")), nil,
			[]string{"no intent was looked at again after it had been seen applied"}},
		variant{"the probe shows no attempts", edits(noColumn("intents", "converged", "attempts")), nil, []string{`the probe intents shows no column "attempts"`}},
		changed("a note is repeated", "notes", list("n", "n"), "notes was [n] and became [n n]"),
		changed("an older status comes back", "status", "doing", "status was done and became doing"),
		changed("the title changes", "title", "two", "title was one and became two"),
		variant{"the record is gone", edits(shows("item", "converged")),
			finds(broken("WR-24", "the record of an applied start is not there once", "item i1 stands in the library 0 times")), nil},
		variant{"the record was not seen at the end", edits(noLook("item", "converged")), nil,
			[]string{"the record of item i1 was not seen both before and after its calls were repeated"}},
		variant{"the record was not seen before", edits(noLook("item", "early")), nil, []string{"no record was seen before its calls were repeated"}},
	)
}

var _ = history.Done
