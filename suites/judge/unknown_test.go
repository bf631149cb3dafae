package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// lostAndRecovered tells of k1, whose answer was lost behind the commit, and of a
// recheck that confirms it.
func lostAndRecovered() history.History {
	s := newStory()
	s.seenAt("before", "helper.1", atFirst)
	s.call("update", firstUpdate, inDoubt("k1")) // c1
	s.seenAt("struck", "helper.1", committed)
	s.call("recheck_update", asksAgain("converged"), confirmedAs("k1", 1, 2)) // c2
	s.seenAt("converged", "helper.1", atLast)
	return s.told()
}

func TestUnknownOnceLost(t *testing.T) {
	rules(t, UnknownOnceLost, lostAndRecovered(),
		variant{"told as refused", edits(ends("c1", refusedWith("k1", "lost"))),
			finds(broken("RC-07", "a lost response is not told as an unknown outcome", lostUpdate, `work_update was answered with refused: {"isError":true}`, "expected OUTCOME_UNKNOWN")), nil},
		variant{"told as confirmed", edits(field("c1", "outcome", "confirmed")),
			finds(broken("RC-07", "a lost response is not told as an unknown outcome", lostUpdate, `work_update was answered with confirmed: {"isError":true}`, "expected OUTCOME_UNKNOWN")), nil},
		variant{"under another ID", edits(field("c1", "command_id", "k2")),
			finds(broken("RC-07", "an unknown outcome does not name its own command", lostUpdate, `the answer names "k2"`)), nil},
		variant{"no way to ask again", edits(noField("c1", "recheck")),
			finds(broken("RC-07", "an unknown outcome does not say how to ask again", lostUpdate, `the answer names no tool: {"isError":true}`)), nil},
		variant{"the editor shows the new value", edits(cell("editor", "struck", 0, "changed", "BOS")),
			finds(broken("RC-07", newShown, lostUpdate, `the editor showed "JFK" before, and shows "BOS" while the outcome is unknown`)), nil},
		variant{"the editor shows the new revision", edits(cell("editor", "struck", 0, "revision", 2)),
			finds(broken("RC-07", "the editor shows a revision of which it cannot know", lostUpdate, "the editor shows revision 2, expected 1; stored is 2")), nil},
		variant{"the editor says saved", edits(cell("editor", "struck", 0, "save_state", "saved")),
			finds(broken("RC-07", noDoubtShown, lostUpdate, `its label says "saved"`)), nil},
		variant{"it was not committed", edits(cell("draft", "struck", 0, "revision", 1)), nil,
			[]string{lostUpdate + " was to be committed, and the draft is stored at revision 1"}},
		variant{"the store was not seen", edits(noLook("draft", "struck")), nil,
			[]string{"the draft d1 was not seen in the store at the moment struck"}},
		variant{"no command", edits(noCall("c1")), nil, []string{"no command was given"}},
	)
}

func TestOneMutation(t *testing.T) {
	rules(t, OneMutation, lostAndRecovered(),
		variant{"sent twice", edits(wireOf("converged", "update", "came", 2)),
			finds(broken("RC-09", "a mutation was sent again", lostUpdate, `2 requests "update" about draft d1 came, expected 1`)), nil},
		variant{"nothing counted", edits(wireOf("converged", "update", "came", 0)), nil,
			[]string{"no request came to the wire for " + lostUpdate + ", so that the counter shows nothing"}},
		variant{"the wire was not looked at", edits(noLook("server", "converged")), nil,
			[]string{`the requests "update" about draft d1 were not counted at the moment converged`}},
		variant{"no command", edits(noCall("c1")), nil, []string{"no command was given"}},
	)
}

func TestConfirmedByRecheck(t *testing.T) {
	rules(t, ConfirmedByRecheck, lostAndRecovered(),
		variant{"still unknown", edits(ends("c2", inDoubt("k1"))),
			finds(broken("RC-11", "a command whose receipt is there is not confirmed", lostUpdate, `work_recheck_update was answered with OUTCOME_UNKNOWN: {"isError":true}`)), nil},
		variant{"another command", edits(field("c2", "command_id", "k2")),
			finds(broken("RC-11", "a recheck confirms another command", lostUpdate, `the answer names "k2"`)), nil},
		variant{"other revisions", edits(field("c2", "from_revision", 2), field("c2", "to_revision", 3)),
			finds(broken("RC-11", "a recheck confirms other revisions", lostUpdate, "confirmed is 2 → 3, expected 1 → 2")), nil},
		variant{"no receipt", edits(shows("receipts", "converged")),
			finds(broken("RC-11", "a confirmed command is not the one that is stored", lostUpdate, "stored is revision 2 with 0 receipts of it")), nil},
		variant{"two receipts", edits(rowsLater("receipts", "converged", row("command_id", "k1"))),
			finds(broken("RC-11", "a confirmed command is not the one that is stored", lostUpdate, "stored is revision 2 with 2 receipts of it")), nil},
		variant{"the editor stays behind", edits(cell("editor", "converged", 0, "revision", 1)),
			finds(broken("RC-11", "the editor does not take the confirmed revision over", lostUpdate, "the editor shows revision 1, stored is 2")), nil},
		variant{"the editor stays unknown", edits(cell("editor", "converged", 0, "save_state", "unknown")),
			finds(broken("RC-11", "the editor does not come to rest behind a confirmation", lostUpdate, `its label says "unknown"`)), nil},
		variant{"nobody asked", edits(noCall("c2")), nil, []string{"nobody asked what came of " + lostUpdate}},
		variant{"the editor was not seen", edits(noLook("editor", "converged")), nil,
			[]string{"the editor of draft d1 was not seen at the moment converged"}},
	)
}
