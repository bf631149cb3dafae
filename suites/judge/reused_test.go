package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// reusing tells of an update (c1), another one under its ID (c2), and that one under
// an ID of its own (c3).
func reusing() history.History {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("update", mutating("i1", 1, "BOS"), confirms("i1", 1))
	draftIs(s, "first", 2, "BOS", "draft", "i1")
	s.call("update", mutating("i1", 1, "OSL", "reuses", "another text"), as("refused"))
	draftIs(s, "struck", 2, "BOS", "draft", "i1")
	s.call("update", mutating("i3", 2, "OSL"), confirms("i3", 2))
	draftIs(s, "converged", 3, "OSL", "draft", "i1", "i3")
	return s.told()
}

func TestReusedRefused(t *testing.T) {
	const summary, c = "a command ID is not refused for something else than it was used for", `the update under command ID "i1", which expects revision 1`
	rules(t, ReusedRefused, reusing(),
		variant{"it is taken for a replay", edits(ends("c2", confirms("i1", 1))), finds(
			broken("RC-05", summary, c, "it is reused for another text", "work_update was answered with confirmed: {}", "expected refused")), nil},
		variant{"it is a conflict", edits(field("c2", "outcome", "conflict")), finds(
			broken("RC-05", summary, c, "it is reused for another text", "work_update was answered with conflict: {}", "expected refused")), nil},
		variant{"it is refused and applied", edits(cell("draft", "struck", 0, "changed", "OSL")), finds(
			broken("RC-05", "a reused command ID changes something", "draft d1", `before: revision 2 with "BOS" and "Fair", status "draft", receipts [i1]`,
				`behind it: revision 2 with "OSL" and "Fair", status "draft", receipts [i1]`)), nil},
		variant{"no answer", edits(ends("c2", unknown())), nil, []string{c + " got no answer: no answer within 15s"}},
		variant{"the same is refused under its own ID", edits(ends("c3", as("refused"))), nil,
			[]string{`the update under command ID "i3", which expects revision 2, with which nothing is wrong, was answered with refused and has 1 receipts in the store, so that a refusal says nothing`}},
		variant{"nothing was reused", edits(noCall("c2")), nil, []string{"0 command IDs were reused and 2 fresh; one and two are needed"}},
		variant{"no control", edits(noCall("c3")), nil, []string{"1 command IDs were reused and 1 fresh; one and two are needed"}},
	)
}

func TestReusedPastRefused(t *testing.T) {
	s := newStory()
	asks(s, "update", "first", "a", mutating("i1", 1, "BOS"), 200, "{}")
	draftIs(s, "first", 2, "BOS", "draft", "i1")
	asks(s, "update", "struck", "a", mutating("i1", 1, "OSL", "reuses", "another text"), 422, "no")
	draftIs(s, "struck", 2, "BOS", "draft", "i1")
	asks(s, "update", "converged", "a", mutating("i3", 2, "OSL"), 200, "{}")
	const who = `account a asked the server for "update" under command ID `
	rules(t, ReusedPastRefused, s.told(),
		variant{"it is taken", edits(reply("update", 1, "status", 200)), finds(
			broken("RC-05", "the server does not refuse a command ID for something else than it was used for", who+`"i1"`, "it is reused for another text", "it was answered with 200: no")), nil},
		variant{"it is refused and applied", edits(cell("draft", "struck", 0, "revision", 3)), finds(
			broken("RC-05", "a reused command ID changes something", "draft d1", `before: revision 2 with "BOS" and "Fair", status "draft", receipts [i1]`,
				`behind it: revision 3 with "BOS" and "Fair", status "draft", receipts [i1]`)), nil},
		variant{"no answer", edits(lookFails("server-update", "struck")), nil,
			[]string{who + `"i1" again, and no answer came`, "0 command IDs were reused and 2 fresh; one and two are needed"}},
		variant{"the same is refused under its own ID", edits(reply("update", 2, "status", 422)), nil,
			[]string{who + `"i3", with which nothing is wrong; it was answered with 422: {}, so that a refusal says nothing`}},
	)
}
