package judge

import "testing"

func TestFencedStaysOut(t *testing.T) {
	s := newStory()
	of := params("draft", "d1")
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("update", mutating("i1", 1, "BOS", "held", "yes"), as("OUTCOME_UNKNOWN"))
	s.call("recheck_update", params("draft", "d1", "command_id", "i1", "moment", "rechecked"), as("not_applied")) // c2
	s.look("server", "rechecked", of, row("request", "update", "came", 1, "passed", 0))
	asks(s, "update", "struck", "a", mutating("i1", 1, "BOS"), 409, "fenced")
	draftIs(s, "struck", 1, "JFK", "draft")
	s.look("server", "struck", of, row("request", "update", "came", 1, "passed", 1))
	s.call("update", mutating("i2", 1, "OSL"), confirms("i2", 1)) // c3
	draftIs(s, "converged", 2, "OSL", "draft", "i2")
	const c = `the update under command ID "i1", which expects revision 1`
	rules(t, FencedStaysOut, s.told(),
		variant{"it is applied when it comes", edits(cell("draft", "struck", 0, "revision", 2), shows("receipts", "struck", row("command_id", "i1"))), finds(
			broken("RC-28", "a command that was declared not applied is applied by its late request", "draft d1", `before: revision 1 with "JFK" and "Fair", status "draft", receipts []`,
				`behind it: revision 2 with "JFK" and "Fair", status "draft", receipts [i1]`)), nil},
		variant{"it is taken when it is sent again", edits(reply("update", 0, "status", 200)), finds(
			broken("RC-28", "a command that was declared not applied is not refused", `account a asked the server for "update" under command ID "i1"`, "it was answered with 200: fenced")), nil},
		variant{"it is not declared", edits(field("c2", "outcome", "OUTCOME_UNKNOWN")), finds(
			broken("RC-28", "a command that is given up is not declared not applied", c, "work_recheck_update was answered with OUTCOME_UNKNOWN: {}")), nil},
		variant{"it never came", edits(cell("server", "struck", 0, "passed", 0)), nil,
			[]string{"0 requests of " + c + " arrived behind its recheck, expected one, so that nothing says that it is refused"}},
		variant{"nobody gave it up", edits(noCall("c2")), nil, []string{"nobody gave up " + c}},
		variant{"a later one is refused too", edits(ends("c3", as("refused"))), nil,
			[]string{`the update under command ID "i2", which expects revision 1, with which nothing is wrong, was answered with refused and has 1 receipts in the store, so that a refusal says nothing`}},
		variant{"no later one", edits(noCall("c3")), nil, []string{"1 commands were fenced and 0 not; one of each is needed"}},
	)
}

func TestGivenUpConfirmed(t *testing.T) {
	s := newStory()
	s.call("update", mutating("i1", 1, "BOS"), as("OUTCOME_UNKNOWN"))
	draftIs(s, "struck", 2, "BOS", "draft", "i1")
	s.call("recheck_update", params("draft", "d1", "command_id", "i1", "moment", "converged"), confirms("i1", 1)) // c2
	draftIs(s, "converged", 2, "BOS", "draft", "i1")
	const c, summary = `the update under command ID "i1", which expects revision 1`, "a command that was applied is given up"
	rules(t, GivenUpConfirmed, s.told(),
		variant{"it is declared not applied", edits(ends("c2", as("not_applied"))), finds(
			broken("RC-28", summary, c, "work_recheck_update was answered with not_applied: {}", "expected confirmed, 1 → 2")), nil},
		variant{"other revisions", edits(field("c2", "to_revision", 3)), finds(
			broken("RC-28", summary, c, "work_recheck_update was answered with confirmed: {}", "expected confirmed, 1 → 2")), nil},
		variant{"it is undone", edits(cell("draft", "converged", 0, "revision", 1)), finds(
			broken("RC-28", "to give up a command that was applied changes the draft", "draft d1", `before: revision 2 with "BOS" and "Fair", status "draft", receipts [i1]`,
				`behind it: revision 1 with "BOS" and "Fair", status "draft", receipts [i1]`)), nil},
		variant{"it was not committed", edits(cell("draft", "struck", 0, "revision", 1)), nil,
			[]string{c + " was to be committed and given up; stored is revision 1, and it was given up 1 times"}},
		variant{"nobody gave it up", edits(noCall("c2")), nil, []string{c + " was to be committed and given up; stored is revision 2, and it was given up 0 times"}},
	)
}
