package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// incompletes tells of an update without a revision (c1), one without a command ID
// (c2), and one with both (c3).
func incompletes() history.History {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("update", params("draft", "d1", "command_id", "i1", "text", "A", "lacks", "its expected revision"), as("refused"))
	s.call("update", params("draft", "d1", "revision", "1", "text", "B", "lacks", "its command ID"), refused("", "-32602"))
	draftIs(s, "struck", 1, "JFK", "draft")
	s.call("update", mutating("i3", 1, "C"), confirms("i3", 1))
	draftIs(s, "converged", 2, "C", "draft", "i3")
	return s.told()
}

func TestIncompleteRefused(t *testing.T) {
	const summary, effect = "a mutation that lacks its revision or its command ID is not refused", "a mutation that lacks its revision or its command ID takes effect"
	rules(t, IncompleteRefused, incompletes(),
		variant{"it is applied", edits(ends("c1", confirms("i1", 1)), cell("draft", "struck", 0, "revision", 2)), finds(
			broken("RC-01", summary, "the update without its expected revision", "work_update was answered with confirmed: {}", "expected refused"),
			broken("RC-01", effect, "draft d1", `before: revision 1 with "JFK" and "Fair", status "draft", receipts []`, `behind it: revision 2 with "JFK" and "Fair", status "draft", receipts []`)), nil},
		variant{"it is a conflict", edits(field("c2", "outcome", "conflict")), finds(
			broken("RC-01", summary, "the update without its command ID", `work_update was answered with conflict: {"isError":true}`, "expected refused")), nil},
		variant{"it leaves a receipt", edits(rowsLater("receipts", "struck", row("command_id", "i1"))), finds(
			broken("RC-01", effect, "draft d1", `before: revision 1 with "JFK" and "Fair", status "draft", receipts []`, `behind it: revision 1 with "JFK" and "Fair", status "draft", receipts [i1]`)), nil},
		variant{"no answer", edits(ends("c1", unknown())), nil, []string{"the update without its expected revision got no answer: no answer within 15s"}},
		variant{"not seen", edits(noLook("draft", "struck")), nil, []string{"the draft d1 was not seen in the store at the moment struck"}},
		variant{"the whole one is refused too", edits(ends("c3", as("refused")), shows("receipts", "converged")), nil,
			[]string{"the update under command ID \"i3\", which expects revision 1, with which nothing is wrong, was answered with refused and has 0 receipts in the store, so that a refusal says nothing"}},
		variant{"no whole one", edits(noCall("c3")), nil, []string{"2 mutations lacked something and 0 did not; one of each is needed"}},
		variant{"none lacked", edits(noCall("c1", "c2")), nil, []string{"0 mutations lacked something and 1 did not; one of each is needed"}},
	)
}

func TestIncompletePastRefused(t *testing.T) {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	asks(s, "update", "struck", "a", mutating("", 1, "A", "lacks", "its command ID"), 400, "no")
	draftIs(s, "struck", 1, "JFK", "draft")
	asks(s, "update", "converged", "a", mutating("i2", 1, "A"), 200, "{}")
	rules(t, IncompletePastRefused, s.told(),
		variant{"it is applied", edits(reply("update", 0, "status", 200), cell("draft", "struck", 0, "changed", "A")), finds(
			broken("RC-01", "the server does not refuse a mutation that lacks its revision or its command ID",
				`account a asked the server for "update" under command ID "" without its command ID`, "it was answered with 200: no"),
			broken("RC-01", "a mutation that lacks its revision or its command ID takes effect", "draft d1",
				`before: revision 1 with "JFK" and "Fair", status "draft", receipts []`, `behind it: revision 1 with "A" and "Fair", status "draft", receipts []`)), nil},
		variant{"the server fails", edits(reply("update", 0, "status", 503)), finds(
			broken("RC-01", "the server does not refuse a mutation that lacks its revision or its command ID",
				`account a asked the server for "update" under command ID "" without its command ID`, "it was answered with 503: no")), nil},
		variant{"no answer", edits(lookFails("server-update", "struck")), nil, []string{
			`account a asked the server for "update" under command ID "" without its command ID, and no answer came`,
			"0 mutations lacked something and 1 did not; one of each is needed"}},
		variant{"the whole one is refused too", edits(reply("update", 1, "status", 400)), nil,
			[]string{`account a asked the server for "update" under command ID "i2" with nothing missing; it was answered with 400: {}, so that a refusal says nothing`}},
	)
}
