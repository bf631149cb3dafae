package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// anotherSignedIn is WR-19: the owner has a record with a note that waits, and a
// start that waits, when another account signs in.
func anotherSignedIn() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1")) // c1
	s.call("start", params("task_key", "t2", "key", "k2"), done("item_id", "i2")) // c2
	anchors := []map[string]any{
		row("item_id", "i1", "state", "live", "owner", "a", "reason", ""), row("item_id", "i2", "state", "provisional", "owner", "a", "reason", "")}
	start := row("seq", 1, "kind", "start", "state", "applied", "class", nil, "code", nil, "owner", "a")
	waits := func(seq int, kind, class, code string) map[string]any {
		return row("seq", seq, "kind", kind, "state", "pending", "class", class, "code", code, "owner", "a")
	}
	record := row("item_id", "i1", "title", "one")
	s.look("items", "early", nil, record)
	s.look("card", "early", item("i1"), row("title", "one"))
	s.look("writes", "early", nil, row("seq", 1, "op", "create", "item_id", "i1"))
	s.look("anchors", "early", nil, anchors...)
	s.look("intents", "early", item("i1"), start, waits(3, "note", "", ""))
	s.look("intents", "early", item("i2"), waits(2, "start", "", ""))
	s.call("get", and(item("i1"), "moment", "other-account"), refused("blocked", "account_unavailable"))                         // c3
	s.call("get", and(item("i2"), "moment", "other-account"), refused("blocked", "account_unavailable"))                         // c4
	s.call("start", params("task_key", "t1", "key", "k3", "moment", "other-account"), refused("blocked", "account_unavailable")) // c5
	s.look("anchors", "other-account", nil, anchors...)
	s.look("intents", "other-account", item("i1"), start, waits(3, "note", "blocked", "owner_mismatch"))
	s.look("intents", "other-account", item("i2"), waits(2, "start", "blocked", "owner_mismatch"))
	s.look("items", "other-account", nil, row("item_id", "b1", "title", "of the other"))
	s.look("card", "other-account", item("i1"))
	s.look("writes", "other-account", nil, row("seq", 1, "op", "create", "item_id", "i1"))
	for _, id := range []string{"i1", "i2"} {
		s.look("item", "converged", item(id), row("item_id", id))
		s.look("intents", "converged", item(id), row("seq", 1, "kind", "start", "state", "applied"))
	}
	return s.told()
}

func TestOtherAccountKeepsOut(t *testing.T) {
	const other = "other-account"
	intent := func(id string, n int, column string, value any) edit {
		return lookOf(id, "intents", other, func(l *history.Look) { l.Rows[n][column] = value })
	}
	became := func(name, summary, fact string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-19", summary, fact)), nil}
	}
	const unseenItems = "the owner's records were not seen through the probe items in the owner's session, or not looked for in the other's"
	const unseenCards = "the owner's records were not seen through the probe card in the owner's session, or not looked for in the other's"
	rules(t, OtherAccountKeepsOut, anotherSignedIn(),
		became("a start is applied", "another account's session applied an intent that is not its own", "intent 2 (start) of item i2", intent("i2", 0, "state", "applied")),
		became("a note is claimed", "another account's session claimed an intent that is not its own", `intent 3 (note) of item i1: its owner was "a" and became "b"`, intent("i1", 1, "owner", "b")),
		became("an applied start is claimed", "another account's session claimed an intent that is not its own", `intent 1 (start) of item i1: its owner was "a" and became "b"`, intent("i1", 0, "owner", "b")),
		became("a note fails", "another account's session ended an intent that is not its own", `intent 3 (note) of item i1: code "owner_mismatch"`, intent("i1", 1, "state", "failed")),
		became("a note is removed", "another account's session removed an intent that is not its own", "intent 3 (note) of item i1",
			lookOf("i1", "intents", other, func(l *history.Look) { l.Rows = l.Rows[:1] })),
		became("a record is claimed", "another account's session claimed a record", `anchor i2: its owner was "a" and became "b"`, cell("anchors", other, 1, "owner", "b")),
		became("a record is killed", "another account's session killed a record", `anchor i1 was "live" and became dead, reason "gone"`,
			cell("anchors", other, 0, "state", "dead"), cell("anchors", other, 0, "reason", "gone")),
		became("a record goes live", "another account's session decided on a record", `anchor i2 was "provisional" and became "live"`, cell("anchors", other, 1, "state", "live")),
		became("an anchor is removed", "another account's session removed an anchor", "anchor i2", noRow("anchors", other, 1)),
		became("the library is written", "the library was written in another account's session", "1 write before, 2 after", rowsLater("writes", other, row("seq", 2, "op", "update"))),
		variant{"a record is listed", edits(rowsLater("items", other, row("item_id", "i1"))),
			finds(broken("WR-19", "another account's session shows a record that is not its own", "seen by: items", `items: "i1"`)), nil},
		variant{"a record has a card", edits(shows("card", other, row("title", "one"))),
			finds(broken("WR-19", "another account's session shows a record that is not its own", "seen by: card", `items: "i1"`)), nil},
		variant{"a record is read", edits(ends("c3", done("item_id", "i1", "title", "one"))),
			finds(broken("WR-19", "a read in another account's session was answered with a record that is not its own", "call c3 (get)", "answer: ")), nil},
		variant{"a record is called missing", edits(field("c4", "failure_code", "never_issued")),
			finds(broken("WR-19", "a read in another account's session does not say that the account is unavailable", `call c4 (get): class "blocked", code "never_issued"`)), nil},
		became("the task is given a new record", "a start in another account's session was given a record in place of the owner's",
			`call c5 (start) under the task key of the owner's record answered item "i9"`, ends("c5", done("item_id", "i9"))),
		variant{"the task has its record", edits(ends("c5", done("item_id", "i1"))), nil, nil},
		became("a record does not come back", "a record is not there when its owner is back", "item i2 stands in the library 0 times",
			lookOf("i2", "item", "converged", func(l *history.Look) { l.Rows = nil })),
		became("an intent is not applied afterwards", "an intent was not applied when its owner was back", `intent 1 (start) of item i2 is "pending", code ""`,
			lookOf("i2", "intents", "converged", func(l *history.Look) { l.Rows[0]["state"] = "pending" })),
		variant{"nothing waited", edits(
			lookOf("i1", "intents", "early", func(l *history.Look) { l.Rows = l.Rows[:1] }), lookOf("i2", "intents", "early", func(l *history.Look) { l.Rows = nil })), nil,
			[]string{"no intent of the owner waited when the other account was signed in"}},
		variant{"nobody was turned away", edits(intent("i1", 1, "code", "account_unresolved"), intent("i2", 0, "class", "transient")), nil,
			[]string{"the other account's session was not seen to be turned away from an intent"}},
		variant{"an item's intents were not seen", edits(noLookOf("i2", "intents", other)), nil,
			[]string{"the intents of item i2 were not seen while another account was signed in"}},
		variant{"the anchors were not seen", edits(noLook("anchors", other)), nil,
			[]string{"the anchors were not seen both before and while another account was signed in"}},
		variant{"no anchor was there", edits(shows("anchors", "early"), shows("anchors", other)), nil,
			[]string{"no anchor was there that could have been claimed or killed"}},
		variant{"the write log was not seen", edits(lookFails("writes", other)), nil,
			[]string{"the library's write log was not seen both before and while another account was signed in"}},
		variant{"no write was ever seen", edits(shows("writes", "early"), shows("writes", other)), nil,
			[]string{"no library write was ever seen, so that one would not have been noticed either"}},
		variant{"the owner's session shows nothing either", edits(shows("items", "early"), shows("card", "early")), nil, []string{unseenItems, unseenCards}},
		variant{"the other's session was not looked at", edits(noLook("items", other), noLook("card", other)), nil, []string{unseenItems, unseenCards}},
		variant{"the target has no page", edits(noLook("card", "early"), noLook("card", other)), nil, nil},
		variant{"nothing was read", edits(noCall("c3", "c4")), nil, []string{"no record was read while another account was signed in"}},
		variant{"a read got no answer", edits(ends("c3", unknown())), nil, []string{"call c3 (get) got no answer, so that it is not known what it shows"}},
		variant{"the end was not seen", edits(noLookOf("i2", "item", "converged")), nil, []string{"item i2 and its intents were not seen once the owner was back"}},
		variant{"the owner started nothing", edits(noCall("c1", "c2"), noLook("item", "converged")), nil,
			[]string{unseenItems, unseenCards, "no record of the owner was started"}},
	)
}
