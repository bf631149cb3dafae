package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// NormalPath (RC-02): a command with which nothing is wrong is confirmed from its
// revision to the next. The store holds that revision, what the command set and
// nothing else, and one receipt of it; the editor and a read show the same as saved.
func NormalPath(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		if outcomeOf(c.Operation) != "confirmed" {
			r.broke("RC-02", "a command with which nothing is wrong is not confirmed", c.words(), answeredWith(c.Operation))
			continue
		}
		if from, to := moved(c.Operation); from != c.revision || to != c.revision+1 || c.Text("command_id") != c.id {
			r.broke("RC-02", "a confirmed command is answered with another command, or other revisions", c.words(),
				fmt.Sprintf("the answer names %q, %d → %d, expected %d → %d", c.Text("command_id"), from, to, c.revision, c.revision+1))
		}
		r.storedOnce(h, c)
		r.shownSaved(h, c)
		r.readSaved(h, c)
	}
	return r
}

// storedOnce compares the store behind a confirmed command with the one before it.
func (r *Ruling) storedOnce(h history.History, c command) {
	was, seen := r.storedDraft(h, c.draft, whenBefore)
	is, also := r.storedDraft(h, c.draft, whenConverged)
	before, told := r.allReceipts(h, c.draft, whenBefore)
	behind, again := r.allReceipts(h, c.draft, whenConverged)
	own, mine := r.receipts(h, c, whenConverged)
	if !seen || !also || !told || !again || !mine {
		return
	}
	const summary = "a confirmed command is not what the store holds"
	if n := number(is, "revision"); n != c.revision+1 {
		r.broke("RC-02", summary, c.words(), fmt.Sprintf("stored is revision %d, expected %d", n, c.revision+1))
	}
	changed := text(was, "changed")
	if c.kind == "update" {
		changed = c.text
	}
	if text(is, "changed") != changed || text(is, "other") != text(was, "other") {
		r.broke("RC-02", summary, c.words(), fmt.Sprintf("stored are %q and %q, expected %q and %q", text(is, "changed"), text(is, "other"), changed, text(was, "other")))
	}
	if _, there := is["status"]; there && (c.kind == "submit") == (text(is, "status") == text(was, "status")) {
		r.broke("RC-02", summary, c.words(), fmt.Sprintf("its status was %q and is %q", text(was, "status"), text(is, "status")))
	}
	if len(own) != 1 || len(behind) != len(before)+1 {
		r.broke("RC-02", "a confirmed command has not exactly one receipt", c.words(), fmt.Sprintf("stored are %d of it, and %d of the draft where there were %d", len(own), len(behind), len(before)))
		return
	}
	if _, there := own[0]["to_revision"]; there && (number(own[0], "from_revision") != c.revision || number(own[0], "to_revision") != c.revision+1) {
		r.broke("RC-02", "a receipt tells of other revisions", c.words(), fmt.Sprintf("it says %d → %d", number(own[0], "from_revision"), number(own[0], "to_revision")))
	}
}

// shownSaved holds what a person sees behind a confirmed command to what it saved.
func (r *Ruling) shownSaved(h history.History, c command) {
	shown, ok := r.shown(h, c.draft, whenConverged)
	if !ok {
		return
	}
	const summary = "the editor does not show a confirmed command as saved"
	if state := text(shown, "save_state"); state != "saved" {
		r.broke("RC-02", summary, c.words(), fmt.Sprintf("its label says %q", state))
	}
	if c.kind == "update" && text(shown, "changed") != c.text {
		r.broke("RC-02", summary, c.words(), fmt.Sprintf("it shows %q, saved is %q", text(shown, "changed"), c.text))
	}
	if _, there := shown["revision"]; there && number(shown, "revision") != c.revision+1 {
		r.broke("RC-02", summary, c.words(), fmt.Sprintf("it shows revision %d, saved is %d", number(shown, "revision"), c.revision+1))
	}
}

// readSaved does the same with what the tool that reads says; a target may lack it.
func (r *Ruling) readSaved(h history.History, c command) {
	for _, o := range h.Operations("read") {
		if o.Param("moment") != whenConverged || o.Param("draft") != c.draft || o.Returned == nil {
			continue
		}
		said, wrong := o.Returned.Fields, ""
		switch {
		case said["revision"] != nil && number(said, "revision") != c.revision+1:
			wrong = fmt.Sprintf("it says revision %d, saved is %d", number(said, "revision"), c.revision+1)
		case said["unsaved"] != nil && truth(said, "unsaved"):
			wrong = "it says that something is not saved"
		case c.kind == "update" && said["saved_changed"] != nil && text(said, "saved_changed") != c.text:
			wrong = fmt.Sprintf("it says that %q is saved, expected %q", text(said, "saved_changed"), c.text)
		}
		if wrong != "" {
			r.broke("RC-02", "a read does not show a confirmed command as saved", c.words(), wrong)
		}
	}
}
