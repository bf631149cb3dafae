package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// beforeTheApp is a start and its follow-ups with the app stopped.
func beforeTheApp() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "start"), done("item_id", "i1", "state", "queued", "materialized", false)) // c1
	queued := done("item_id", "i1", "state", "queued", "materialized", false)
	s.call("note", params("item_id", "i1", "text", "one", "key", "n1"), queued)       // c2
	s.call("note", params("item_id", "i1", "text", "two", "key", "n2"), queued)       // c3
	s.call("status", params("item_id", "i1", "status", "doing", "key", "s1"), queued) // c4
	s.look("intents", "early", item("i1"),
		row("seq", 1, "kind", "start", "state", "pending", "text", nil),
		row("seq", 2, "kind", "note", "state", "pending", "text", "one"),
		row("seq", 3, "kind", "note", "state", "pending", "text", "two"),
		row("seq", 4, "kind", "status", "state", "pending", "text", nil))
	return s.told()
}

func TestNotesStored(t *testing.T) {
	const none = "no note was acknowledged while the app was stopped"
	notOnce := func(which string) variant {
		return variant{finds: finds(broken("WR-04", "1 of 2 acknowledged notes are not in the store exactly once", "item i1", "notes: "+which))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, NotesStored, beforeTheApp(),
		named(notOnce(`"two"`), "an acknowledged note is not stored", noRow("intents", "early", 2)),
		named(notOnce(`"one"`), "an acknowledged note is stored twice",
			rowsLater("intents", "early", row("seq", 5, "kind", "note", "state", "pending", "text", "one"))),
		named(notOnce(`"one"`), "a note is stored as another kind", cell("intents", "early", 1, "kind", "status")),
		variant{"half a note is stored", edits(cell("intents", "early", 1, "text", "on")), finds(
			broken("WR-04", "1 of 2 acknowledged notes are not in the store exactly once", "item i1", `notes: "one"`),
			broken("WR-04", "the store holds notes that nobody was told were accepted", "item i1", `stored: "on"`)), nil},
		variant{"a refused note is stored", edits(ends("c3", refused("permanent", "no"))),
			finds(broken("WR-04", "the store holds notes that nobody was told were accepted", "item i1", `stored: "two"`)), nil},
		variant{"a note of unknown outcome is stored", edits(ends("c3", unknown())), nil, nil},
		variant{"a note of unknown outcome is not stored", edits(ends("c3", unknown()), noRow("intents", "early", 2)), nil, nil},
		variant{"the store was never looked at", edits(noLook("intents", "early")), nil,
			[]string{"the intents of item i1 were not seen while the app was stopped", none}},
		variant{"the look at the store failed", edits(lookFails("intents", "early")), nil,
			[]string{"the intents of item i1 were not seen while the app was stopped", none}},
		variant{"the probe shows no text", edits(noColumn("intents", "early", "text")), nil,
			[]string{`the probe intents shows no column "text"`, none}},
		variant{"the app was running", edits(cell("intents", "early", 0, "state", "applied")), nil,
			[]string{"the app was not stopped: an intent of item i1 was applied already", none}},
		variant{"no note was acknowledged", edits(ends("c2", unknown()), ends("c3", unknown())), nil, []string{none}},
	)
}

func TestFollowUpsQueued(t *testing.T) {
	rules(t, FollowUpsQueued("WR-04", "note", "status"), beforeTheApp(),
		variant{"a follow-up is refused", edits(ends("c3", refused("permanent", "never_issued"))),
			finds(broken("WR-04", "1 of 2 follow-ups (note) were refused although their item ID had been issued", "first reason: refused: never_issued")), nil},
		variant{"all are refused", edits(ends("c2", refused("transient", "not_yet")), ends("c3", refused("permanent", "never_issued"))),
			finds(broken("WR-04", "2 of 2 follow-ups (note) were refused although their item ID had been issued", "first reason: refused: not_yet")), nil},
		variant{"there is no ID to send it under", edits(ends("c3", refused("permanent", "invalid")), param("c3", "item_id", "")),
			finds(broken("WR-04", "1 of 2 follow-ups (note) were refused because their start had given out no item ID", "first reason: refused: invalid")), nil},
		variant{"a follow-up says applied", edits(field("c2", "state", "applied")),
			finds(broken("WR-04", "a follow-up on an item that does not exist yet was not answered as queued", `call c2 (note): state "applied"`)), nil},
		variant{"a follow-up says failed", edits(field("c4", "state", "failed")),
			finds(broken("WR-04", "a follow-up on an item that does not exist yet was not answered as queued", `call c4 (status): state "failed"`)), nil},
		variant{"a follow-up says that the item is there", edits(field("c4", "materialized", true), field("c4", "state", "applied")),
			finds(broken("WR-04", "a follow-up was answered as if its item were there, and it was not", "call c4 (status): materialized true")), nil},
		variant{"a follow-up is answered under another ID", edits(field("c4", "item_id", "i9")),
			finds(broken("WR-04", "a follow-up was answered under another item ID", `call c4 (status): sent to "i1", answered "i9"`)), nil},
		variant{"an answer without an ID and without materialized", edits(noField("c4", "item_id"), noField("c4", "materialized")), nil, nil},
		variant{"an answer that says retrying", edits(field("c4", "state", "retrying")), nil, nil},
		variant{"an answer without a state", edits(noField("c4", "state")), nil, []string{"call c4 (status) does not say its state"}},
		variant{"a follow-up gets no answer", edits(ends("c3", unknown())), nil,
			[]string{"call c3 (note) got no answer, so that it is not known to be accepted"}},
		variant{"a follow-up never returns", edits(neverReturned("c3")), nil,
			[]string{"call c3 (note) got no answer, so that it is not known to be accepted"}},
		variant{"a role was never tried", edits(noCall("c4")), nil, []string{"no status was sent"}},
		variant{"nothing shows that the item was not there, but the answers", edits(noLook("intents", "early")), nil, nil},
		variant{"nothing shows it, not even the answer", edits(noLook("intents", "early"), noField("c4", "materialized")), nil,
			[]string{"call c4 (status) was answered at a moment at which its item was not known not to exist"}},
		variant{"the look came when something had been applied", edits(cell("intents", "early", 0, "state", "applied"), field("c4", "materialized", true)), nil,
			[]string{"call c4 (status) was answered at a moment at which its item was not known not to exist"}},
	)
}

// appliedInOrder is the end of WR-05.
func appliedInOrder() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "start"), done("item_id", "i1"))
	s.look("intents", "converged", item("i1"),
		row("seq", int64(1_234_567), "kind", "start", "state", "applied"),
		row("seq", int64(1_234_568), "kind", "note", "state", "applied"),
		row("seq", int64(1_234_569), "kind", "status", "state", "applied"))
	return s.told()
}

func TestStartFirst(t *testing.T) {
	first := func(n, kind string) string { return "item i1: intent " + n + " is a " + kind }
	rules(t, StartFirst, appliedInOrder(),
		variant{"a follow-up stands before the start", edits(cell("intents", "converged", 0, "kind", "note"), cell("intents", "converged", 1, "kind", "start")), finds(
			broken("WR-05", "the start is not the first intent of its item", first("1", "note")),
			broken("WR-05", "the start is not the first intent of its item", first("2", "start"))), nil},
		variant{"a second start", edits(cell("intents", "converged", 2, "kind", "start")),
			finds(broken("WR-05", "the start is not the first intent of its item", first("3", "start"))), nil},
		variant{"the start is gone", edits(noRow("intents", "converged", 0)),
			finds(broken("WR-05", "the start is not the first intent of its item", first("1", "note"))), nil},
		variant{"a follow-up was not applied", edits(cell("intents", "converged", 1, "state", "pending")),
			finds(broken("WR-05", "an accepted intent was not applied", `intent 1234568 (note) is "pending", code ""`)), nil},
		variant{"nothing is stored", edits(shows("intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end"}},
		variant{"the store was never looked at", edits(noLook("intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end"}},
		variant{"the look failed", edits(lookFails("intents", "converged")), nil,
			[]string{"the look at the intents of item i1 failed: the look itself failed", "the intents of item i1 were not seen at the end"}},
		variant{"another item was looked at", edits(each("look", isLook("intents", "converged"), func(e *history.Event) { e.Look.Params["item_id"] = "i2" })), nil,
			[]string{"the intents of item i1 were not seen at the end"}},
		variant{"the probe shows no kind", edits(noColumn("intents", "converged", "kind")), nil, []string{`the probe intents shows no column "kind"`}},
		variant{"no start was acknowledged", edits(ends("c1", unknown())), nil, []string{"no start was acknowledged"}},
	)
}

func TestAllApplied(t *testing.T) {
	rules(t, AllApplied("WR-04", 3), appliedInOrder(),
		variant{"one failed", edits(cell("intents", "converged", 2, "state", "failed"), cell("intents", "converged", 2, "code", "no_such_status")),
			finds(broken("WR-04", "an accepted intent was not applied", `intent 1234569 (status) is "failed", code "no_such_status"`)), nil},
		variant{"an intent was dropped", edits(noRow("intents", "converged", 2)), nil,
			[]string{"3 intents were expected in the store at the end, 2 were seen"}},
		variant{"the same look twice counts once", edits(noRow("intents", "converged", 2), func(events []history.Event) []history.Event {
			return append(events, events[len(events)-1])
		}), nil, []string{"3 intents were expected in the store at the end, 2 were seen"}},
		variant{"the store was never looked at", edits(noLook("intents", "converged")), nil,
			[]string{"3 intents were expected in the store at the end, 0 were seen"}},
		variant{"the look failed", edits(lookFails("intents", "converged")), nil,
			[]string{"the look at the intents of item i1 failed: the look itself failed", "3 intents were expected in the store at the end, 0 were seen"}},
		variant{"the probe shows no state", edits(noColumn("intents", "converged", "state")), nil,
			[]string{`the probe intents shows no column "state"`, "3 intents were expected in the store at the end, 0 were seen"}},
	)
}
