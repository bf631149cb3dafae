package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// mixedQueue is WR-05 across kinds: item i0 is only completed; i1 has notes, a
// status and a completion, and the app was killed when it had applied two of them.
func mixedQueue() history.History {
	s := newStory()
	s.call("start", params("task_key", "t0", "key", "k0"), done("item_id", "i0"))              // c1
	s.call("complete", and(item("i0"), "key", "e0"), done("state", "queued"))                  // c2
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1"))              // c3
	s.call("note", and(item("i1"), "text", "a", "key", "n1"), done("state", "queued"))         // c4
	s.call("status", and(item("i1"), "status", "doing", "key", "s1"), done("state", "queued")) // c5
	s.call("note", and(item("i1"), "text", "b", "key", "n2"), done("state", "queued"))         // c6
	s.call("note", and(item("i1"), "text", "b", "key", "n2"), done("state", "queued"))         // c7, again
	s.call("complete", and(item("i1"), "key", "e1"), done("state", "queued"))                  // c8
	queue := func(states ...string) (rows []map[string]any) {
		for i, kind := range []string{"start", "note", "status", "note", "complete"} {
			rows = append(rows, row("seq", i+3, "kind", kind, "text", map[int]any{1: "a", 3: "b"}[i], "state", states[i]))
		}
		return rows
	}
	s.look("intents", "midway", item("i1"), queue("applied", "applied", "pending", "pending", "pending")...)
	s.look("intents", "converged", item("i0"), row("seq", 1, "kind", "start", "text", nil, "state", "applied"), row("seq", 2, "kind", "complete", "state", "applied"))
	s.look("intents", "converged", item("i1"), queue("applied", "applied", "applied", "applied", "applied")...)
	s.look("item", "converged", item("i0"), row("status", "done"))
	s.look("item", "converged", item("i1"), row("status", "done"))
	return s.told()
}

func TestAppliedInOrder(t *testing.T) {
	const half = "no item was seen with a part of its intents applied, so that an order in which they are could not be seen"
	early := func(name, fact string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-05", "an intent was applied before one that was accepted earlier", "item i1", fact, `seen at the moment "midway"`)), nil}
	}
	at := func(id string, n int, column string, value any) edit {
		return lookOf(id, "intents", "converged", func(l *history.Look) { l.Rows[n][column] = value })
	}
	other := func(name, stored, difference string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-05", "the store does not hold the intents in the order in which they were accepted", "item i1",
			`accepted: "start", "note a", "status", "note b", "complete"`, "stored: "+stored, "first difference at place "+difference)), nil}
	}
	status := func(id string, value any) edit {
		return lookOf(id, "item", "converged", func(l *history.Look) { l.Rows[0]["status"] = value })
	}
	rules(t, AppliedInOrder, mixedQueue(),
		early("a status goes before a note", `intent 5 (status) is applied while intent 4 (note) is "pending"`,
			cell("intents", "midway", 1, "state", "pending"), cell("intents", "midway", 2, "state", "applied")),
		early("a follow-up goes before its start", `intent 4 (note) is applied while intent 3 (start) is "retrying"`, cell("intents", "midway", 0, "state", "retrying")),
		early("the last one goes first", `intent 7 (complete) is applied while intent 5 (status) is "pending"`, cell("intents", "midway", 4, "state", "applied")),
		variant{"one that failed is passed over", edits(cell("intents", "midway", 2, "state", "failed"), cell("intents", "midway", 3, "state", "applied")), nil, nil},
		other("two are stored the wrong way round", `"start", "status", "note a", "note b", "complete"`, `2: accepted "note a", stored "status"`,
			at("i1", 1, "kind", "status"), at("i1", 1, "text", nil), at("i1", 2, "kind", "note"), at("i1", 2, "text", "a")),
		other("one is not stored", `"start", "note a", "status", "note b"`, `5: accepted "complete", stored nothing`,
			lookOf("i1", "intents", "converged", func(l *history.Look) { l.Rows = l.Rows[:4] })),
		variant{"one that was refused is not expected", edits(ends("c5", refused("permanent", "no")), lookOf("i1", "intents", "converged", func(l *history.Look) {
			l.Rows = append(l.Rows[:2:2], l.Rows[3:]...)
		})), nil, nil},
		variant{"the record ends in an earlier status", edits(status("i1", "doing")),
			finds(broken("WR-05", "a record did not end in the status that was asked for last", "item i1", `asked for last by complete: "done"; its status is "doing"`)), nil},
		variant{"a status is the last", edits(noCall("c8"), lookOf("i1", "intents", "converged", func(l *history.Look) { l.Rows = l.Rows[:4] }), status("i1", "doing")), nil, nil},
		variant{"it is not known what a completion asks for", edits(noCall("c2"), lookOf("i0", "intents", "converged", func(l *history.Look) { l.Rows = l.Rows[:1] })), nil,
			[]string{"it is not known in which status a record ends that was ended by complete alone"}},
		variant{"the record was not seen", edits(noLookOf("i1", "item", "converged")), nil, []string{"the status of item i1 was not seen at the end"}},
		variant{"one got no answer", edits(ends("c6", unknown()), neverReturned("c7")), nil, []string{
			"the place of call c6 (note) in the order of acceptance is not known: it got no answer, or another one overlaps it",
			"the place of call c7 (note) in the order of acceptance is not known: it got no answer, or another one overlaps it"}},
		variant{"nothing was seen half applied", edits(noLook("intents", "midway")), nil, []string{half}},
		variant{"the app had applied everything", edits(lookOf("i1", "intents", "midway", func(l *history.Look) {
			for _, row := range l.Rows {
				row["state"] = "applied"
			}
		})), nil, []string{half}},
		variant{"the intents were not seen at the end", edits(noLookOf("i1", "intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end"}},
		variant{"the probe shows no text", edits(noColumn("intents", "converged", "text")), nil,
			[]string{`the probe intents shows no column "text"`, `the probe intents shows no column "text"`}},
	)
}
