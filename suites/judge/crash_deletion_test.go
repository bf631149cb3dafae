package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// deletionsKilled is WR-13: an item with a note queued on it, whose deletion was
// killed before it was written, between library and sidecar, and behind both.
func deletionsKilled() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1"), done("item_id", "i1")) // c1
	start := row("seq", 1, "kind", "start", "state", "applied", "class", nil)
	note := func(state string, class any) map[string]any {
		return row("seq", 2, "kind", "note", "text", "n", "state", state, "class", class)
	}
	s.mark("queued", "item_id", "i1", "queued", []any{2})
	s.look("item", "early", item("i1"), row("notes", list()))
	for i, at := range threeMoments {
		run := and(item("i1"), "run", at.run)
		killedAt(s, at.run, i+1, at.library, at.sidecar, "verified")
		if at.library < 10 {
			s.look("anchor", "restarted", run, row("state", "live"))
			s.look("item", "restarted", run, row("notes", list()))
			s.look("intents", "kept", run, start, note("applied", nil))
			s.look("item", "kept", run, row("notes", list("n")))
			s.look("intents", "converged", run, start, note("applied", nil))
		} else {
			s.look("anchor", "restarted", run, row("state", "dead", "reason", "deleted"))
			s.look("item", "restarted", run)
			s.look("intents", "converged", run, start, note("failed", "permanent"))
		}
		s.look("anchor", "converged", run, row("state", "dead", "reason", "deleted"))
		s.call("note", and(run, "about", "dead"), refused("permanent", "item_deleted")) // c2, c3, c4
	}
	return notAcknowledged(s.told(), "r1")
}

// notAcknowledged: the caller of a run was not answered.
func notAcknowledged(h history.History, run string) history.History {
	return with(h, ackOf(run, false))
}

// ackOf says whether the caller of a run was answered.
func ackOf(run string, acknowledged bool) edit {
	return each("run "+run, func(e history.Event) bool {
		return e.Kind == history.KindMark && e.Mark.Data["run"] == run && e.Mark.Name == "crash-point"
	},
		func(e *history.Event) { e.Mark.Data["acknowledged"] = acknowledged })
}

func TestDeletedAtEachPoint(t *testing.T) {
	const summary = "killed while an item is deleted, the app leaves half of the deletion"
	second := atTheSecond("WR-13", summary)
	first := func(wrong, name string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-13", summary+", at 1 of 3 crash points",
			"point 1: killed after pwrite64 of library.db: "+wrong, "3 runs, 3 of them struck where they should have been")), nil}
	}
	start := row("seq", 1, "kind", "start", "state", "applied", "class", nil)
	note := func(state string, class any) map[string]any {
		return row("seq", 2, "kind", "note", "text", "n", "state", state, "class", class)
	}
	const expected = `, which was queued at the deletion, is `
	rules(t, DeletedAtEachPoint, deletionsKilled(),
		second("item gone, anchor live", "the anchor of a deleted item stays live", inRun("r2", "anchor", "restarted", row("state", "live"))),
		first("item there, anchor dead", "the item stays and its anchor is dead", inRun("r1", "anchor", "restarted", row("state", "dead"))),
		first("the deletion was acknowledged, and the item is there", "acknowledged and not done", ackOf("r1", true)),
		first(`intent 2 (note)`+expected+`"retrying", class "transient"; expected "applied"`, "what was queued on an item that stays is not applied",
			inRun("r1", "intents", "kept", start, note("retrying", "transient"))),
		first("the note of intent 2 (note) is on the record 0 times", "a note of an item that stays is not on the record", inRun("r1", "item", "kept", row("notes", list("x")))),
		first("the note of intent 2 (note) is on the record 2 times", "a note of an item that stays is twice on the record", inRun("r1", "item", "kept", row("notes", list("n", "n")))),
		first("the item that was still there stands in the library 0 times once everything was applied", "the item goes later on", inRun("r1", "item", "kept")),
		first("the item was deleted and its anchor is live", "deleted again, the anchor stays live", inRun("r1", "anchor", "converged", row("state", "live"))),
		second("the item was deleted and its anchor is missing", "the anchor is gone", inRun("r2", "anchor", "converged")),
		second("the dead anchor keeps no reason", "no reason is kept", inRun("r2", "anchor", "converged", row("state", "dead", "reason", ""))),
		second("intent 2, which was queued at the deletion, was dropped", "what was queued is dropped", inRun("r2", "intents", "converged", start)),
		second(`intent 2 (note)`+expected+`"pending", class "blocked"; expected "failed"`, "what was queued waits for ever", inRun("r2", "intents", "converged", start, note("pending", "blocked"))),
		second(`a follow-up did not fail for good with the deletion named: outcome done, class "", code ""`, "a follow-up is accepted", ends("c3", done("state", "queued"))),
		second(`a follow-up did not fail for good with the deletion named: outcome refused, class "permanent", code "never_issued"`, "a follow-up is told something else", field("c3", "failure_code", "never_issued")),
		second("the app does not start again: exit code 1", "it does not start again", marked("restart-failed", "run", "r2", "error", "exit code 1")),
		variant{"a follow-up gets no answer", edits(ends("c3", unknown())), nil, []string{"point 2: killed after pwrite64 of sidecar.db: the follow-up c3 on the deleted item got no answer"}},
		variant{"no follow-up is sent", edits(noCall("c3")), nil, []string{"point 2: killed after pwrite64 of sidecar.db: no follow-up was sent to the deleted item"}},
		variant{"the item was not looked at while it was kept", edits(noLook("item", "kept")), nil,
			[]string{"point 1: killed after pwrite64 of library.db: the item that is still there, and its intents, were not seen once they had had their time"}},
		variant{"the probe shows no class", edits(noColumn("intents", "kept", "class")), nil, []string{`point 1: killed after pwrite64 of library.db: the probe intents shows no column "class"`}},
		variant{"nothing was queued", edits(markData("queued", "queued", []any{})), nil, []string{"item i1, with something queued on it, was not seen before it was deleted"}},
		variant{"the item was never seen", edits(shows("item", "early")), nil, []string{"item i1, with something queued on it, was not seen before it was deleted"}},
		variant{"the queue is not told", edits(noMark("queued")), nil, []string{"nothing was queued on an item that was then deleted"}},
		variant{"the anchors were not looked at behind it", edits(noLook("anchor", "restarted")), nil, []string{
			"point 1: killed after pwrite64 of library.db: item and anchor were not both seen behind it",
			"point 2: killed after pwrite64 of sidecar.db: item and anchor were not both seen behind it",
			"point 3: killed after pwrite64 of sidecar.db: item and anchor were not both seen behind it"}},
		variant{"no run was struck", edits(markData("crash-point", "standing", "drifted")), nil, []string{
			"of 3 runs at crash points 0 were verified before the library and the sidecar were written, 0 between the two, and 0 behind both; at least one of each is needed"}},
	)
}
