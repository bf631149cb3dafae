package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// replaying tells of an update (c1), a later one (c2), and the first one again (c3).
func replaying() history.History {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("update", mutating("i1", 1, "BOS"), confirms("i1", 1))
	s.call("update", mutating("i2", 2, "OSL"), confirms("i2", 2))
	s.call("update", mutating("i1", 1, "BOS"), confirms("i1", 1))
	draftIs(s, "converged", 3, "OSL", "draft", "i1", "i2")
	return s.told()
}

func TestReplayedOnce(t *testing.T) {
	const result, first = "a replayed command is not answered with its stored result", `the update under command ID "i1", which expects revision 1`
	rules(t, ReplayedOnce, replaying(),
		variant{"it is a conflict", edits(ends("c3", as("conflict"))), finds(
			broken("RC-04", result, first, "it was confirmed as 1 → 2", "replayed, work_update was answered with conflict: {}")), nil},
		variant{"it tells the present", edits(ends("c3", confirms("i1", 2))), finds(
			broken("RC-04", result, first, "it was confirmed as 1 → 2", "replayed, work_update was answered with confirmed: {}")), nil},
		variant{"the revision moves", edits(cell("draft", "converged", 0, "revision", 4)), finds(
			broken("RC-04", "a command that came again moved the revision", "draft d1", "2 commands were given and the revision moved by 3")), nil},
		variant{"it is applied over a later one", edits(cell("draft", "converged", 0, "changed", "BOS"), cell("editor", "converged", 0, "changed", "BOS")), finds(
			broken("RC-04", "a replayed command is applied over a later one", "draft d1", `stored is "BOS", expected that of the last command, "OSL"`)), nil},
		variant{"a second receipt", edits(rowsLater("receipts", "converged", row("command_id", "i1"))), finds(
			broken("RC-04", "a command that came again has not one receipt", "command ID i1", "stored are 2 receipts of it")), nil},
		variant{"the editor goes back", edits(cell("editor", "converged", 0, "changed", "BOS")), finds(
			broken("RC-04", "the editor does not show what is saved behind a replayed command", "draft d1", `it shows "BOS" and its label says "saved"; saved is "OSL"`)), nil},
		variant{"the first one failed", edits(ends("c2", as("refused"))), nil,
			[]string{`the update under command ID "i2", which expects revision 2 was to be confirmed before it is replayed, and was answered with refused`}},
		variant{"nothing was replayed", edits(noCall("c3")), nil, []string{"no command was replayed"}},
		variant{"the receipts were not seen", edits(noLook("receipts", "converged")), nil, []string{"the receipts of draft d1 were not seen at the moment converged"}},
	)
}

func TestDuplicatedOnce(t *testing.T) {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("update", mutating("i1", 1, "BOS"), confirms("i1", 1))
	draftIs(s, "converged", 2, "BOS", "draft", "i1")
	rules(t, DuplicatedOnce, s.told(),
		variant{"it is told as a conflict", edits(ends("c1", as("conflict"))), finds(
			broken("RC-04", "a command whose request came twice is not answered with its stored result", `the update under command ID "i1", which expects revision 1`, "work_update was answered with conflict: {}")), nil},
		variant{"it is applied twice", edits(cell("draft", "converged", 0, "revision", 3)), finds(
			broken("RC-04", "a command that came again moved the revision", "draft d1", "1 commands were given and the revision moved by 2")), nil},
		variant{"nothing was given", edits(noCall("c1")), nil, []string{"no command was given"}},
	)
}

func TestReplayedPastOnce(t *testing.T) {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	asks(s, "update", "first", "a", mutating("i1", 1, "BOS"), 200, `{"to": 2}`)
	asks(s, "update", "again", "a", mutating("i1", 1, "BOS"), 200, `{ "to":2 }`)
	draftIs(s, "converged", 2, "BOS", "draft", "i1")
	const result, who = "the server does not answer a replayed command with its stored result", `account a asked the server for "update" under command ID "i1"`
	rules(t, ReplayedPastOnce, s.told(),
		variant{"another result", edits(reply("update", 1, "body", `{"to": 3}`)), finds(
			broken("RC-04", result, who, `first, it was answered with 200: {"to": 2}`, `again, it was answered with 200: {"to": 3}`)), nil},
		variant{"a conflict", edits(reply("update", 1, "status", 409)), finds(
			broken("RC-04", result, who, `first, it was answered with 200: {"to": 2}`, `again, it was answered with 409: { "to":2 }`)), nil},
		variant{"it moves the revision", edits(cell("draft", "converged", 0, "revision", 3)), finds(
			broken("RC-04", "a command that came again moved the revision", "draft d1", "1 commands were given and the revision moved by 2")), nil},
		variant{"no answer", edits(lookFails("server-update", "again")), nil, []string{who + " again, and no answer came", "no command was replayed past the editor"}},
		variant{"the first one failed", edits(reply("update", 0, "status", 500), reply("update", 1, "status", 500)), nil,
			[]string{who + `, which was to be done before it is replayed; it was answered with 500: {"to": 2}`}},
		variant{"nothing was done", edits(reply("update", 0, "status", 404), reply("update", 1, "status", 404), cell("draft", "converged", 0, "revision", 1)), nil,
			[]string{who + `, which was to be done before it is replayed; it was answered with 404: {"to": 2}`}},
		variant{"nothing was asked", edits(neverAsked("update", "command_id", "i1")), nil, []string{"no command was replayed past the editor"}},
	)
}
