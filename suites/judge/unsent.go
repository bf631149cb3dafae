package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenUnsent is the moment behind a command that is not to leave.
const whenUnsent = "unsent"

// NotSent (RC-08): a command that was aborted or refused before its dispatch is told
// as not sent, nothing of it comes to the wire, and nothing is stored of it. A later
// command, which is sent, is the control of the counter.
func NotSent(h history.History) Ruling {
	var r Ruling
	tried, sent := false, false
	for _, c := range r.theCommands(h) {
		first, _, ok := r.requests(h, c.draft, c.kind, whenReady)
		then, _, also := r.requests(h, c.draft, c.kind, whenUnsent)
		last, _, counted := r.requests(h, c.draft, c.kind, whenConverged)
		if !ok || !also || !counted {
			continue
		}
		if c.Param("moment") != whenUnsent {
			sent = true
			if outcomeOf(c.Operation) != "confirmed" || last <= then {
				r.doubted("%s was to be sent and counted: %d requests came; %s", c.words(), last-then, answeredWith(c.Operation))
			}
			continue
		}
		tried = true
		if then != first {
			r.broke("RC-08", "a command that was over before its dispatch is sent all the same", c.words(), fmt.Sprintf("%d requests %q came to the wire, expected none", then-first, c.kind))
		}
		r.toldAsNotSent(h, c)
		r.nothingStored(h, c)
	}
	if (!tried || !sent) && r.silent() {
		r.doubted("a command that is not to leave was tried: %v; one that is to: %v; both are needed", tried, sent)
	}
	return r
}

// toldAsNotSent holds the answer, where there is one, and the editor's label to a
// definite end. Whether somebody who cancelled is answered is the transport's matter.
func (r *Ruling) toldAsNotSent(h history.History, c command) {
	const summary = "a command that never left is not told as not sent"
	aborted := len(h.Faults()) > 0
	switch outcome := outcomeOf(c.Operation); {
	case silence(c.Operation):
		if !cancelledByCaller(h, c) {
			r.broke("RC-08", summary, c.words(), "the tool gave no answer: "+answerOf(c.Operation))
		}
	case aborted && outcome != "not_sent":
		r.broke("RC-08", summary, c.words(), answeredWith(c.Operation), "expected not_sent")
	case !aborted && (c.Outcome() != history.Refused || outcome != "" && outcome != "refused" && outcome != "not_sent"):
		r.broke("RC-08", summary, c.words(), answeredWith(c.Operation), "expected refused or not_sent")
	}
	if shown, seen := r.shown(h, c.draft, whenUnsent); seen {
		if state := text(shown, "save_state"); state == "unknown" || state == "saving" {
			r.broke("RC-08", "the editor shows a command that never left as not known, or as under way", c.words(), fmt.Sprintf("its label says %q", state))
		}
	}
}

// nothingStored holds the store to what it was.
func (r *Ruling) nothingStored(h history.History, c command) {
	was, seen := r.storedDraft(h, c.draft, whenReady)
	is, stored := r.storedDraft(h, c.draft, whenUnsent)
	if seen && stored && (number(was, "revision") != number(is, "revision") || text(was, "changed") != text(is, "changed")) {
		r.broke("RC-08", "a command that was over before its dispatch takes effect", c.words(), fmt.Sprintf("stored was %v, and is %v", was, is))
	}
}

// cancelledByCaller says whether a call was cancelled by whoever made it.
func cancelledByCaller(h history.History, c command) bool {
	for _, m := range h.Marks("cancelled") {
		if m.Data["call"] == c.Invoked.ID {
			return true
		}
	}
	return false
}

// CancelledIsUnknown (RC-21): a command that is cancelled once its request has left is
// an unknown outcome: so its answer says, where the transport gives one, and so the
// editor shows it. That its request had come is the control.
func CancelledIsUnknown(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		first, _, ok := r.requests(h, c.draft, c.kind, whenBefore)
		came, _, also := r.requests(h, c.draft, c.kind, whenStruck)
		if !ok || !also {
			continue
		}
		if came == first || !cancelledByCaller(h, c) {
			r.doubted("%s was to be cancelled behind its dispatch; %d requests had come, and cancelled it was: %v", c.words(), came-first, cancelledByCaller(h, c))
			continue
		}
		if !silence(c.Operation) {
			r.toldAsUnknown("RC-21", c)
		}
		r.showsDoubt("RC-21", h, c, whenStruck, 0)
	}
	return r
}

// toldAsUnknown holds the answer to a command to OUTCOME_UNKNOWN, with what a recheck needs.
func (r *Ruling) toldAsUnknown(clause string, c command) {
	switch {
	case outcomeOf(c.Operation) != "OUTCOME_UNKNOWN":
		r.broke(clause, "a cancelled command that had left is not told as an unknown outcome", c.words(), answeredWith(c.Operation), "expected OUTCOME_UNKNOWN")
	case c.Text("command_id") != c.id || c.Text("recheck") == "":
		r.broke(clause, "the unknown outcome of a cancelled command does not say how to ask again", c.words(), fmt.Sprintf("the answer names command %q and the tool %q", c.Text("command_id"), c.Text("recheck")))
	}
}

// silence says that a caller was given no answer at all.
func silence(o history.Operation) bool {
	return o.Returned == nil || o.Returned.Answer == nil && o.Outcome() == history.Unknown
}
