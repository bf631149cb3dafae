package judge

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// theTrace is that of the source: BOS is committed, its answer lost and its receipt
// hidden, the person types, and a recheck recovers it.
func theTrace() history.History {
	s := newStory()
	s.call("read", readsAt("before"), readAs(false, "JFK", "fair", 1, "saved")) // c1
	s.seenAt("before", "helper.1", atFirst)
	s.call("update", firstUpdate, inDoubt("k1")) // c2
	s.seenAt("struck", "helper.1", committed)
	s.call("recheck_update", asksAgain("rechecked"), inDoubt("k1")) // c3
	s.types("other", "mine", "typed")
	s.seenAt("typed", "helper.1", committed.showing("JFK", "mine", "unknown"))
	s.call("recheck_update", asksAgain("converged"), confirmedAs("k1", 1, 2))       // c4
	s.call("read", readsAt("converged"), readAs(true, "BOS", "fair", 2, "unsaved")) // c5
	s.seenAt("converged", "helper.1", atLast.showing("BOS", "mine", "unsaved"))
	return s.told()
}

func TestFlagship(t *testing.T) {
	unsure, sure := "while the outcome is unknown, the ", "behind the recovery, the "
	is := " is not what a surface should show"
	rules(t, Flagship, theTrace(),
		variant{"the answer says confirmed", edits(field("c2", "outcome", "confirmed")),
			finds(broken("RC-25", unsure+"outcome"+is, `expected "OUTCOME_UNKNOWN"`, `tool answer: "confirmed"`)), nil},
		variant{"the editor shows the new value", edits(cell("editor", "struck", 0, "changed", "BOS")),
			finds(broken("RC-25", unsure+"value"+is, `expected "visible editor: JFK, database: BOS"`, `visible editor: "BOS"`, `database: "BOS"`)), nil},
		variant{"the hidden receipt is taken for a failure", edits(field("c3", "outcome", "not_applied")),
			finds(broken("RC-25", "a recheck while the receipt is hidden knows the outcome", lostUpdate, `work_recheck_update was answered with not_applied: {"isError":true}`)), nil},
		variant{"the saved value is the old one", edits(field("c5", "saved_changed", "JFK")),
			finds(broken("RC-25", sure+"saved value"+is, `expected "BOS"`, `tool answer: "JFK"`, `visible editor: "BOS"`, `database: "BOS"`)), nil},
		variant{"the revision moved twice", edits(cell("draft", "converged", 0, "revision", 3)),
			finds(broken("RC-25", sure+"saved revision"+is, `expected "2"`, `tool answer: "2"`, `visible editor: "2"`, `database: "3"`)), nil},
		variant{"the person's text was saved", edits(cell("draft", "converged", 0, "other", "mine")),
			finds(broken("RC-25", sure+"saved other field"+is, `expected "fair"`, `tool answer: "fair"`, `database: "mine"`)), nil},
		variant{"the person's text is gone", edits(cell("editor", "converged", 0, "other", "fair")),
			finds(broken("RC-25", sure+"visible other field"+is, `expected "mine"`, `visible editor: "fair"`)), nil},
		variant{"the label says saved", edits(cell("editor", "converged", 0, "save_state", "saved")),
			finds(broken("RC-25", sure+"editor's label"+is, `expected "unsaved"`, `tool answer: "unsaved"`, `visible editor: "saved"`)), nil},
		variant{"the mutation was sent twice", edits(cell("server", "converged", 0, "came", 2)),
			finds(broken("RC-25", sure+"mutation requests"+is, `expected "1"`, `wire: "2"`)), nil},
		variant{"there is no receipt", edits(noRow("receipts", "converged", 0)),
			finds(broken("RC-25", sure+"matching receipts"+is, `expected "1"`, `database: "0"`)), nil},
		variant{"a value is empty", edits(cell("editor", "converged", 0, "other", "")),
			finds(broken("RC-25", sure+"visible other field"+is, `expected "mine"`, `visible editor: "(empty)"`)), nil},
		variant{"the editor shows no revision", edits(noColumn("editor", "struck", "revision"), noColumn("editor", "converged", "revision")), nil, nil},
		variant{"nobody typed", edits(noMark("typed")), nil, []string{"the person has to type once into the other field while the outcome is unknown, and typed 0 times"}},
		variant{"nothing was asked for", edits(noCall("c2")), nil, []string{"0 mutations were asked for, expected one update"}},
		variant{"the receipt was never hidden", edits(noCall("c3")), nil, []string{"0 rechecks were made while the receipt was hidden and 1 behind it; one of each is needed"}},
		variant{"nobody read", edits(noCall("c5")), nil, []string{"no read of draft d1 at the moment converged tells unsaved, saved_changed and saved_other"}},
		variant{"the database was not looked at", edits(noLook("receipts", "converged")), nil, []string{"the receipts of draft d1 were not seen at the moment converged"}},
	)
}

// The table is there also where everything agrees.
func TestFlagshipLaysTheSurfacesSideBySide(t *testing.T) {
	g := NewWithT(t)
	told := Ruled(All(Placed("none", 0), Flagship), theTrace()).Comparisons
	g.Expect(told).To(HaveLen(2))
	g.Expect(told[0].Title).To(Equal("The surfaces while the outcome is unknown"))
	g.Expect(told[0].Rows).To(ContainElement(reports.Compared{Of: "value", Expected: "visible editor: JFK, database: BOS", Shown: []string{"", "JFK", "BOS", ""}, Agrees: true}))
	var rows []string
	for _, row := range told[1].Rows {
		rows = append(rows, row.Of)
		g.Expect(row.Agrees).To(BeTrue(), row.Of)
		g.Expect(row.Shown).To(HaveLen(len(told[1].Surfaces)))
	}
	g.Expect(rows).To(Equal([]string{"saved value", "saved revision", "saved other field", "visible other field", "editor's label", "mutation requests", "matching receipts"}))
}
