package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Under says what a rule finds under another clause, as whose case it is tried.
func Under(clause string, rule Rule) Rule {
	return func(h history.History) Ruling {
		r := rule(h)
		for i := range r.Findings {
			r.Findings[i].Clause = clause
		}
		return r
	}
}

// UnknownThoughLost (RC-07): a mutation whose request never arrived, or has not yet,
// is answered with OUTCOME_UNKNOWN like one whose response is lost: the editor cannot
// tell them apart. That the server has stored nothing is the control.
func UnknownThoughLost(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		was, seen := r.storedDraft(h, c.draft, whenBefore)
		is, stored := r.storedDraft(h, c.draft, whenStruck)
		came, passed, counted := r.requests(h, c.draft, c.kind, whenStruck)
		if !seen || !stored || !counted {
			continue
		}
		if came == 0 || passed != 0 || number(is, "revision") != number(was, "revision") {
			r.doubted("%s was to be lost on its way; %d requests came, %d passed, and the draft is stored at revision %d", c.words(), came, passed, number(is, "revision"))
			continue
		}
		r.unknown(c)
		r.showsDoubt("RC-07", h, c, whenStruck, 0)
	}
	return r
}

// AbsenceProvesNothing (RC-24): a recheck that finds no receipt, where there is none,
// is answered with OUTCOME_UNKNOWN: the command may still be on its way.
func AbsenceProvesNothing(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		r.staysUnknown("RC-24", h, c, 0)
	}
	return r
}

// HiddenProvesNothing (RC-10): a recheck while the receipt is hidden, or the lookup
// fails, is answered with OUTCOME_UNKNOWN under the same command ID. That the receipt
// is stored is the control.
func HiddenProvesNothing(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		r.staysUnknown("RC-10", h, c, 1)
	}
	return r
}

// staysUnknown holds each recheck that could not know to an unknown outcome, and what
// a person sees meanwhile to that. stored is how many receipts of the command there are.
func (r *Ruling) staysUnknown(clause string, h history.History, c command, stored int) {
	asked := rechecks(h, c, whenRechecked)
	receipts, told := r.receipts(h, c, whenRechecked)
	lookups, _, counted := r.requests(h, c.draft, "lookup", whenRechecked)
	if len(asked) == 0 {
		r.doubted("nobody asked what came of %s while it could not be known", c.words())
	}
	if len(asked) == 0 || !told || !counted {
		return
	}
	if len(receipts) != stored {
		r.doubted("%s has %d receipts in the store, where %d were expected", c.words(), len(receipts), stored)
		return
	}
	for _, o := range asked {
		switch {
		case outcomeOf(o) != "OUTCOME_UNKNOWN":
			r.broke(clause, "a recheck that cannot know is not told as an unknown outcome", c.words(), answeredWith(o), "expected OUTCOME_UNKNOWN")
		case o.Text("command_id") != c.id:
			r.broke(clause, "an outcome that is still unknown does not name its own command", c.words(), fmt.Sprintf("the answer names %q", o.Text("command_id")))
		}
	}
	if lookups == 0 && r.silent() {
		r.doubted("no lookup came to the wire for %s, so that the recheck has asked nothing", c.words())
	}
	r.showsDoubt(clause, h, c, whenRechecked, stored)
}

// showsDoubt holds what a person sees to the old value, and to an unknown outcome.
func (r *Ruling) showsDoubt(clause string, h history.History, c command, when string, stored int) {
	was, seen := r.storedDraft(h, c.draft, whenBefore)
	looks := h.Looks("editor", when)
	if len(looks) == 0 {
		r.doubted("the editor of draft %s was not seen at the moment %s", c.draft, when)
	}
	for _, look := range looks {
		switch {
		case look.Params["draft"] != c.draft || !seen:
		case look.Error != "" || len(look.Rows) != 1:
			r.doubted("the editor of draft %s was not seen at the moment %s: %s", c.draft, when, look.Error)
		case !r.hasColumns(look, "changed", "save_state"):
		default:
			shown := look.Rows[0]
			if state := text(shown, "save_state"); state != "unknown" {
				r.broke(clause, "the editor does not show that an outcome is unknown", c.words(), fmt.Sprintf("its label says %q at the moment %s", state, when))
			}
			if c.kind == "update" && text(shown, "changed") != text(was, "changed") {
				r.broke(clause, "the editor shows a value of which it cannot know that it is saved", c.words(),
					fmt.Sprintf("the editor showed %q before, and shows %q at the moment %s; %d receipts are stored", text(was, "changed"), text(shown, "changed"), when, stored))
			}
		}
	}
}
