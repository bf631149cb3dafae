package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// askedMeanwhile tells of an update and a submission that are refused while k1 is
// unknown, of a person who types before and meanwhile, and of the same two behind the
// recovery.
func askedMeanwhile() history.History {
	s := newStory()
	s.types("other", "early", "before")
	s.seenAt("before", "helper.1", atFirst.showing("JFK", "early", "unsaved"))
	s.call("update", firstUpdate, inDoubt("k1")) // c1
	doubtful := committed.showing("JFK", "early", "unknown")
	s.seenAt("struck", "helper.1", doubtful)
	update, submission := params("draft", "d1", "command_id", "k2", "text", "OSL"), params("draft", "d1", "command_id", "k3")
	s.call("update", and(update, "revision", "2", "moment", "meanwhile"), refusedWith("k2", "unresolved", "recheck", "work_recheck_update"))     // c2
	s.call("submit", and(submission, "revision", "2", "moment", "meanwhile"), refusedWith("k3", "unresolved", "recheck", "work_recheck_update")) // c3
	s.seenAt("meanwhile", "helper.1", doubtful)
	s.types("other", "late", "typed")
	s.seenAt("typed", "helper.1", committed.showing("JFK", "late", "unknown"))
	s.call("recheck_update", asksAgain("converged"), confirmedAs("k1", 1, 2)) // c4
	s.seenAt("converged", "helper.1", atLast.showing("BOS", "late", "unsaved"))
	s.call("update", and(update, "revision", "2", "moment", "afterwards"), confirmedAs("k2", 2, 3))     // c5
	s.call("submit", and(submission, "revision", "3", "moment", "afterwards"), confirmedAs("k3", 3, 4)) // c6
	s.seenAt("afterwards", "helper.1", moment{changed: "OSL", other: "fair", revision: 4, receipts: []string{"k1", "k2", "k3"}, visible: "OSL", otherVisible: "late", state: "unsaved", shown: 4, updates: 2, submits: 1, lookup: 1})
	return s.told()
}

func TestRefusedWhileUnknown(t *testing.T) {
	second, third := `the update under command ID "k2", which expects revision 2`, `the submit under command ID "k3", which expects revision 2`
	rules(t, RefusedWhileUnknown, askedMeanwhile(),
		variant{"another update goes through", edits(ends("c2", confirmedAs("k2", 2, 3)), cell("server", "meanwhile", 0, "came", 2), addRows("receipts", "meanwhile", row("command_id", "k2"))),
			finds(broken("RC-22", "another mutation is not refused while an outcome is unknown", second, "unknown is "+lostUpdate, "work_update was answered with confirmed: "),
				broken("RC-22", "another mutation went to the server while an outcome was unknown", second, `1 requests "update" came`),
				broken("RC-22", "another mutation was applied while an outcome was unknown", second, "the store has 1 receipts of it")), nil},
		variant{"a submission goes out although it is refused", edits(cell("server", "meanwhile", 1, "came", 1)),
			finds(broken("RC-22", "another mutation went to the server while an outcome was unknown", third, `1 requests "submit" came`)), nil},
		variant{"nothing says how to go on", edits(noField("c2", "recheck")),
			finds(broken("RC-22", "the refusal of another mutation does not point to the recheck", second, `it points to "", and the unknown outcome to "work_recheck_update": {"isError":true}`)), nil},
		variant{"it points to another recheck", edits(field("c3", "recheck", "work_recheck_submit")),
			finds(broken("RC-22", "the refusal of another mutation does not point to the recheck", third, `it points to "work_recheck_submit", and the unknown outcome to "work_recheck_update": {"isError":true}`)), nil},
		variant{"it is not sent", edits(field("c2", "outcome", "not_sent")), nil, nil},
		variant{"the recheck does not work any more", edits(ends("c4", refusedWith("k1", "no_such_outcome"))),
			finds(broken("RC-22", "the recheck does not confirm behind a mutation that was refused", lostUpdate, `work_recheck_update was answered with refused: {"isError":true}`)), nil},
		variant{"nothing else was asked for", edits(noCall("c2", "c3")), nil, []string{"no other mutation was asked for while the outcome was unknown"}},
		variant{"it is refused at any time", edits(field("c5", "outcome", "refused")), nil, []string{second + " is not confirmed behind the recovery either: work_update was answered with refused: "}},
		variant{"nothing is ever counted", edits(cell("server", "afterwards", 1, "came", 0)), nil,
			[]string{`the submit under command ID "k3", which expects revision 3 was confirmed behind the recovery, and 0 requests were counted`}},
		variant{"it was not asked for again", edits(noCall("c6")), nil, []string{third + " was not asked for again behind the recovery"}},
		variant{"nobody rechecked", edits(noCall("c4")), nil, []string{"nobody asked what came of " + lostUpdate}},
		variant{"the wire was not looked at", edits(noLook("server", "meanwhile")), nil,
			[]string{`the requests "update" about draft d1 were not counted at the moment meanwhile`, `the requests "submit" about draft d1 were not counted at the moment meanwhile`}},
	)
}

func TestTypingGoesOn(t *testing.T) {
	late := `while the outcome was unknown the person typed "late" into the other field`
	second := func(e history.Event) bool { return e.Kind == history.KindMark && e.Mark.Data["text"] == "late" }
	rules(t, TypingGoesOn, askedMeanwhile(),
		variant{"the editor is locked", edits(each("typed", second, func(e *history.Event) { e.Mark.Data["refused"] = "409 unresolved" })),
			finds(broken("RC-22", "the person cannot go on typing while an outcome is unknown", late, "the editor refused it: 409 unresolved")), nil},
		variant{"the editor drops it", edits(cell("editor", "typed", 0, "other", "early")),
			finds(broken("RC-22", "the editor drops what the person types while an outcome is unknown", late, `it shows "early"`)), nil},
		variant{"it never took a text", edits(cell("editor", "before", 0, "other", "fair")), nil,
			[]string{`before the dispatch the person typed "early" into the other field, and the editor showed "fair" then`}},
		variant{"nobody typed", edits(noMark("typed")), nil,
			[]string{"the person typed 0 times before the dispatch and 0 times while the outcome was unknown; one of each is needed"}},
	)
}
