package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// retryable is the kind of step whose tool declares both that it is idempotent and
// that it is safe to retry.
const retryable = "retryable"

// kindOf is the kind of the step with a text, as the target file names it.
func kindOf(h history.History, step string) string {
	for _, m := range h.Marks("step") {
		if text(m.Data, "text") == step {
			return text(m.Data, "kind")
		}
	}
	return ""
}

// struckStep is the step that was in flight on disk when the server of an
// operation died, with its request on the way.
func (r *Ruling) struckStep(h history.History, o operation) (int, bool) {
	stored, ok := r.checkpoint(h, o, whenStruck)
	if !ok {
		return 0, false
	}
	at := slices.Index(stepStates(stored), "in_flight")
	if at < 0 || at >= len(o.texts) {
		r.doubted("no step of operation %s was in flight on disk when the server died: %v", o.id, stored)
		return 0, false
	}
	came, _, ok := r.wentOut(h, o.texts[at], whenStruck)
	if ok && came == 0 {
		r.doubted("no request of the step in doubt of operation %s had come when the server died", o.id)
	}
	return at, ok && came > 0
}

// BothDeclared (WF-16): a step in doubt whose tool declares both that it is
// idempotent and that it is safe to retry goes out again with the explicit resume,
// takes effect once, and the operation goes on to its end.
func BothDeclared(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, o := range r.operations(h) {
		at, ok := r.struckStep(h, o)
		if !ok || kindOf(h, o.texts[at]) != retryable {
			continue
		}
		judged++
		if r.answeredResumes(h, o) == 0 {
			continue
		}
		r.retriedOnce(h, o, at)
	}
	if judged == 0 && r.silent() {
		r.doubted("no step that declares both was in doubt")
	}
	return r
}

// answeredResumes is how many resumes of an operation were answered; none is doubted.
func (r *Ruling) answeredResumes(h history.History, o operation) int {
	n := 0
	for _, a := range callsAbout(h, "resume", whenResumed, o) {
		if a.Outcome() == history.Done {
			n++
		}
	}
	if n == 0 {
		r.doubted("no resume of operation %s was answered", o.id)
	}
	return n
}

func (r *Ruling) retriedOnce(h history.History, o operation, at int) {
	step := o.texts[at]
	before, _, counted := r.wentOut(h, step, whenStruck)
	came, _, also := r.wentOut(h, step, whenConverged)
	end, seen := r.effects(h, whenConverged)
	stored, looked := r.checkpoint(h, o, whenConverged)
	if !counted || !also || !seen || !looked {
		return
	}
	fact := fmt.Sprintf("operation %s: %d requests of the step came before the resume, %d by the end", o.id, before, came)
	switch {
	case came <= before:
		r.broke("WF-16", "a step that declares both is not retried by an explicit resume", fact, fmt.Sprintf("the operation is stored as %v", stored))
	case end[step] != 1:
		r.broke("WF-16", "a retried step does not take effect once", fact, inEffect(step, end[step]))
	case text(stored, "state") != "completed":
		r.broke("WF-16", "an operation does not go on behind a retried step", fact, fmt.Sprintf("it is stored as %v, expected completed", stored))
	}
}

// ConfirmationUsedUp (WF-16): a step in doubt that declares both and carried a
// one-time confirmation is not sent again with it; its operation stops with the
// code approval_invalid.
func ConfirmationUsedUp(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		at, ok := r.struckStep(h, o)
		if !ok || r.answeredResumes(h, o) == 0 {
			continue
		}
		if kind := kindOf(h, o.texts[at]); kind != "confirmed" {
			r.doubted("the step in doubt of operation %s is of kind %q, and one with a confirmation is needed", o.id, kind)
			continue
		}
		r.neverSentAgain("WF-16", h, o, at)
		r.standsAt("WF-16", "an operation goes on although the confirmation of its step was used up", h, o, whenConverged, "failed", "needs_review")
		answers := callsAbout(h, "status", whenConverged, o)
		if len(answers) == 0 || answers[0].Outcome() != history.Done {
			r.doubted("the status of operation %s was not answered at the end", o.id)
			continue
		}
		if code := answers[0].Text("code"); code != "approval_invalid" {
			r.broke("WF-16", "a retry with a used confirmation does not end with approval_invalid", says("status", answers[0]), fmt.Sprintf("its code is %q", shortened(code, 80)))
		}
	}
	return r
}

// HalfDeclared (WF-17): a step in doubt whose tool declares only one of the two is
// left to a review and never goes out again. That a resume can send a step again
// is shown by another operation, whose step declares both.
func HalfDeclared(h history.History) Ruling {
	var r Ruling
	half, whole := 0, 0
	for _, o := range r.operations(h) {
		at, ok := r.struckStep(h, o)
		if !ok || r.answeredResumes(h, o) == 0 {
			continue
		}
		if kindOf(h, o.texts[at]) == retryable {
			whole++
			r.sentAgain(h, o, o.texts[at])
			continue
		}
		half++
		r.leftToReview("WF-17", h, o)
		r.neverSentAgain("WF-17", h, o, at)
	}
	if (half == 0 || whole == 0) && r.silent() {
		r.doubted("%d steps with one declaration and %d with both were in doubt; one of each is needed", half, whole)
	}
	return r
}

// sentAgain doubts that a resume can send a step again, unless it did.
func (r *Ruling) sentAgain(h history.History, o operation, step string) {
	before, _, counted := r.wentOut(h, step, whenStruck)
	came, _, also := r.wentOut(h, step, whenConverged)
	if counted && also && came <= before {
		r.doubted("the step of operation %s that declares both was not sent again either, so that it is not known whether a resume sends anything", o.id)
	}
}

// leftToReview holds every resume, and the end, to needs_review.
func (r *Ruling) leftToReview(clause string, h history.History, o operation) {
	for _, a := range callsAbout(h, "resume", whenResumed, o) {
		if a.Outcome() == history.Done && stateOf(a) != "needs_review" {
			r.broke(clause, "a step in doubt is not left to a review", says("resume", a), "expected needs_review")
			return
		}
	}
	r.standsAt(clause, "a step in doubt is not left to a review", h, o, whenConverged, "needs_review")
}

// standsAt holds the stored state of an operation at a moment to some states.
func (r *Ruling) standsAt(clause, summary string, h history.History, o operation, when string, states ...string) {
	stored, ok := r.checkpoint(h, o, when)
	if ok && !slices.Contains(states, text(stored, "state")) {
		r.broke(clause, summary, fmt.Sprintf("operation %s is stored as %v, expected %s", o.id, stored, quoted(states)))
	}
}

// neverSentAgain holds a step that had gone out once and had taken effect to that,
// and those behind it to nothing. The count itself is the control: it saw the one
// request.
func (r *Ruling) neverSentAgain(clause string, h history.History, o operation, at int) {
	step := o.texts[at]
	before, _, counted := r.wentOut(h, step, whenStruck)
	came, _, also := r.wentOut(h, step, whenConverged)
	then, seen := r.effects(h, whenStruck)
	end, ended := r.effects(h, whenConverged)
	if !counted || !also || !seen || !ended {
		return
	}
	if came > before || end[step] > then[step] {
		r.broke(clause, "a step in doubt was sent again", fmt.Sprintf("operation %s: %d requests of the step came, %d of them before it was in doubt", o.id, came, before), inEffect(step, end[step]))
	}
	r.nothingBehind(clause, h, o, at)
}

// nothingBehind holds the steps behind one to no request and no effect.
func (r *Ruling) nothingBehind(clause string, h history.History, o operation, at int) {
	end, seen := r.effects(h, whenConverged)
	for i, later := range o.texts[at+1:] {
		came, _, counted := r.wentOut(h, later, whenConverged)
		if seen && counted && (came > 0 || end[later] > 0) {
			r.broke(clause, "an operation went on behind the step at which it had to stop", fmt.Sprintf("operation %s: %d requests of step %d came", o.id, came, at+i+2), inEffect(later, end[later]))
		}
	}
}
