package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// LostIsDoubt (WF-18): a step whose outside request went out and was not answered,
// as its server saw, is left to a review, or interrupted and resumable where it
// declares both; it is not failed, and not sent again by itself. effects is how
// often it took effect before.
func LostIsDoubt(effects int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		for _, o := range r.operations(h) {
			if !r.sentOnce(h, o, effects) {
				continue
			}
			if kindOf(h, o.texts[0]) != retryable {
				r.doubtStands(h, o, "needs_review")
				r.leftToReview("WF-18", h, o)
				r.neverSentAgain("WF-18", h, o, 0)
				continue
			}
			r.doubtStands(h, o, "interrupted")
			r.resumable(h, o)
		}
		return r
	}
}

// sentOnce holds the first step of an operation to one request by the moment
// struck. It says whether anything more can be judged.
func (r *Ruling) sentOnce(h history.History, o operation, effects int) bool {
	step := o.texts[0]
	came, _, counted := r.wentOut(h, step, whenStruck)
	then, seen := r.effects(h, whenStruck)
	switch {
	case !counted || !seen:
		return false
	case came > 1:
		r.broke("WF-18", "a step whose answer was lost is sent again by itself", fmt.Sprintf("operation %s: %d requests of the step came, and nobody resumed it", o.id, came), inEffect(step, then[step]))
		return false
	case came == 0 || then[step] != effects:
		r.doubted("the step of operation %s was to go out once and to take effect %d times; %d requests came, and %s", o.id, effects, came, inEffect(step, then[step]))
		return false
	}
	return r.answeredResumes(h, o) > 0
}

// doubtStands holds the checkpoint and the status behind the loss to a state.
func (r *Ruling) doubtStands(h history.History, o operation, state string) {
	summary := "a lost answer is not taken for doubt"
	r.standsAt("WF-18", summary, h, o, whenStruck, state)
	for _, a := range callsAbout(h, "status", whenStruck, o) {
		if a.Outcome() == history.Done && stateOf(a) != state {
			r.broke("WF-18", summary, says("status", a), "expected "+state)
		}
	}
}

// resumable holds an operation to its end behind a resume, with its first step in
// effect once.
func (r *Ruling) resumable(h history.History, o operation) {
	r.standsAt("WF-18", "an operation that may be retried cannot be resumed", h, o, whenConverged, "completed")
	if end, ok := r.effects(h, whenConverged); ok && end[o.texts[0]] != 1 {
		r.broke("WF-18", "a step that was resumed behind a lost answer does not take effect once", inEffect(o.texts[0], end[o.texts[0]]))
	}
}
