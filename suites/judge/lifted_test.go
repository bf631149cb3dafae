package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// leftByVersionTwo is a sidecar with records of every kind that WR-42 is about.
func (s *story) leftByVersionTwo() {
	s.mark("deleted", "item_id", "gone")
	s.look("anchors", "old", nil,
		row("item_id", "there", "task_key", "t1", "owner", "a", "state", "provisional", "reason", ""),
		row("item_id", "gone", "task_key", "t2", "owner", "a", "state", "dead", "reason", "deleted"),
		row("item_id", "waits", "task_key", "t3", "owner", "a", "state", "provisional", "reason", ""))
	s.look("intents", "old", nil,
		row("seq", 1, "kind", "start", "item_id", "there", "state", "applied", "attempts", 1),
		row("seq", 2, "kind", "start", "item_id", "gone", "state", "applied", "attempts", 1),
		row("seq", 3, "kind", "note", "item_id", "there", "text", "no", "state", "failed", "attempts", 1, "reason", "no such file"),
		row("seq", 4, "kind", "note", "item_id", "there", "text", "late", "state", "retrying", "attempts", 2, "reason", "busy"),
		row("seq", 5, "kind", "start", "item_id", "waits", "state", "pending", "attempts", 0))
}

// lookAtLifted is what the app of now has made of it.
func (s *story) lookAtLifted(when string, of map[string]string) {
	s.look("anchors", when, of,
		row("item_id", "there", "task_key", "t1", "owner", "a", "state", "live"),
		row("item_id", "gone", "task_key", "t2", "owner", "a", "state", "dead", "reason", "deleted"),
		row("item_id", "waits", "task_key", "t3", "owner", "a", "state", "live"))
	s.look("intents", when, of,
		row("seq", 1, "kind", "start", "item_id", "there", "state", "applied"),
		row("seq", 2, "kind", "start", "item_id", "gone", "state", "applied"),
		row("seq", 3, "kind", "note", "item_id", "there", "text", "no", "state", "failed", "reason", "no such file"),
		row("seq", 4, "kind", "note", "item_id", "there", "text", "late", "state", "applied"),
		row("seq", 5, "kind", "start", "item_id", "waits", "state", "applied"))
	s.look("items", when, of, row("item_id", "there", "notes", list("late")), row("item_id", "waits", "notes", list()))
}

func lifted() history.History {
	s := newStory()
	s.leftByVersionTwo()
	s.lookAtLifted("converged", nil)
	s.call("start", params("task_key", "t1", "key", "k1", "moment", "replayed"), done("item_id", "there", "state", "applied"))      // c1
	s.call("note", and(item("there"), "text", "x", "key", "n", "moment", "replayed"), done("item_id", "there", "state", "applied")) // c2
	s.lookAtLifted("replayed", nil)
	return s.told()
}

func TestLiftedWhole(t *testing.T) {
	wrong := func(name, fact string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-42", "a sidecar of an older contract version was not lifted whole", fact)), nil}
	}
	old := func(n int, column string, value any) edit { return cell("intents", "old", n, column, value) }
	is := func(n int, column string, value any) edit { return cell("intents", "converged", n, column, value) }
	anchor := func(n int, column string, value any) edit { return cell("anchors", "converged", n, column, value) }
	rules(t, LiftedWhole, lifted(),
		wrong("an anchor has another ID", `the anchor of task key "t3" had the item ID "waits" and has "other"`, anchor(2, "item_id", "other"),
			cell("items", "converged", 1, "item_id", "other")),
		wrong("an anchor has another owner", `the anchor of task key "t1" was owned by "a" and is owned by "b"`, anchor(0, "owner", "b")),
		wrong("an anchor lost its reason", `the anchor of task key "t2" was dead for the reason "deleted" and is for ""`, anchor(1, "reason", "")),
		wrong("an anchor stays provisional", `the anchor of task key "t3" was provisional and is provisional, expected live`, anchor(2, "state", "provisional"),
			shows("items", "converged", row("item_id", "there", "notes", list("late")))),
		wrong("an item was not made", `the anchor of item waits is live and the library has the item 0 times`, shows("items", "converged", row("item_id", "there", "notes", list("late")))),
		wrong("an item was made twice", `the anchor of item there is live and the library has the item 2 times`, rowsLater("items", "converged", row("item_id", "there", "notes", list("late")))),
		wrong("an intent is another one", `intent 4 (note) is another one: note "early" instead of note "late"`, is(3, "text", "early"), cell("items", "converged", 0, "notes", list("early"))),
		wrong("an intent moved", `intent 5 (start) was of item "waits" and is of item "there"`, is(4, "item_id", "there")),
		wrong("an open intent was not applied", `intent 5 (start) was pending and is pending, expected applied`, is(4, "state", "pending")),
		wrong("a failed intent was tried again", `intent 3 (note) was failed and is applied, expected failed`, is(2, "state", "applied"), cell("items", "converged", 0, "notes", list("no", "late"))),
		wrong("a failed intent lost its reason", `intent 3 (note) had failed for the reason "no such file" and is said to have for ""`, is(2, "reason", "")),
		wrong("a note is twice on the record", `of item there the notes "late" are applied and the record shows "late", "late"`, cell("items", "converged", 0, "notes", list("late", "late"))),
		variant{"an intent is gone", edits(noRow("intents", "converged", 2)), finds(
			broken("WR-42", "a sidecar of an older contract version was not lifted whole", "intent 3 (note), which was failed, is gone"),
			broken("WR-42", "a call from before the lift was taken for a new one", "there were 3 anchors and 4 intents, and there are 3 and 5")), nil},
		variant{"a key is not known", edits(field("c1", "item_id", "another")),
			finds(broken("WR-42", "a call from before the lift is not known under its key any more", "call c1 (start)", `expected item "there", applied`, "answer: ")), nil},
		variant{"a replay got no answer", edits(ends("c2", unknown())), nil, []string{"call c2 (note) got no answer"}},
		variant{"nothing was replayed", edits(noCall("c1", "c2")), nil, []string{"no call of then was made again"}},
		variant{"nothing failed before", edits(old(2, "state", "applied"), is(2, "state", "applied"), cell("items", "converged", 0, "notes", list("no", "late"))), nil,
			[]string{"the older version left no intent that has failed"}},
		variant{"nothing was turned away before", edits(old(3, "attempts", 0)), nil, []string{"the older version left no intent that was turned away"}},
		variant{"nothing waited before", edits(old(4, "attempts", 1)), nil, []string{"the older version left no intent that waits"}},
		variant{"what was left is not seen", edits(noLook("intents", "old")), nil, []string{"what the older version has left was not seen"}},
		variant{"what came of it is not seen", edits(lookFails("items", "converged")), nil, []string{"anchors, intents and items were not all seen once it was lifted"}},
	)
}

// liftKilled are runs killed before and behind the commit of the lift.
func liftKilled() history.History {
	s := newStory()
	s.leftByVersionTwo()
	for n, left := range []string{"as-old", "as-new"} {
		run := []string{"r1", "r2"}[n]
		struck(s, run, n+1, "pwrite64", "before", "verified", false)
		s.look("intents", left, params("run", run), row("seq", 1))
		s.lookAtLifted("converged", params("run", run))
	}
	return s.told()
}

func TestLiftedAtEachPoint(t *testing.T) {
	const summary = "killed while it lifts a sidecar, the app does not come to all that was in it, at 1 of 2 crash points"
	wrong := func(name, fact string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-42", summary, fact, "2 runs, 2 of them struck where they should have been")), nil}
	}
	restartFailed := func(events []history.Event) []history.Event {
		return append(events, history.Event{Kind: history.KindMark, Mark: &history.Mark{Name: "restart-failed", Data: row("run", "r1", "error", "no such column")}})
	}
	noRest := func(events []history.Event) []history.Event {
		return append(events, history.Event{Kind: history.KindMark, Mark: &history.Mark{Name: "came-to-no-rest", Data: row("run", "r1", "not tried", 7)}})
	}
	rules(t, LiftedAtEachPoint, liftKilled(),
		wrong("it does not start again", "point 1: killed before pwrite64 of store.db: the app does not start again: no such column", restartFailed),
		wrong("it is of neither version", "point 1: killed before pwrite64 of store.db: it left a sidecar of neither version", noLook("intents", "as-old")),
		variant{"it lost something", edits(cell("intents", "converged", 4, "state", "pending")), finds(broken("WR-42",
			"killed while it lifts a sidecar, the app does not come to all that was in it, at 2 of 2 crash points",
			"point 1: killed before pwrite64 of store.db: intent 5 (start) was pending and is pending, expected applied",
			"point 2: killed before pwrite64 of store.db: intent 5 (start) was pending and is pending, expected applied",
			"2 runs, 2 of them struck where they should have been")), nil},
		variant{"none was killed behind the commit", edits(removed("run r2", func(e history.Event) bool {
			return e.Kind == history.KindMark && e.Mark.Data["run"] == "r2"
		})), nil, []string{"of the runs that were struck where they should have been 1 left an old sidecar and 0 a new one; at least one of each is needed"}},
		variant{"what came of it was not seen", edits(lookFails("anchors", "converged")), nil, []string{
			"point 1: killed before pwrite64 of store.db: anchors, intents and items were not all seen once it was lifted",
			"point 2: killed before pwrite64 of store.db: anchors, intents and items were not all seen once it was lifted"}},
		variant{"nothing came to rest", edits(noRest), nil, []string{"behind run r1 nothing came to rest, so that 7 more were not made"}},
	)
}

// newerMet is WR-42 for a sidecar that is marked as one of version 4.
func newerMet() history.History {
	s := newStory()
	files := func(when, digest string) {
		s.look("stores", when, nil, row("store", "sidecar", "file", "sidecar.db", "digest", digest), row("store", "library", "file", "l.db", "digest", "x"))
	}
	s.call("start", params("task_key", "t1"), done("item_id", "i1")) // c1
	files("unmarked", "aaa")
	s.mark("newer", "version", 4)
	s.mark("supported", "version", 3)
	files("before-calls", "bbb")
	no := refused("permanent", "version_mismatch", "failure_reason", "sidecar x is of contract version 4, this build of version 3")
	s.call("start", params("task_key", "t1", "further", "yes"), no) // c2
	s.call("note", and(item("i1"), "further", "yes"), no)           // c3
	s.call("get", and(item("i1"), "further", "yes"), no)            // c4
	files("after-calls", "bbb")
	return s.told()
}

func TestNewerRefused(t *testing.T) {
	const about = "the sidecar is of version 4, the target of version 3"
	shown := func(events []history.Event) []history.Event {
		return append(events, history.Event{Kind: history.KindLook, Look: &history.Look{Probe: "items", When: "after-calls", Rows: []map[string]any{row("item_id", "i1")}}})
	}
	rules(t, NewerRefused, newerMet(),
		variant{"a call is accepted", edits(ends("c2", done("item_id", "i1"))),
			finds(broken("WR-42", "a call was accepted on a sidecar of a newer version", about, "call c2 (start) was answered: ")), nil},
		variant{"one version is named", edits(field("c3", "failure_reason", "it is of contract version 4")),
			finds(broken("WR-42", "the refusal of a newer sidecar does not name both versions", about, `call c3 (note) was answered: {"isError":true}`)), nil},
		variant{"it is told by text alone", edits(field("c4", "failure_code", "")),
			finds(broken("WR-42", "a newer sidecar was not refused by structure", about, `call c4 (get): class "permanent", code ""`)), nil},
		variant{"the app works on it", edits(shown), finds(broken("WR-42", "the app works on a sidecar of a newer version", about, "it shows 1 items")), nil},
		variant{"it is changed", edits(cell("stores", "after-calls", 0, "digest", "ccc")),
			finds(broken("WR-42", "a sidecar of a newer version was changed", about, `before: "sidecar.db bbb"`, `after: "sidecar.db ccc"`)), nil},
		variant{"a file is left beside it", edits(shows("stores", "after-calls", row("store", "sidecar", "file", "sidecar.db", "digest", "bbb"), row("store", "sidecar", "file", "sidecar.db-wal", "digest", "ddd"))),
			finds(broken("WR-42", "a sidecar of a newer version was changed", about, `before: "sidecar.db bbb"`, `after: "sidecar.db bbb", "sidecar.db-wal ddd"`)), nil},
		variant{"the mark is not seen", edits(cell("stores", "unmarked", 0, "digest", "bbb")), nil,
			[]string{"that the sidecar was made a newer one was not seen in its files, so that another change would not have been seen either"}},
		variant{"the files were not seen", edits(noLook("stores", "after-calls")), nil, []string{"the files of the sidecar were not all seen before and after"}},
		variant{"an answer is lost", edits(ends("c3", unknown())), nil, []string{"call c3 (note) got no answer"}},
		variant{"hardly anything was called", edits(noCall("c3", "c4")), nil, []string{"1 call made once the pair had met, at least 3 are needed"}},
	)
}
