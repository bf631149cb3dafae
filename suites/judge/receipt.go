package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments of a spec of profile RC at which surfaces are looked at, beside those
// of the other profiles.
const (
	whenBefore    = "before"    // before any command
	whenTyped     = "typed"     // behind what the person has typed meanwhile
	whenRechecked = "rechecked" // behind a recheck that could not know
)

// command is one mutation that was asked for: an update or a submission.
type command struct {
	history.Operation
	id, draft, kind string
	revision        int    // that it expects
	text            string // the new value of the changed field, of an update
}

// commands are the mutations of a history, in the order in which they were asked for.
func commands(h history.History) []command {
	var all []command
	for _, role := range []string{"update", "submit"} {
		for _, o := range h.Operations(role) {
			c := command{Operation: o, id: o.Param("command_id"), draft: o.Param("draft"), kind: role, text: o.Param("text")}
			fmt.Sscan(o.Param("revision"), &c.revision)
			all = append(all, c)
		}
	}
	return all
}

// words is a command in a finding.
func (c command) words() string {
	return fmt.Sprintf("the %s under command ID %q, which expects revision %d", c.kind, c.id, c.revision)
}

// rechecks are the rechecks of a command that were answered, of a moment; "" means any.
func rechecks(h history.History, c command, moment string) []history.Operation {
	var all []history.Operation
	for _, role := range []string{"recheck_update", "recheck_submit"} {
		for _, o := range h.Operations(role) {
			if o.Param("command_id") == c.id && (moment == "" || o.Param("moment") == moment) {
				all = append(all, o)
			}
		}
	}
	return all
}

// stored is a draft as its server has stored it at a moment; false where it was not
// seen, which is doubted.
func (r *Ruling) storedDraft(h history.History, draft, when string) (map[string]any, bool) {
	look, ok := lastLook(h, "draft", when, map[string]string{"draft": draft})
	if !ok || len(look.Rows) != 1 {
		r.doubted("the draft %s was not seen in the store at the moment %s", draft, when)
		return nil, false
	}
	return look.Rows[0], r.hasColumns(look, "revision", "changed", "other")
}

// receipts counts the receipts of a command that its server has stored at a moment.
func (r *Ruling) receipts(h history.History, c command, when string) (found []map[string]any, ok bool) {
	look, ok := lastLook(h, "receipts", when, map[string]string{"draft": c.draft})
	if !ok || !r.hasColumns(look, "command_id") {
		if !ok {
			r.doubted("the receipts of draft %s were not seen at the moment %s", c.draft, when)
		}
		return nil, false
	}
	for _, row := range look.Rows {
		if text(row, "command_id") == c.id {
			found = append(found, row)
		}
	}
	return found, true
}

// shown is what a person sees of a draft at a moment.
func (r *Ruling) shown(h history.History, draft, when string) (map[string]any, bool) {
	look, ok := lastLook(h, "editor", when, map[string]string{"draft": draft})
	if !ok || len(look.Rows) != 1 {
		r.doubted("the editor of draft %s was not seen at the moment %s", draft, when)
		return nil, false
	}
	return look.Rows[0], r.hasColumns(look, "changed", "other", "save_state")
}

// requests counts the requests of a kind about a draft that had come to the wire by
// a moment, and those that had passed it.
func (r *Ruling) requests(h history.History, draft, kind, when string) (came, passed int, ok bool) {
	look, ok := lastLook(h, "server", when, map[string]string{"draft": draft})
	if ok {
		for _, row := range look.Rows {
			if text(row, "request") == kind {
				return number(row, "came"), number(row, "passed"), true
			}
		}
	}
	r.doubted("the requests %q about draft %s were not counted at the moment %s", kind, draft, when)
	return 0, 0, false
}

// outcomeOf is the outcome of an answer in the contract's words, "" where it has none.
func outcomeOf(o history.Operation) string { return o.Text("outcome") }

// moved is between which revisions an answer says that a command has moved the draft.
func moved(o history.Operation) (from, to int) {
	if o.Returned == nil {
		return 0, 0
	}
	return number(o.Returned.Fields, "from_revision"), number(o.Returned.Fields, "to_revision")
}

// answeredWith is an operation with its outcome in a finding.
func answeredWith(o history.Operation) string {
	return fmt.Sprintf("%s was answered with %s: %s", o.Invoked.Tool, orNone(outcomeOf(o)), answerOf(o))
}

func orNone(word string) string {
	if word == "" {
		return "no outcome"
	}
	return word
}
