package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// onTheWay is the moment at which k1 has not come to the server, and is in doubt.
var onTheWay = moment{changed: "JFK", other: "fair", revision: 1, visible: "JFK", otherVisible: "fair", state: "unknown", shown: 1, updates: 1, lookup: 1}

// wireOf changes what the wire has counted of a kind of requests at a moment.
func wireOf(when, kind, column string, n int) edit {
	return each("requests "+kind, isLook("server", when), func(e *history.Event) {
		for _, r := range e.Look.Rows {
			if r["request"] == kind {
				r[column] = n
			}
		}
	})
}

// neverArrived tells of k1, whose request was lost, and of a recheck that finds nothing.
func neverArrived() history.History {
	s := newStory()
	s.seenAt("before", "helper.1", atFirst)
	s.call("update", firstUpdate, inDoubt("k1")) // c1
	s.seenAt("struck", "helper.1", onTheWay)
	s.call("recheck_update", asksAgain("rechecked"), inDoubt("k1")) // c2
	s.seenAt("rechecked", "helper.1", onTheWay)
	return with(s.told(), wireOf("struck", "update", "passed", 0))
}

const (
	noDoubtShown = "the editor does not show that an outcome is unknown"
	newShown     = "the editor shows a value of which it cannot know that it is saved"
)

func TestUnknownThoughLost(t *testing.T) {
	rules(t, UnknownThoughLost, neverArrived(),
		variant{"told as refused", edits(ends("c1", refusedWith("k1", "lost"))),
			finds(broken("RC-07", "a lost response is not told as an unknown outcome", lostUpdate, `work_update was answered with refused: {"isError":true}`, "expected OUTCOME_UNKNOWN")), nil},
		variant{"the editor says saved", edits(cell("editor", "struck", 0, "save_state", "saved")),
			finds(broken("RC-07", noDoubtShown, lostUpdate, `its label says "saved" at the moment struck`)), nil},
		variant{"the editor shows the new value", edits(cell("editor", "struck", 0, "changed", "BOS")),
			finds(broken("RC-07", newShown, lostUpdate, `the editor showed "JFK" before, and shows "BOS" at the moment struck; 0 receipts are stored`)), nil},
		variant{"it arrived", edits(wireOf("struck", "update", "passed", 1)), nil,
			[]string{lostUpdate + " was to be lost on its way; 1 requests came, 1 passed, and the draft is stored at revision 1"}},
		variant{"it was committed", edits(cell("draft", "struck", 0, "revision", 2)), nil,
			[]string{lostUpdate + " was to be lost on its way; 1 requests came, 0 passed, and the draft is stored at revision 2"}},
		variant{"it never left", edits(wireOf("struck", "update", "came", 0)), nil,
			[]string{lostUpdate + " was to be lost on its way; 0 requests came, 0 passed, and the draft is stored at revision 1"}},
		variant{"the editor was not seen", edits(lookFails("editor", "struck")), nil,
			[]string{"the editor of draft d1 was not seen at the moment struck: the look itself failed"}},
		variant{"nobody looked at the editor", edits(noLook("editor", "struck")), nil, []string{"the editor of draft d1 was not seen at the moment struck"}},
		variant{"no command", edits(noCall("c1")), nil, []string{"no command was given"}},
	)
}

func TestAbsenceProvesNothing(t *testing.T) {
	rules(t, AbsenceProvesNothing, neverArrived(),
		variant{"told as refused", edits(ends("c2", refusedWith("k1", "no_receipt"))),
			finds(broken("RC-24", "a recheck that cannot know is not told as an unknown outcome", lostUpdate, `work_recheck_update was answered with refused: {"isError":true}`, "expected OUTCOME_UNKNOWN")), nil},
		variant{"told as never applied", edits(ends("c2", done("outcome", "not_applied", "command_id", "k1"))),
			finds(broken("RC-24", "a recheck that cannot know is not told as an unknown outcome", lostUpdate, `work_recheck_update was answered with not_applied: `, "expected OUTCOME_UNKNOWN")), nil},
		variant{"under another ID", edits(field("c2", "command_id", "k2")),
			finds(broken("RC-24", "an outcome that is still unknown does not name its own command", lostUpdate, `the answer names "k2"`)), nil},
		variant{"the editor gives it up", edits(cell("editor", "rechecked", 0, "save_state", "saved")),
			finds(broken("RC-24", noDoubtShown, lostUpdate, `its label says "saved" at the moment rechecked`)), nil},
		variant{"nobody asked", edits(noCall("c2")), nil, []string{"nobody asked what came of " + lostUpdate + " while it could not be known"}},
		variant{"a receipt is there", edits(rowsLater("receipts", "rechecked", row("command_id", "k1"))), nil,
			[]string{lostUpdate + " has 1 receipts in the store, where 0 were expected"}},
		variant{"the recheck asked nothing", edits(wireOf("rechecked", "lookup", "came", 0)), nil,
			[]string{"no lookup came to the wire for " + lostUpdate + ", so that the recheck has asked nothing"}},
	)
}

// hiddenReceipt tells of two rechecks of k1 while its receipt cannot be seen.
func hiddenReceipt() history.History {
	s := newStory()
	s.seenAt("before", "helper.1", atFirst)
	s.call("update", firstUpdate, inDoubt("k1")) // c1
	asked := committed
	for range 2 {
		s.call("recheck_update", asksAgain("rechecked"), inDoubt("k1")) // c2, c3
		asked.lookup++
		s.seenAt("rechecked", "helper.1", asked)
	}
	return s.told()
}

func TestHiddenProvesNothing(t *testing.T) {
	rules(t, HiddenProvesNothing, hiddenReceipt(),
		variant{"the first one is told as refused", edits(ends("c2", refusedWith("k1", "unavailable"))),
			finds(broken("RC-10", "a recheck that cannot know is not told as an unknown outcome", lostUpdate, `work_recheck_update was answered with refused: {"isError":true}`, "expected OUTCOME_UNKNOWN")), nil},
		variant{"the second one is confirmed", edits(ends("c3", confirmedAs("k1", 1, 2))),
			finds(broken("RC-10", "a recheck that cannot know is not told as an unknown outcome", lostUpdate, `work_recheck_update was answered with confirmed: `, "expected OUTCOME_UNKNOWN")), nil},
		variant{"the editor stays saving", edits(cell("editor", "rechecked", 0, "save_state", "saving")),
			finds(
				broken("RC-10", noDoubtShown, lostUpdate, `its label says "saving" at the moment rechecked`),
				broken("RC-10", noDoubtShown, lostUpdate, `its label says "saving" at the moment rechecked`)), nil},
		variant{"there is no receipt to be hidden", edits(shows("receipts", "rechecked")), nil,
			[]string{lostUpdate + " has 0 receipts in the store, where 1 were expected"}},
		variant{"the receipts were not seen", edits(noLook("receipts", "rechecked")), nil,
			[]string{"the receipts of draft d1 were not seen at the moment rechecked"}},
	)
}

// What is found under another clause is found once, and with the same words.
func TestUnder(t *testing.T) {
	rules(t, Under("RC-26", HiddenProvesNothing), hiddenReceipt(),
		variant{"a finding", edits(field("c2", "command_id", "k2")),
			finds(broken("RC-26", "an outcome that is still unknown does not name its own command", lostUpdate, `the answer names "k2"`)), nil},
		variant{"a doubt", edits(noLook("receipts", "rechecked")), nil, []string{"the receipts of draft d1 were not seen at the moment rechecked"}},
	)
}
