package judge

import (
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// noAccount is WR-18: an old record, then a held login behind which a start and
// a note were accepted.
func noAccount() history.History {
	s := newStory()
	s.call("start", params("task_key", "t0", "key", "k0"), done("item_id", "old")) // c1
	s.look("writes", "early", nil, row("seq", 1, "op", "create", "item_id", "old"))
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "new"))     // c2
	s.call("note", and(item("old"), "text", "n", "key", "n"), done("state", "queued")) // c3
	s.look("anchors", "early", nil,
		row("item_id", "old", "state", "live", "owner", "anna", "reason", nil),
		row("item_id", "new", "state", "provisional", "owner", nil, "reason", nil))
	s.look("intents", "early", item("old"),
		row("seq", 1, "kind", "start", "state", "applied", "attempts", 1, "owner", "anna"),
		row("seq", 3, "kind", "note", "text", "n", "state", "pending", "attempts", 0, "owner", "anna"))
	s.look("intents", "early", item("new"), row("seq", 2, "kind", "start", "state", "pending", "attempts", 0, "owner", nil))
	s.call("get", and(item("old"), "moment", "held"), done("item_id", "old", "anchor", "live"))   // c4
	s.call("get", and(item("new"), "moment", "held"), refused("transient", "account_unresolved")) // c5
	s.look("intents", "held", item("old"),
		row("seq", 1, "kind", "start", "state", "applied", "attempts", 1, "owner", "anna"),
		row("seq", 3, "kind", "note", "text", "n", "state", "retrying", "attempts", 2, "owner", "anna"))
	s.look("intents", "held", item("new"), row("seq", 2, "kind", "start", "state", "retrying", "attempts", 2, "owner", nil))
	s.look("anchors", "held", nil,
		row("item_id", "old", "state", "live", "owner", "anna", "reason", nil),
		row("item_id", "new", "state", "provisional", "owner", nil, "reason", nil))
	s.look("writes", "held", nil, row("seq", 1, "op", "create", "item_id", "old"))
	return s.told()
}

func TestNothingDecided(t *testing.T) {
	decided := func(fact string) variant {
		return variant{finds: finds(broken("WR-18", "an anchor was decided on with no account resolved", fact))}
	}
	missing := func(call, code, class, state, anchor string) variant {
		return variant{finds: finds(broken("WR-18", "a record was called missing with no account resolved",
			"call "+call+`: code "`+code+`", class "`+class+`", state "`+state+`", anchor "`+anchor+`"`))}
	}
	settled := func(fact string) variant {
		return variant{finds: finds(broken("WR-18", "an intent was decided on with no account resolved", fact))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	const anchorsUnseen = "the anchors were not seen both before and while no account was resolved"
	const writesUnseen = "the library's write log was not seen both before and while no account was resolved"
	const noAttempt = "no attempt was seen to be turned away, so that nothing could have been decided"
	intentsUnseen := []string{
		"the intents of item old were not seen while no account was resolved", "the intents of item new were not seen while no account was resolved"}
	rules(t, NothingDecided, noAccount(),
		named(decided(`anchor new: owner was "" and became "nobody"`), "an empty session claims a record", cell("anchors", "held", 1, "owner", "nobody")),
		named(decided(`anchor old: owner was "anna" and became ""`), "an owner is taken away", cell("anchors", "held", 0, "owner", nil)),
		named(decided(`anchor old: state was "live" and became "dead"`), "a record is marked dead", cell("anchors", "held", 0, "state", "dead")),
		named(decided(`anchor new: state was "provisional" and became "live"`), "a record goes live", cell("anchors", "held", 1, "state", "live")),
		named(decided(`anchor new: reason was "" and became "no owner"`), "a record is given a reason", cell("anchors", "held", 1, "reason", "no owner")),
		named(decided(`the new anchor newer is "dead"`), "one accepted meanwhile is dead at once", rowsLater("anchors", "held", row("item_id", "newer", "state", "dead"))),
		variant{"one accepted meanwhile is provisional", edits(rowsLater("anchors", "held", row("item_id", "newer", "state", "provisional"))), nil, nil},
		variant{"an anchor is removed", edits(noRow("anchors", "held", 0)),
			finds(broken("WR-18", "an anchor was removed with no account resolved", "anchor old")), nil},
		named(settled(`intent 3 (note) is "failed", code ""`), "an intent fails for its owner", lookOf("old", "intents", "held", func(l *history.Look) { l.Rows[1]["state"] = "failed" })),
		named(settled(`intent 3 (note) is "applied", code ""`), "an intent is applied", lookOf("old", "intents", "held", func(l *history.Look) { l.Rows[1]["state"] = "applied" })),
		variant{"a guest claims an intent", edits(lookOf("new", "intents", "held", func(l *history.Look) { l.Rows[0]["owner"] = "guest" })),
			finds(broken("WR-18", "an intent was claimed with no account resolved", `intent 2 (start) of item new: its owner was "" and became "guest"`)), nil},
		variant{"an intent loses its owner", edits(lookOf("old", "intents", "held", func(l *history.Look) { l.Rows[1]["owner"] = nil })),
			finds(broken("WR-18", "an intent was claimed with no account resolved", `intent 3 (note) of item old: its owner was "anna" and became ""`)), nil},
		variant{"an intent that came meanwhile was nobody's before", edits(lookOf("old", "intents", "early", func(l *history.Look) { l.Rows = l.Rows[:1] })), nil, nil},
		variant{"it was not seen whose an intent was", edits(noLookOf("new", "intents", "early")), nil,
			[]string{"the intents of item new were not seen before, so that it is not known whose they were"}},
		variant{"the probe shows no owner of intents", edits(noColumn("intents", "early", "owner"), noColumn("intents", "held", "owner")), nil,
			[]string{`the probe intents shows no column "owner"`, `the probe intents shows no column "owner"`}},
		variant{"the library is written", edits(rowsLater("writes", "held", row("seq", 2, "op", "update", "item_id", "old"))),
			finds(broken("WR-18", "the library was written with no account resolved", "1 write before, 2 after")), nil},
		variant{"the library is written and its log cut", edits(shows("writes", "held", row("seq", 2, "op", "update", "item_id", "old"))),
			finds(broken("WR-18", "the library was written with no account resolved", "1 write before, 1 after")), nil},
		named(missing("c5", "never_issued", "transient", "", ""), "a record is said never to have been issued", field("c5", "failure_code", "never_issued")),
		named(missing("c4", "not_found", "transient", "", ""), "an old record is said to be missing", ends("c4", refused("transient", "not_found"))),
		named(missing("c5", "account_unresolved", "permanent", "", ""), "a read is refused for good", field("c5", "failure_class", "permanent")),
		named(missing("c4", "", "", "", "dead"), "a record is said to be dead", field("c4", "anchor", "dead")),
		variant{"the anchors were not seen before", edits(noLook("anchors", "early")), nil, []string{anchorsUnseen}},
		variant{"the anchors were not seen meanwhile", edits(noLook("anchors", "held")), nil, []string{anchorsUnseen}},
		variant{"the look before failed", edits(lookFails("anchors", "early")), nil, []string{anchorsUnseen}},
		variant{"the look meanwhile failed", edits(lookFails("anchors", "held")), nil, []string{anchorsUnseen}},
		variant{"no anchor was there", edits(shows("anchors", "early")), nil, []string{"no anchor was there that could have been decided on"}},
		variant{"the probe shows no owner", edits(noColumn("anchors", "early", "owner"), noColumn("anchors", "held", "owner")), nil, []string{`the probe anchors shows no column "owner"`}},
		named(settled(`intent 2 (start) is "applied", code ""`), "a start is applied",
			lookOf("new", "intents", "held", func(l *history.Look) { l.Rows[0]["state"] = "applied" })),
		variant{"a start is refused for good", edits(ends("c2", refused("permanent", "no_account")), noLookOf("new", "intents", "held")),
			finds(broken("WR-18", "a command was refused for good with no account resolved", `call c2 (start): class "permanent", code "no_account"`)), nil},
		variant{"a note is refused for good", edits(ends("c3", refused("permanent", "no_account"))),
			finds(broken("WR-18", "a command was refused for good with no account resolved", `call c3 (note): class "permanent", code "no_account"`)), nil},
		variant{"a note is turned away for a while", edits(ends("c3", refused("transient", "busy"))), nil, nil},
		variant{"what was refused before is another matter", edits(ends("c1", refused("permanent", "no"))), nil, nil},
		variant{"the intents of one item were not looked at", edits(noLookOf("new", "intents", "held")), nil,
			[]string{"the intents of item new were not seen while no account was resolved"}},
		variant{"no intent of one item was there", edits(lookOf("new", "intents", "held", func(l *history.Look) { l.Rows = nil })), nil,
			[]string{"the intents of item new were not seen while no account was resolved"}},
		variant{"the intents were not looked at", edits(noLook("intents", "held")), nil, append(slices.Clone(intentsUnseen), noAttempt)},
		variant{"the looks at the intents failed", edits(lookFails("intents", "held")), nil, slices.Concat(
			[]string{"the look at the intents of item old failed: the look itself failed", "the look at the intents of item new failed: the look itself failed"},
			intentsUnseen, []string{noAttempt})},
		variant{"no attempt was made", edits(
			lookOf("old", "intents", "held", func(l *history.Look) { l.Rows[1]["attempts"] = 0 }),
			lookOf("new", "intents", "held", func(l *history.Look) { l.Rows[0]["attempts"] = 0 })), nil, []string{noAttempt}},
		variant{"the write log was not seen before", edits(noLook("writes", "early")), nil, []string{writesUnseen}},
		variant{"the write log was not seen meanwhile", edits(noLook("writes", "held")), nil, []string{writesUnseen}},
		variant{"the look at the write log failed", edits(lookFails("writes", "held")), nil, []string{writesUnseen}},
		variant{"no write was ever seen", edits(shows("writes", "early"), shows("writes", "held")), nil,
			[]string{"no library write was ever seen, so that one would not have been noticed either"}},
		variant{"nothing was read", edits(noCall("c4", "c5")), nil, []string{"no record was read while no account was resolved"}},
		variant{"a read is refused without a code", edits(noField("c5", "failure_code")), nil,
			[]string{"call c5 (get) was refused without a code, so that it may mean that the record is missing"}},
		variant{"the reads got no answer", edits(ends("c4", unknown()), neverReturned("c5")), nil, []string{
			"call c4 (get) got no answer, so that it is not known what it says of the record",
			"call c5 (get) got no answer, so that it is not known what it says of the record"}},
	)
}

func TestAnchorsUndecided(t *testing.T) {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1")) // c1
	anchor := func(state string, owner any) map[string]any {
		return row("item_id", "i1", "state", state, "owner", owner, "reason", nil)
	}
	s.look("anchors", "early", nil, anchor("provisional", nil))
	s.look("intents", "early", item("i1"), row("seq", 1, "kind", "start", "state", "pending", "attempts", 0, "owner", nil))
	s.look("intents", "held", item("i1"), row("seq", 1, "kind", "start", "state", "retrying", "attempts", 2, "owner", nil))
	s.look("anchors", "held", nil, anchor("provisional", nil))
	s.call("get", and(item("i1"), "moment", "held"), done("item_id", "i1", "state", "retrying")) // c2
	rules(t, AnchorsUndecided, s.told(),
		variant{"an empty session claims it", edits(shows("anchors", "held", anchor("provisional", "nobody"))),
			finds(broken("WR-18", "an anchor was decided on with no account resolved", `anchor i1: owner was "" and became "nobody"`)), nil},
		variant{"it is applied with no account", edits(cell("intents", "held", 0, "state", "applied")),
			finds(broken("WR-18", "an intent was decided on with no account resolved", `intent 1 (start) is "applied", code ""`)), nil},
		variant{"nobody was asked", edits(noCall("c2")), nil, []string{"no record was read while no account was resolved"}},
		variant{"a library that was looked at is judged too", edits(func(events []history.Event) []history.Event {
			look := func(when string, rows ...map[string]any) history.Event {
				return history.Event{Kind: history.KindLook, Look: &history.Look{Probe: "writes", When: when, Rows: rows}}
			}
			return append([]history.Event{look("early")}, append(events, look("held", row("op", "create")))...)
		}), finds(broken("WR-18", "the library was written with no account resolved", "0 writes before, 1 after")), nil},
	)
}
