package judge

import "testing"

func TestStaleIsConflict(t *testing.T) {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("update", mutating("i1", 1, "BOS"), confirms("i1", 1))
	draftIs(s, "first", 2, "BOS", "draft", "i1")
	s.call("update", mutating("i2", 1, "OSL", "stale", "yes"), as("conflict"))
	draftIs(s, "struck", 2, "BOS", "draft", "i1")
	s.call("update", mutating("i3", 2, "LAX"), confirms("i3", 2))
	draftIs(s, "converged", 3, "LAX", "draft", "i1", "i3")
	const c, summary = `the update under command ID "i2", which expects revision 1`, "a stale revision is not told as a conflict"
	rules(t, StaleIsConflict, s.told(),
		variant{"it is unknown", edits(field("c2", "outcome", "OUTCOME_UNKNOWN"), cell("editor", "struck", 0, "save_state", "unknown")), finds(
			broken("RC-06", summary, c, "work_update was answered with OUTCOME_UNKNOWN: {}", "expected conflict"),
			broken("RC-06", "behind a conflict the editor shows an outcome as open", c, `its label says "unknown"`)), nil},
		variant{"it is refused without a word of the conflict", edits(field("c2", "outcome", "refused")), finds(
			broken("RC-06", summary, c, "work_update was answered with refused: {}", "expected conflict")), nil},
		variant{"it wins", edits(ends("c2", confirms("i2", 2)), cell("draft", "struck", 0, "changed", "OSL")), finds(
			broken("RC-06", summary, c, "work_update was answered with confirmed: {}", "expected conflict"),
			broken("RC-06", "a command with a stale revision changes the draft", "draft d1", `before: revision 2 with "BOS" and "Fair", status "draft", receipts [i1]`,
				`behind it: revision 2 with "OSL" and "Fair", status "draft", receipts [i1]`)), nil},
		variant{"the editor stays saving", edits(cell("editor", "struck", 0, "save_state", "saving")), finds(
			broken("RC-06", "behind a conflict the editor shows an outcome as open", c, `its label says "saving"`)), nil},
		variant{"it was not stale", edits(cell("draft", "first", 0, "revision", 1)), nil, []string{c + ", and the draft was at revision 1, so that it was not stale"}},
		variant{"no answer", edits(ends("c2", unknown())), nil, []string{c + " got no answer: no answer within 15s"}},
		variant{"the present revision is a conflict too", edits(ends("c3", as("conflict"))), nil,
			[]string{`the update under command ID "i3", which expects revision 2, with which nothing is wrong, was answered with conflict and has 1 receipts in the store, so that a refusal says nothing`}},
		variant{"none was stale", edits(noCall("c2")), nil, []string{"0 commands were stale and 2 not; one of each is needed"}},
	)
}
