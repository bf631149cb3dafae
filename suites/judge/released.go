package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments of a spec that lets an operation of an editor end.
const (
	whenEntering = "entering" // right before it
	whenOver     = "over"     // behind its end
	whenLate     = "late"     // behind an answer that came after that
	whenNext     = "next"     // of the operation behind it
)

// ReleasesItsOwn (RC-29): however an operation ends, its caller is answered, the
// editor does not stay saving, and the next operation gets through to the server. That
// the request of the one that ended came to the wire is the control.
func ReleasesItsOwn(h history.History) Ruling {
	var r Ruling
	o, n, ok := r.thePair(h)
	if !ok {
		return r
	}
	first, _, counted := r.requests(h, o.Param("draft"), requestOf(o), whenEntering)
	came, _, again := r.requests(h, o.Param("draft"), requestOf(o), whenOver)
	if !counted || !again {
		return r
	}
	if came == first {
		r.doubted("no request came to the wire for %s, so that its end shows nothing", called(o))
		return r
	}
	if (o.Returned == nil || o.Returned.Answer == nil) && !cancelledCall(h, o) {
		r.broke("RC-29", "an operation ends without an answer", called(o), "the tool gave no answer: "+answerOf(o))
	}
	r.notSaving(h, o, whenOver)
	r.getsThrough(h, n)
	r.notSaving(h, n, whenConverged)
	return r
}

// thePair are the operation that was to end and the one behind it.
func (r *Ruling) thePair(h history.History) (o, next history.Operation, ok bool) {
	found := map[string][]history.Operation{}
	for _, o := range h.Operations("") {
		found[o.Param("moment")] = append(found[o.Param("moment")], o)
	}
	if len(found[whenOver]) != 1 || len(found[whenNext]) != 1 {
		r.doubted("%d operations were to end, and %d came behind; one of each is needed", len(found[whenOver]), len(found[whenNext]))
		return o, next, false
	}
	return found[whenOver][0], found[whenNext][0], true
}

// requestOf is the request that an operation leads to.
func requestOf(o history.Operation) string {
	switch o.Invoked.Role {
	case "recheck_update", "recheck_submit":
		return "lookup"
	}
	return o.Invoked.Role
}

// called is an operation in a finding.
func called(o history.Operation) string {
	return fmt.Sprintf("%s of command ID %q", o.Invoked.Tool, o.Param("command_id"))
}

// cancelledCall says whether a call was cancelled, which not every transport answers.
func cancelledCall(h history.History, o history.Operation) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Mark != nil && e.Mark.Name == "cancelled" && e.Mark.Data["call"] == o.Invoked.ID
	})
}

// notSaving holds what a person sees behind an operation's end to one that is over.
func (r *Ruling) notSaving(h history.History, o history.Operation, when string) {
	shown, visible := r.shownIn(h, o, when)
	if visible && text(shown, "save_state") == "saving" {
		r.broke("RC-29", "the editor stays saving behind an operation that has ended", called(o), answeredWith(o), fmt.Sprintf("its label says %q at the moment %s", "saving", when))
	}
}

// shownIn is what the editor in which an operation was made shows of its draft.
func (r *Ruling) shownIn(h history.History, o history.Operation, when string) (map[string]any, bool) {
	look, ok := lastLook(h, "editor", when, map[string]string{"draft": o.Param("draft"), "editor": o.Invoked.Session})
	if !ok || len(look.Rows) != 1 {
		r.doubted("the editor %s of draft %s was not seen at the moment %s", o.Invoked.Session, o.Param("draft"), when)
		return nil, false
	}
	return look.Rows[0], r.hasColumns(look, "changed", "save_state")
}

// getsThrough holds the next operation to its request. A mutation that is refused
// since an outcome is open, and says how to ask, was not kept from it by what ended.
func (r *Ruling) getsThrough(h history.History, n history.Operation) {
	first, _, ok := r.requests(h, n.Param("draft"), requestOf(n), whenOver)
	came, _, counted := r.requests(h, n.Param("draft"), requestOf(n), whenConverged)
	if !ok || !counted || came > first || n.Text("recheck") != "" && requestOf(n) != "lookup" {
		return
	}
	if came == 0 && outcomeOf(n) == "OUTCOME_UNKNOWN" { // it was taken, and nothing shows that the wire counts its request
		r.doubted("%s was taken, and no request %q ever came to the wire; check profiles.receipts.requests.%s in the target file", called(n), requestOf(n), requestOf(n))
		return
	}
	r.broke("RC-29", "an operation that has ended stands in the way of the next one", called(n), answeredWith(n), fmt.Sprintf("no request %q came to the wire", requestOf(n)))
}

// LateAnswerChangesNothing (RC-29): an answer to a lookup that comes once its recheck
// is over changes nothing that a person sees. That it was held, with its receipt, is
// what the fault proves.
func LateAnswerChangesNothing(h history.History) Ruling {
	var r Ruling
	o, n, ok := r.thePair(h)
	if !ok {
		return r
	}
	was, seen := r.shownIn(h, o, whenOver)
	is, visible := r.shownIn(h, o, whenLate)
	if !seen || !visible {
		return r
	}
	for _, column := range []string{"changed", "other", "save_state", "revision"} {
		if fmt.Sprint(was[column]) != fmt.Sprint(is[column]) {
			r.broke("RC-29", "a lookup's answer that comes after its recheck is over is applied", called(o),
				fmt.Sprintf("the editor showed %s %v before it came, and %v behind it", column, was[column], is[column]))
		}
	}
	if n.Invoked.Role == o.Invoked.Role && outcomeOf(n) != "confirmed" {
		r.broke("RC-29", "a lookup's answer that comes after its recheck is over leaves nothing to recheck", called(n), answeredWith(n), "expected confirmed")
	}
	return r
}

// LeavesOthersInFlight (RC-29): while an operation ends, that of another draft or
// another editor stays under way there, and then ends by itself.
func LeavesOthersInFlight(h history.History) Ruling {
	var r Ruling
	o, other, ok := r.thePair(h)
	if !ok {
		return r
	}
	if outcomeOf(o) != "confirmed" || outcomeOf(other) != "confirmed" {
		r.doubted("both operations were to be confirmed in the end; %s, and %s", answeredWith(o), answeredWith(other))
		return r
	}
	r.notSaving(h, o, whenOver)
	if shown, visible := r.shownIn(h, other, whenOver); visible && text(shown, "save_state") != "saving" {
		r.broke("RC-29", "the end of an operation releases another one", called(other),
			fmt.Sprintf("its request was held, and the label of its editor said %q once %s had ended", text(shown, "save_state"), called(o)))
	}
	r.notSaving(h, o, whenConverged)
	r.notSaving(h, other, whenConverged)
	return r
}
