package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

func showsStatus(words ...string) map[string]any {
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	return row("status", last, "statuses", list(words...))
}

// statusesChanged is WR-30 without kills: i1 completed alone, i2 cancelled alone,
// i3 changed three times by two callers.
func statusesChanged() history.History {
	s := newStory()
	for _, id := range []string{"i1", "i2", "i3"} {
		s.call("start", params("task_key", "t "+id, "key", "k "+id), done("item_id", id)) // c1, c2, c3
	}
	s.call("complete", item("i1"), done())                                          // c4
	s.call("cancel", item("i2"), done())                                            // c5
	s.callOn("helper.2", "cancel", item("i3"), done())                              // c6
	s.look("item", "changing", item("i3"), showsStatus("cancelled"))                //
	s.call("status", and(item("i3"), "status", "doing"), refused("permanent", "x")) // c7
	s.call("complete", item("i3"), done())                                          // c8
	s.call("status", and(item("i3"), "status", "doing"), done())                    // c9
	for _, end := range [][2]string{{"i1", "done"}, {"i2", "cancelled"}, {"i3", "doing"}} {
		s.look("item", "converged", item(end[0]), showsStatus(end[1]))
		s.look("card", "converged", item(end[0]), showsStatus(end[1]))
	}
	s.look("writes", "converged", nil, row("item_id", "i1", "op", "create"), row("item_id", "i1", "op", "update"), row("item_id", "i2", "op", "update"), row("item_id", "i3", "op", "update"))
	return s.told()
}

func TestOneStatus(t *testing.T) {
	shown := func(id, probe, when string, words ...string) edit {
		return lookOf(id, probe, when, func(l *history.Look) { l.Rows = []map[string]any{showsStatus(words...)} })
	}
	const two, other = "a record has more than one status", "a record does not end in the status that was accepted last"
	rules(t, OneStatus(3), statusesChanged(),
		variant{"two at the end", edits(shown("i3", "item", "converged", "cancelled", "doing")),
			finds(broken("WR-30", two, `item i3: the item shows "cancelled", "doing"`, "moment: converged")), nil},
		variant{"two on the way", edits(shown("i3", "item", "changing", "cancelled", "done")),
			finds(broken("WR-30", two, `item i3: the item shows "cancelled", "done"`, "moment: changing")), nil},
		variant{"two on the card", edits(shown("i3", "card", "converged", "cancelled", "doing")),
			finds(broken("WR-30", two, `item i3: the card shows "cancelled", "doing"`, "moment: converged")), nil},
		variant{"none on the way is none too many", edits(shown("i3", "item", "changing")), nil, nil},
		variant{"none at the end", edits(shown("i3", "item", "converged")),
			finds(broken("WR-30", other, `item i3: the item shows nothing; call c9 (status) asked for "doing"`)), nil},
		variant{"an earlier one at the end", edits(shown("i3", "item", "converged", "done"), shown("i3", "card", "converged", "done")), finds(
			broken("WR-30", other, `item i3: the item shows "done"; call c9 (status) asked for "doing"`),
			broken("WR-30", other, `item i3: the card shows "done"; call c9 (status) asked for "doing"`)), nil},
		variant{"the last change was refused", edits(ends("c9", refused("permanent", "x"))), finds(
			broken("WR-30", other, `item i3: the item shows "doing"; call c8 (complete) asked for "done"`),
			broken("WR-30", other, `item i3: the card shows "doing"; call c8 (complete) asked for "done"`)),
			[]string{"no record's status was changed 3 times by two callers"}},
		variant{"what complete leads to is not known", edits(noLookOf("i1", "item", "converged"), ends("c9", refused("permanent", "x"))), nil, []string{
			"it is not known in which status a record ends that was ended by complete alone",
			"it is not known in which status a record ends that was ended by complete alone",
			"no record's status was changed 3 times by two callers"}},
		variant{"the card lists nothing", edits(noColumn("card", "converged", "statuses")), nil,
			[]string{"the probe card lists no statuses (column statuses), so that two would not be seen"}},
		variant{"the card was not looked at", edits(noLook("card", "converged")), nil, []string{
			"the probe card lists no statuses (column statuses), so that two would not be seen",
			"item i1 was not seen once on the card at the end", "item i2 was not seen once on the card at the end", "item i3 was not seen once on the card at the end"}},
		variant{"no update is in the write log", edits(noRow("writes", "converged", 3)), nil,
			[]string{"the library's write log shows no update of item i3, whose status was changed 3 times"}},
		variant{"the write log was not looked at", edits(noLook("writes", "converged")), nil, []string{"the library's write log was not seen at the end"}},
		variant{"one caller changed it all", edits(each("session", isCall("c6", history.Invoked), func(e *history.Event) { e.Call.Session = "helper.1" })), nil,
			[]string{"no record's status was changed 3 times by two callers"}},
	)
}

// changesKilled is WR-30: i0 completed before, and the completion of i1, struck
// before the library was written, between the stores, and behind both.
func changesKilled() history.History {
	s := newStory()
	s.call("start", params("task_key", "t0"), done("item_id", "i0")) // c1
	s.call("complete", item("i0"), done())                           // c2
	s.call("start", params("task_key", "t1"), done("item_id", "i1")) // c3
	s.look("item", "early", item("i0"), showsStatus("done"))
	for i, at := range threeMoments {
		run := and(item("i1"), "run", at.run)
		s.call("complete", run, done()) // c4, c5, c6
		killedAt(s, at.run, i+1, at.library, at.sidecar, "verified")
		if at.library < 10 {
			s.look("item", "restarted", run, showsStatus("doing"))
		}
		s.look("item", "restarted", run, showsStatus("done"))
		s.look("item", "converged", run, showsStatus("done"))
	}
	return s.told()
}

func TestOneStatusAtEachPoint(t *testing.T) {
	second := atTheSecond("WR-30", "killed while it changes a status, the app does not end with that one alone")
	rules(t, OneStatusAtEachPoint, changesKilled(),
		second(`the record has two statuses: "doing", "done"`, "two at the end", inRun("r2", "item", "converged", showsStatus("doing", "done"))),
		second(`the record has two statuses: "doing", "done"`, "two until it is tried again", inRun("r2", "item", "restarted", showsStatus("doing", "done"))),
		second(`the record ends in "doing", and "done" was accepted last`, "the change is lost", inRun("r2", "item", "converged", showsStatus("doing"))),
		second(`the record ends in nothing, and "done" was accepted last`, "none at the end", inRun("r2", "item", "converged", showsStatus())),
		second("the record stands in the library 0 times", "the record is gone", inRun("r2", "item", "converged")),
		second("the app does not start again: exit code 1", "it does not start again", marked("restart-failed", "run", "r2", "error", "exit code 1")),
		variant{"a change without an answer", edits(ends("c5", unknown())), nil, []string{"point 2: killed after pwrite64 of sidecar.db: the change of the run was not acknowledged"}},
		variant{"the record was not looked at", edits(noLook("item", "converged")), nil, []string{
			"point 1: killed after pwrite64 of library.db: the record was not seen behind it",
			"point 2: killed after pwrite64 of sidecar.db: the record was not seen behind it",
			"point 3: killed after pwrite64 of sidecar.db: the record was not seen behind it"}},
		variant{"nothing lists statuses", edits(noColumn("item", "converged", "statuses"), noColumn("item", "restarted", "statuses")), nil, []string{
			"point 1: killed after pwrite64 of library.db: the probe item lists no statuses (column statuses), so that two would not be seen",
			"point 2: killed after pwrite64 of sidecar.db: the probe item lists no statuses (column statuses), so that two would not be seen",
			"point 3: killed after pwrite64 of sidecar.db: the probe item lists no statuses (column statuses), so that two would not be seen"}},
		variant{"what complete leads to is not known", edits(noLook("item", "early")), nil, []string{
			"point 1: killed after pwrite64 of library.db: it is not known in which status a record ends that was ended by complete alone",
			"point 2: killed after pwrite64 of sidecar.db: it is not known in which status a record ends that was ended by complete alone",
			"point 3: killed after pwrite64 of sidecar.db: it is not known in which status a record ends that was ended by complete alone"}},
	)
	got := OneStatusAtEachPoint(changesKilled())
	if len(got.Points) != 3 || got.Points[0].Left != `status "doing", then "done"` || got.Points[2].Left != `status "done"` {
		t.Errorf("%+v", got.Points)
	}
}
