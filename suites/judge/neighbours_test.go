package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// twoEditors tells of two editors of draft d1: k1 of the first one is unknown, and k2
// of the second one is stale.
func twoEditors() history.History {
	s := newStory()
	s.seenAt("before", "helper.1", atFirst)
	s.seenAt("before", "helper.2", atFirst)
	s.call("update", firstUpdate, inDoubt("k1")) // c1
	s.seenAt("struck", "helper.1", committed)
	s.seenAt("struck", "helper.2", committed.showing("JFK", "fair", "saved"))
	s.callOn("helper.2", "read", readsAt("struck"), readAs(false, "BOS", "fair", 2, "saved")) // c2
	stale := refusedWith("k2", "revision_conflict")
	stale.Fields["outcome"] = "conflict"
	s.callOn("helper.2", "update", params("draft", "d1", "revision", "1", "command_id", "k2", "text", "OSL", "moment", "neighbour"), stale) // c3
	s.seenAt("neighbour", "helper.1", committed)
	s.seenAt("neighbour", "helper.2", committed.showing("BOS", "fair", "saved"))
	s.call("recheck_update", asksAgain("converged"), confirmedAs("k1", 1, 2)) // c4
	s.seenAt("converged", "helper.1", atLast)
	s.seenAt("converged", "helper.2", atLast)
	return s.told()
}

// labelOf changes the label of an editor at a moment.
func labelOf(editor, when, state string) edit {
	return each("editor "+editor, func(e history.Event) bool {
		return e.Kind == history.KindLook && e.Look.Probe == "editor" && e.Look.When == when && e.Look.Params["editor"] == editor
	}, func(e *history.Event) { e.Look.Rows[0]["save_state"] = state })
}

func TestNeighbourSeesNothing(t *testing.T) {
	second := `the update under command ID "k2", which expects revision 1`
	rules(t, NeighbourSeesNothing, twoEditors(),
		variant{"the outcome shows in the other one", edits(labelOf("helper.2", "struck", "unknown"), field("c2", "save_state", "unknown")),
			finds(broken("RC-27", "the unknown outcome of one editor shows in another", lostUpdate, "helper.2 shows it at the moment struck"),
				broken("RC-27", "a read through one editor tells of another one's unknown outcome", lostUpdate, "work_read was answered with no outcome: ")), nil},
		variant{"the stale write becomes unknown", edits(labelOf("helper.2", "neighbour", "unknown"), field("c3", "outcome", "OUTCOME_UNKNOWN")),
			finds(broken("RC-27", "the unknown outcome of one editor shows in another", lostUpdate, "helper.2 shows it at the moment neighbour"),
				broken("RC-27", "a stale write of another editor is no conflict", second, `work_update was answered with OUTCOME_UNKNOWN: {"isError":true}`)), nil},
		variant{"the stale write is applied", edits(ends("c3", confirmedAs("k2", 2, 3)), cell("draft", "neighbour", 0, "changed", "OSL"), cell("draft", "neighbour", 0, "revision", 3), addRows("receipts", "neighbour", row("command_id", "k2"))),
			finds(broken("RC-27", "a stale write of another editor is no conflict", second, "work_update was answered with confirmed: "),
				broken("RC-27", "a stale write of another editor was applied", second, `stored is "OSL" at revision 3 with 1 receipts of it, expected "BOS" at revision 2 with none`)), nil},
		variant{"the conflict settles the first one's", edits(labelOf("helper.1", "neighbour", "saved")),
			finds(broken("RC-27", "the conflict of one editor settles the outcome of another", lostUpdate, `its own editor's label says "saved" then`)), nil},
		variant{"the first one never showed it", edits(labelOf("helper.1", "struck", "saved")), nil,
			[]string{`the editor whose outcome is unknown does not show it: its label says "saved"`}},
		variant{"there is no second write", edits(noCall("c3")), nil, []string{"0 stale writes of a second editor were made, expected one"}},
		variant{"the write is not stale", edits(param("c3", "revision", "2")), nil,
			[]string{`the update under command ID "k2", which expects revision 2 was to be stale, and expects another revision than ` + lostUpdate}},
		variant{"the first one was not recovered", edits(noCall("c4")), nil, []string{"no recheck has confirmed " + lostUpdate + ", so that the editors were never at rest"}},
		variant{"the second editor was not seen", edits(noLook("editor", "struck")), nil,
			[]string{"the editor helper.1 of draft d1 was not seen at the moment struck", "the editor helper.2 of draft d1 was not seen at the moment struck"}},
	)
}
