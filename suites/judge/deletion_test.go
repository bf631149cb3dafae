package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// deletedByThePerson is WR-13 and WR-15.
func deletedByThePerson() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1")) // c1
	// Sequence numbers may be long, and floats once they are read back.
	s.mark("deleted", "item_id", "i1", "task_key", "t1", "queued", []any{int64(12_345_678), int64(12_345_679)})
	s.call("note", and(item("i1"), "text", "behind", "about", "dead"), refused("permanent", "item_deleted"))        // c2
	s.call("note", and(item("i9"), "text", "never", "about", "never-issued"), refused("permanent", "never_issued")) // c3
	s.look("anchor", "converged", item("i1"), row("item_id", "i1", "state", "dead", "reason", "deleted by its user"))
	s.look("intents", "converged", item("i1"),
		row("seq", int64(12_345_677), "kind", "start", "state", "applied", "class", nil),
		row("seq", int64(12_345_678), "kind", "note", "state", "failed", "class", "permanent"),
		row("seq", int64(12_345_679), "kind", "note", "state", "failed", "class", "permanent"))
	return s.told()
}

func TestDeletedIsDead(t *testing.T) {
	notNamed := func(outcome, class, code string) variant {
		return variant{finds: finds(broken("WR-13", "a follow-up on a deleted item did not fail for good with the deletion named",
			"call c2: outcome "+outcome+`, class "`+class+`", code "`+code+`"`))}
	}
	notFailed := func(state, class string) variant {
		return variant{finds: finds(broken("WR-13", "an intent that was queued at the deletion did not end failed",
			`intent 12345678 of item i1 is "`+state+`", class "`+class+`"`))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, DeletedIsDead, deletedByThePerson(),
		variant{"the anchor stays live", edits(cell("anchor", "converged", 0, "state", "live")),
			finds(broken("WR-13", "the person deleted the item and its anchor is not dead", `anchor i1 is "live"`)), nil},
		variant{"dead without a reason", edits(cell("anchor", "converged", 0, "reason", "")),
			finds(broken("WR-13", "the dead anchor keeps no reason", "item i1")), nil},
		variant{"dead with a reason of NULL", edits(cell("anchor", "converged", 0, "reason", nil)),
			finds(broken("WR-13", "the dead anchor keeps no reason", "item i1")), nil},
		variant{"the anchor is gone", edits(shows("anchor", "converged")),
			finds(broken("WR-13", "the anchor of a deleted item is gone", "item i1")), nil},
		named(notNamed("done", "", ""), "a follow-up is accepted", ends("c2", done("state", "queued"))),
		named(notNamed("refused", "permanent", "never_issued"), "a follow-up names something else", field("c2", "failure_code", "never_issued")),
		named(notNamed("refused", "transient", "item_deleted"), "a follow-up is to be tried again", field("c2", "failure_class", "transient")),
		named(notNamed("refused", "", "item_deleted"), "a refusal without a class", noField("c2", "failure_class")),
		variant{"a follow-up gets no answer", edits(ends("c2", unknown())), nil, []string{"the follow-up c2 on a deleted item got no answer"}},
		variant{"a follow-up never returned", edits(neverReturned("c2")), nil, []string{"no follow-up was sent to the deleted item i1"}},
		variant{"a queued intent is dropped", edits(noRow("intents", "converged", 2)),
			finds(broken("WR-13", "an intent that was queued at the deletion was dropped", "intent 12345679 of item i1")), nil},
		named(notFailed("pending", "permanent"), "a queued intent stays pending", cell("intents", "converged", 1, "state", "pending")),
		named(notFailed("applied", ""), "a queued intent is applied", cell("intents", "converged", 1, "state", "applied"), cell("intents", "converged", 1, "class", nil)),
		named(notFailed("failed", "transient"), "a queued intent ends failed with another class", cell("intents", "converged", 1, "class", "transient")),
		variant{"the numbers come as text in one of the places", edits(cell("intents", "converged", 1, "seq", "12345678")), nil, nil},
		variant{"nothing was queued", edits(markData("deleted", "queued", []any{})), nil, []string{"no intent was queued on item i1 when it was deleted"}},
		variant{"nothing was deleted", edits(noMark("deleted")), nil, []string{"no item was deleted"}},
		variant{"the anchor was not looked at", edits(noLook("anchor", "converged")), nil, []string{"the anchor of the deleted item i1 was not seen at the end"}},
		variant{"the intents were not looked at", edits(noLook("intents", "converged")), nil, []string{"the intents of the deleted item i1 were not seen at the end"}},
		variant{"both looks failed", edits(lookFails("anchor", "converged"), lookFails("intents", "converged")), nil,
			[]string{"the anchor of the deleted item i1 was not seen at the end", "the intents of the deleted item i1 were not seen at the end"}},
		variant{"no follow-up was sent", edits(noCall("c2")), nil, []string{"no follow-up was sent to the deleted item i1"}},
		variant{"the probe shows no class", edits(noColumn("intents", "converged", "class")), nil, []string{`the probe intents shows no column "class"`}},
		variant{"the mark names no item", edits(markData("deleted", "item_id", nil)), nil,
			[]string{"the anchor of the deleted item  was not seen at the end", "no follow-up was sent to the deleted item ", "the intents of the deleted item  were not seen at the end"}},
	)
}

func TestTwoErrors(t *testing.T) {
	rules(t, TwoErrors, deletedByThePerson(),
		variant{"both get the same code", edits(field("c3", "failure_code", "item_deleted")),
			finds(broken("WR-15", "a never-issued ID and a dead one get the same error", `both: code "item_deleted"`)), nil},
		variant{"neither has a code", edits(noField("c2", "failure_code"), noField("c3", "failure_code")), finds(
			broken("WR-15", "a follow-up on a never-issued ID was not refused with a structured code", `call c3: outcome refused, code ""`),
			broken("WR-15", "a follow-up on a dead ID was not refused with a structured code", `call c2: outcome refused, code ""`)), nil},
		variant{"a never-issued ID is accepted", edits(ends("c3", done("state", "queued"))),
			finds(broken("WR-15", "a follow-up on a never-issued ID was not refused with a structured code", `call c3: outcome done, code ""`)), nil},
		variant{"a never-issued ID gets no answer", edits(ends("c3", unknown())), nil, []string{"the follow-up c3 on a never-issued ID got no answer"}},
		variant{"the calls never returned", edits(neverReturned("c2"), neverReturned("c3")), nil,
			[]string{"no follow-up was sent to a never-issued ID", "no follow-up was sent to a dead ID"}},
		variant{"the dead one was not tried", edits(noCall("c2")), nil, []string{"no follow-up was sent to a dead ID"}},
		variant{"the never-issued one was not tried", edits(noCall("c3")), nil, []string{"no follow-up was sent to a never-issued ID"}},
	)
}

// startedAgain is WR-14.
func startedAgain() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1")) // c1
	s.mark("deleted", "item_id", "i1", "task_key", "t1")
	s.call("start", params("task_key", "t1", "key", "k2", "after", "i1"), done("item_id", "i2")) // c2
	s.look("anchor", "converged", item("i1"), row("item_id", "i1", "state", "dead"))
	s.look("anchor", "converged", item("i2"), row("item_id", "i2", "state", "live"))
	return s.told()
}

// ofItem is the look at one item.
func ofItem(id string) func(history.Event) bool {
	return func(e history.Event) bool { return e.Look != nil && e.Look.Params["item_id"] == id }
}

func TestNewAfterDead(t *testing.T) {
	change := func(id string, f func(*history.Look)) edit {
		return each("look "+id, ofItem(id), func(e *history.Event) { f(e.Look) })
	}
	again := func(id string) variant {
		return variant{finds: finds(broken("WR-14", "a start after the deletion was given the dead ID again",
			`item i1 was deleted; the later start under task key "t1" answered "`+id+`"`))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	const none = `no start under task key "t1" was acknowledged with a new key after the deletion`
	rules(t, NewAfterDead, startedAgain(),
		named(again("i1"), "the dead ID is given again", field("c2", "item_id", "i1")),
		named(again(""), "no ID is given", noField("c2", "item_id")),
		variant{"the start is refused for good", edits(ends("c2", refused("permanent", "item_deleted"))),
			finds(broken("WR-14", "a start after the deletion was refused for good",
				`item i1 was deleted; call c2 under task key "t1": class "permanent", code "item_deleted"`)), nil},
		variant{"the start is refused for a while", edits(ends("c2", refused("transient", "busy"))), nil, []string{none}},
		variant{"the start got no answer", edits(ends("c2", unknown())), nil, []string{none}},
		variant{"the start was not made", edits(noCall("c2")), nil, []string{none}},
		variant{"the start was under another task key", edits(param("c2", "task_key", "t2")), nil, []string{none}},
		variant{"the old anchor is live again", edits(change("i1", func(l *history.Look) { l.Rows[0]["state"] = "live" })),
			finds(broken("WR-14", "the dead anchor did not stay dead", `anchor i1 is "live" at the end`)), nil},
		variant{"the old anchor is forgotten", edits(change("i1", func(l *history.Look) { l.Rows = nil })),
			finds(broken("WR-14", "the dead anchor was forgotten", "the store holds no anchor for item i1")), nil},
		variant{"the new ID is not stored", edits(change("i2", func(l *history.Look) { l.Rows = nil })),
			finds(broken("WR-14", "the ID that was given after the deletion is no usable one", "anchor i2 at the end: nothing")), nil},
		variant{"the new ID is dead", edits(change("i2", func(l *history.Look) { l.Rows[0]["state"] = "dead" })),
			finds(broken("WR-14", "the ID that was given after the deletion is no usable one", `anchor i2 at the end: "dead"`)), nil},
		variant{"the anchors were not looked at", edits(noLook("anchor", "converged")), nil,
			[]string{"the new anchor i2 was not seen at the end", "the old anchor was not seen at the end"}},
		variant{"the looks failed", edits(lookFails("anchor", "converged")), nil,
			[]string{"the new anchor i2 was not seen at the end", "the old anchor was not seen at the end"}},
		variant{"nothing was deleted", edits(noMark("deleted")), nil, []string{"no item was deleted"}},
	)
}
