package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenAsked is the moment before a cancel.
const whenAsked = "asked"

// cancelledInFlight doubts that an operation was cancelled while its first step was
// in flight on disk with its request on the wire, and says whether that was so.
func (r *Ruling) cancelledInFlight(h history.History, o operation) bool {
	stored, ok := r.checkpoint(h, o, whenAsked)
	came, _, counted := r.wentOut(h, o.texts[0], whenAsked)
	if !ok || !counted {
		return false
	}
	states := stepStates(stored)
	if came == 0 || len(states) == 0 || states[0] != "in_flight" {
		r.doubted("the first step of operation %s was to be in flight as it was cancelled; %d requests had come, and it is stored as %v", o.id, came, stored)
		return false
	}
	for _, c := range callsAbout(h, "cancel", whenHeld, o) {
		if c.Outcome() == history.Done {
			return true
		}
	}
	r.doubted("no cancel of operation %s was answered", o.id)
	return false
}

// CancelAborts (WF-20): while the request of a step is held whose tool can be
// aborted, a cancel brings the operation to rest, and no step follows.
func CancelAborts(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		if !r.cancelledInFlight(h, o) {
			continue
		}
		_, passed, counted := r.wentOut(h, o.texts[0], whenHeld)
		if !counted {
			continue
		}
		if passed > 0 {
			r.doubted("the request of operation %s was let go before it was seen whether the step is aborted", o.id)
			continue
		}
		r.standsAt("WF-20", "a cancel does not abort the current step, whose tool can be aborted", h, o, whenHeld, "cancelled", "needs_review")
		r.nothingBehind("WF-20", h, o, 0)
	}
	return r
}

// CancelWaits (WF-20): a step whose tool cannot be aborted finishes behind a
// cancel and is stored as done, the operation is cancelled, and no step follows.
func CancelWaits(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		if !r.cancelledInFlight(h, o) {
			continue
		}
		end, seen := r.effects(h, whenConverged)
		stored, ok := r.checkpoint(h, o, whenConverged)
		if !seen || !ok {
			continue
		}
		if end[o.texts[0]] != 1 {
			r.doubted("the step of operation %s that cannot be aborted was to take effect once, and %s", o.id, inEffect(o.texts[0], end[o.texts[0]]))
			continue
		}
		states := stepStates(stored)
		switch {
		case len(states) == 0 || states[0] != "done":
			r.broke("WF-20", "the result of a step that finished behind a cancel is not stored", inEffect(o.texts[0], 1), fmt.Sprintf("operation %s is stored as %v", o.id, stored))
		case text(stored, "state") != "cancelled":
			r.broke("WF-20", "an operation is not cancelled behind the step that could not be aborted", fmt.Sprintf("operation %s is stored as %v", o.id, stored))
		}
		r.nothingBehind("WF-20", h, o, 0)
	}
	return r
}

// CancelKeepsDoubt (WF-21): an operation that is cancelled while a write of it is
// in doubt is left to a review; it is not cleanly cancelled, and nothing of it goes
// out again.
func CancelKeepsDoubt(h history.History) Ruling {
	const summary = "a cancel hides a write in doubt"
	var r Ruling
	for _, o := range r.operations(h) {
		effects, seen := r.effects(h, whenAsked)
		if !seen || !r.cancelledInFlight(h, o) {
			continue
		}
		stored, ok := r.checkpoint(h, o, whenConverged)
		if !ok {
			continue
		}
		if states := stepStates(stored); effects[o.texts[0]] != 1 || len(states) > 0 && states[0] == "done" {
			r.doubted("the write of operation %s was to be in doubt as it was cancelled; it is stored as %v, and %s", o.id, stored, inEffect(o.texts[0], effects[o.texts[0]]))
			continue
		}
		r.standsAt("WF-21", summary, h, o, whenConverged, "needs_review")
		for _, c := range callsAbout(h, "cancel", whenHeld, o) {
			if c.Outcome() == history.Done && stateOf(c) == "cancelled" {
				r.broke("WF-21", summary, says("cancel", c), "expected needs_review")
			}
		}
		before, _, counted := r.wentOut(h, o.texts[0], whenAsked)
		came, _, also := r.wentOut(h, o.texts[0], whenConverged)
		if counted && also && came > before {
			r.broke("WF-21", "a step in doubt goes out again behind a cancel", fmt.Sprintf("operation %s: %d requests of the step came", o.id, came))
		}
		r.nothingBehind("WF-21", h, o, 0)
	}
	return r
}
