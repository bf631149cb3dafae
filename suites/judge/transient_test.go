package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// beforeLogin is WR-17 and WR-21: a start and a note, held while the guard is shut.
func beforeLogin() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1", "state", "queued")) // c1
	s.call("note", and(item("i1"), "text", "n", "key", "n"), done("state", "queued"))                // c2
	s.look("intents", "held", item("i1"),
		row("seq", 1_234_567, "kind", "start", "text", nil, "state", "retrying", "class", "transient", "attempts", 25),
		row("seq", 1_234_568, "kind", "note", "text", "n", "state", "pending", "class", nil, "attempts", 0))
	s.look("intents", "converged", item("i1"),
		row("seq", 1_234_567, "kind", "start", "text", nil, "state", "applied", "attempts", 26),
		row("seq", 1_234_568, "kind", "note", "text", "n", "state", "applied", "attempts", 1))
	s.look("item", "converged", item("i1"), row("item_id", "i1"))
	return s.told()
}

func TestKeptWhileTransient(t *testing.T) {
	const clause = "WR-21"
	kept := func(was, is string) variant {
		return variant{finds: finds(broken(clause, "the intents were not kept as they were: rows came or went while they were retried",
			"behind the guard: "+was, "at the end: "+is))}
	}
	notTransient := func(state, class string) variant {
		return variant{finds: finds(broken(clause, "an intent that waits for its guard is not classed transient",
			`intent 1234567 (start): "`+state+`" after 25 attempts, class "`+class+`"`))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	const was = `"1234567 start", "1234568 note n"`
	rules(t, KeptWhileTransient(clause, 25), beforeLogin(),
		variant{"the intent is given up", edits(cell("intents", "held", 0, "state", "failed"), cell("intents", "held", 0, "code", "too_often")),
			finds(broken(clause, "a transient cause ended an intent", `intent 1234567 (start): failed after 25 attempts, code "too_often"`)), nil},
		named(notTransient("retrying", ""), "the class is missing", cell("intents", "held", 0, "class", nil)),
		named(notTransient("retrying", "permanent"), "the class is another", cell("intents", "held", 0, "class", "permanent")),
		named(notTransient("pending", "blocked"), "it is classed blocked", cell("intents", "held", 0, "state", "pending"), cell("intents", "held", 0, "class", "blocked")),
		named(kept(was, was+`, "1234569 start"`), "a retry adds a row", rowsLater("intents", "converged", row("seq", 1_234_569, "kind", "start", "state", "applied"))),
		named(kept(was, `"1234567 start"`), "an intent is dropped", noRow("intents", "converged", 1)),
		named(kept(was, `"1234568 note n"`), "the retried intent is dropped", noRow("intents", "converged", 0)),
		named(kept(was, `"1234570 start", "1234568 note n"`), "an intent is stored anew", cell("intents", "converged", 0, "seq", 1_234_570)),
		named(kept(was, `"1234567 start", "1234568 note m"`), "an intent holds something else in the end", cell("intents", "converged", 1, "text", "m")),
		variant{"it is not applied in the end", edits(cell("intents", "converged", 1, "state", "failed")),
			finds(broken(clause, "an intent was not applied after its transient cause was gone", `intent 1234568 (note) is "failed"`)), nil},
		variant{"it waits on in the end", edits(cell("intents", "converged", 0, "state", "retrying")),
			finds(broken(clause, "an intent was not applied after its transient cause was gone", `intent 1234567 (start) is "retrying"`)), nil},
		variant{"too few attempts", edits(cell("intents", "held", 0, "attempts", 24)), nil,
			[]string{"25 attempts were needed behind the shut guard, 24 were seen"}},
		variant{"attempts that were over before the guard shut do not count", edits(cell("intents", "held", 0, "state", "applied"), cell("intents", "held", 0, "attempts", 30)), nil,
			[]string{"25 attempts were needed behind the shut guard, 0 were seen"}},
		variant{"attempts as a text", edits(cell("intents", "held", 0, "attempts", "25")), nil, nil},
		variant{"nothing was stored while the guard was shut", edits(shows("intents", "held")),
			finds(broken(clause, "the intents were not kept as they were: rows came or went while they were retried", "behind the guard: nothing", "at the end: "+was)),
			[]string{"25 attempts were needed behind the shut guard, 0 were seen"}},
		variant{"nobody looked while the guard was shut", edits(noLook("intents", "held")), nil,
			[]string{"the intents were never seen while the guard was shut"}},
		variant{"that look failed", edits(lookFails("intents", "held")), nil,
			[]string{"the look at the intents of item i1 failed: the look itself failed", "the intents were never seen while the guard was shut"}},
		variant{"nobody looked at the end", edits(noLook("intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end"}},
		variant{"the last look failed", edits(lookFails("intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end"}},
		variant{"the probe shows no attempts", edits(noColumn("intents", "held", "attempts")), nil,
			[]string{`the probe intents shows no column "attempts"`, "the intents were never seen while the guard was shut"}},
		variant{"the probe shows no seq", edits(noColumn("intents", "held", "seq"), noColumn("intents", "converged", "seq")), nil,
			[]string{`the probe intents shows no column "seq"`, "the intents were never seen while the guard was shut"}},
	)
}

func TestKeptWhileTransientWantsEveryItemTried(t *testing.T) {
	s := newStory()
	for _, id := range []string{"i1", "i2"} {
		attempts := map[string]int{"i1": 25, "i2": 0}[id]
		s.look("intents", "held", item(id), row("seq", id, "kind", "start", "state", "retrying", "class", "transient", "attempts", attempts))
		s.look("intents", "converged", item(id), row("seq", id, "kind", "start", "state", "applied"))
	}
	expectRuling(t, KeptWhileTransient("WR-21", 25), s.told(), nil, []string{"25 attempts were needed behind the shut guard, 0 were seen"})
}

func TestKeptWhileTransientHoldsEveryLookAgainstTheEnd(t *testing.T) {
	s := newStory()
	s.look("intents", "held", item("i1"), row("seq", 2, "kind", "note", "text", "n", "state", "retrying", "class", "transient", "attempts", 1))
	s.look("intents", "held", item("i1"), row("seq", 2, "kind", "note", "text", "n", "state", "retrying", "class", "transient", "attempts", 25))
	s.look("intents", "converged", item("i1"), row("seq", 2, "kind", "note", "text", "n", "state", "applied"))
	queuedAnew := func(seq int64) edit {
		return each("later looks", func(e history.Event) bool { return e.Seq >= seq }, func(e *history.Event) { e.Look.Rows[0]["seq"] = 27 })
	}
	rules(t, KeptWhileTransient("WR-21", 25), s.told(),
		variant{"it was queued anew between the two looks", edits(queuedAnew(2)),
			finds(broken("WR-21", "the intents were not kept as they were: rows came or went while they were retried",
				`behind the guard: "2 note n"`, `at the end: "27 note n"`)), nil},
		variant{"it was queued anew at last", edits(queuedAnew(3)),
			finds(broken("WR-21", "the intents were not kept as they were: rows came or went while they were retried",
				`behind the guard: "2 note n"`, `at the end: "27 note n"`)), nil},
		variant{"one of the looks failed", edits(each("look 1", func(e history.Event) bool { return e.Seq == 1 },
			func(e *history.Event) { e.Look.Rows, e.Look.Error = nil, "the look itself failed" })), nil,
			[]string{"the look at the intents of item i1 failed: the look itself failed"}},
	)
}

func TestAppliedAfterLogin(t *testing.T) {
	rules(t, AppliedAfterLogin, beforeLogin(),
		variant{"it never became an item", edits(shows("item", "converged")),
			finds(broken("WR-17", "a start that was accepted before the login did not become one item", "item i1 stands in the library 0 times")), nil},
		variant{"it became two", edits(rowsLater("item", "converged", row("item_id", "i1"))),
			finds(broken("WR-17", "a start that was accepted before the login did not become one item", "item i1 stands in the library 2 times")), nil},
		variant{"the start is refused", edits(ends("c1", refused("transient", "no_account"))),
			finds(broken("WR-17", "a start before the login was refused", `call c1: class "transient", code "no_account"`)), nil},
		variant{"the start got no answer", edits(ends("c1", unknown())), nil,
			[]string{"call c1 (start) got no answer, so that it is not known to be accepted"}},
		variant{"the start was not made", edits(noCall("c1")), nil, []string{"no start was acknowledged before the login"}},
		variant{"the library was not looked at", edits(noLook("item", "converged")), nil, []string{"the library was not seen at the end for item i1"}},
		variant{"the look failed", edits(lookFails("item", "converged")), nil, []string{"the library was not seen at the end for item i1"}},
		variant{"it was answered without an ID", edits(noField("c1", "item_id")), nil, []string{"the library was not seen at the end for item "}},
	)
}

func TestAppliedAfterLoginForgivesARetry(t *testing.T) {
	s := newStory()
	p := params("task_key", "t1", "key", "k1")
	s.call("start", p, unknown())
	s.call("start", p, refused("transient", "busy"))
	s.call("start", p, done("item_id", "i1"))
	s.look("item", "converged", item("i1"), row("item_id", "i1"))
	expectRuling(t, AppliedAfterLogin, s.told(), nil, nil)
}

func TestBlockedForOther(t *testing.T) {
	s := newStory()
	s.look("intents", "other-account", item("i1"),
		row("seq", 7, "kind", "start", "state", "pending", "class", "blocked", "code", "owner_mismatch", "attempts", 1),
		row("seq", 8, "kind", "note", "state", "pending", "class", nil, "code", nil, "attempts", 0))
	const turned = "the other account's session was not seen to be turned away"
	rules(t, BlockedForOther, s.told(),
		variant{"it failed the intent", edits(cell("intents", "other-account", 0, "state", "failed")),
			finds(broken("WR-17", "another account's session ended an intent that is not its own", `intent 7 (start): code "owner_mismatch"`)), nil},
		variant{"it applied the intent", edits(cell("intents", "other-account", 0, "state", "applied"), cell("intents", "other-account", 0, "code", nil)),
			finds(broken("WR-17", "another account's session applied an intent that is not its own", "intent 7 (start)")), nil},
		variant{"the attempt was not blocked", edits(cell("intents", "other-account", 0, "class", "transient")), nil, []string{turned}},
		variant{"the attempt was turned away for another reason", edits(cell("intents", "other-account", 0, "code", "account_unresolved")), nil, []string{turned}},
		variant{"no attempt was made", edits(shows("intents", "other-account")), nil, []string{turned}},
		variant{"nobody looked", edits(func([]history.Event) []history.Event { return nil }), nil, []string{turned}},
		variant{"the look failed", edits(lookFails("intents", "other-account")), nil, []string{"the look at the intents of item i1 failed: the look itself failed"}},
	)
}
