package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

func normally() history.History {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("update", mutating("i1", 1, "BOS"), confirms("i1", 1))
	s.call("read", params("draft", "d1", "moment", "converged"), as("", "revision", 2, "unsaved", false, "saved_changed", "BOS"))
	draftIs(s, "converged", 2, "BOS", "draft", "i1")
	return s.told()
}

func TestNormalPath(t *testing.T) {
	const c, store = `the update under command ID "i1", which expects revision 1`, "a confirmed command is not what the store holds"
	const shown, read = "the editor does not show a confirmed command as saved", "a read does not show a confirmed command as saved"
	rules(t, NormalPath, normally(),
		variant{"it is not confirmed", edits(field("c1", "outcome", "OUTCOME_UNKNOWN")), finds(
			broken("RC-02", "a command with which nothing is wrong is not confirmed", c, "work_update was answered with OUTCOME_UNKNOWN: {}")), nil},
		variant{"the answer tells other revisions", edits(field("c1", "to_revision", 3)), finds(
			broken("RC-02", "a confirmed command is answered with another command, or other revisions", c, `the answer names "i1", 1 → 3, expected 1 → 2`)), nil},
		variant{"the answer names another command", edits(field("c1", "command_id", "i7")), finds(
			broken("RC-02", "a confirmed command is answered with another command, or other revisions", c, `the answer names "i7", 1 → 2, expected 1 → 2`)), nil},
		variant{"the revision moves twice", edits(cell("draft", "converged", 0, "revision", 3)), finds(broken("RC-02", store, c, "stored is revision 3, expected 2")), nil},
		variant{"another field moves", edits(cell("draft", "converged", 0, "other", "Feast")), finds(
			broken("RC-02", store, c, `stored are "BOS" and "Feast", expected "BOS" and "Fair"`)), nil},
		variant{"the status moves", edits(cell("draft", "converged", 0, "status", "submitted")), finds(
			broken("RC-02", store, c, `its status was "draft" and is "submitted"`)), nil},
		variant{"no receipt", edits(shows("receipts", "converged")), finds(
			broken("RC-02", "a confirmed command has not exactly one receipt", c, "stored are 0 of it, and 0 of the draft where there were 0")), nil},
		variant{"a receipt too many", edits(rowsLater("receipts", "converged", row("command_id", "i2"))), finds(
			broken("RC-02", "a confirmed command has not exactly one receipt", c, "stored are 1 of it, and 2 of the draft where there were 0")), nil},
		variant{"the receipt tells other revisions", edits(cell("receipts", "converged", 0, "to_revision", 7)), finds(
			broken("RC-02", "a receipt tells of other revisions", c, "it says 1 → 7")), nil},
		variant{"the editor says unsaved", edits(cell("editor", "converged", 0, "save_state", "unsaved")), finds(broken("RC-02", shown, c, `its label says "unsaved"`)), nil},
		variant{"the editor shows the old", edits(cell("editor", "converged", 0, "changed", "JFK"), cell("editor", "converged", 0, "revision", 1)), finds(
			broken("RC-02", shown, c, `it shows "JFK", saved is "BOS"`), broken("RC-02", shown, c, "it shows revision 1, saved is 2")), nil},
		variant{"the editor tells no revision", edits(noColumn("editor", "converged", "revision")), nil, nil},
		variant{"the read tells the old revision", edits(field("c2", "revision", 1)), finds(broken("RC-02", read, c, "it says revision 1, saved is 2")), nil},
		variant{"the read says unsaved", edits(field("c2", "unsaved", true)), finds(broken("RC-02", read, c, "it says that something is not saved")), nil},
		variant{"the read tells the old value", edits(field("c2", "saved_changed", "JFK")), finds(broken("RC-02", read, c, `it says that "JFK" is saved, expected "BOS"`)), nil},
		variant{"nothing was given", edits(noCall("c1")), nil, []string{"no command was given"}},
		variant{"the editor was not seen", edits(noLook("editor", "converged")), nil, []string{"the editor of draft d1 was not seen at the moment converged"}},
	)
}

func TestNormalPathOfASubmission(t *testing.T) {
	s := newStory()
	draftIs(s, "before", 1, "JFK", "draft")
	s.call("submit", mutating("i1", 1, ""), confirms("i1", 1))
	draftIs(s, "converged", 2, "JFK", "submitted", "i1")
	const c = `the submit under command ID "i1", which expects revision 1`
	rules(t, NormalPath, s.told(),
		variant{"it is not submitted", edits(cell("draft", "converged", 0, "status", "draft")), finds(
			broken("RC-02", "a confirmed command is not what the store holds", c, `its status was "draft" and is "draft"`)), nil},
		variant{"a store without a status", edits(noColumn("draft", "converged", "status")), nil, nil},
	)
}
