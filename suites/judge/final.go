package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenSettled is the moment at which an operation has come to its end.
const whenSettled = "settled"

// FinalIsFinal (WF-27): an operation that stands in a terminal state stays as it
// is stored, and nothing more of it goes out or takes effect, through resumes,
// cancels and restarts. What had gone out by then is the control of the counting.
func FinalIsFinal(state string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		for _, o := range r.operations(h) {
			was, before := r.checkpoint(h, o, whenSettled)
			is, after := r.checkpoint(h, o, whenConverged)
			switch {
			case !before || !after:
				continue
			case text(was, "state") != state:
				r.doubted("operation %s was to be %s and is stored as %v, so that there is no such end to keep", o.id, state, was)
				continue
			case fmt.Sprint(was) != fmt.Sprint(is):
				r.broke("WF-27", "a terminal state changes", fmt.Sprintf("operation %s was stored as %v", o.id, was), fmt.Sprintf("and is stored as %v behind resumes and cancels", is))
			}
			r.toldTheEnd(h, o, state)
			r.ranNoFurther(h, o)
		}
		return r
	}
}

// toldTheEnd holds what resumes, cancels and the status say to the terminal state;
// a refusal says nothing of it.
func (r *Ruling) toldTheEnd(h history.History, o operation, state string) {
	for _, role := range []string{"resume", "cancel", "status"} {
		moment := map[bool]string{true: whenConverged, false: whenSettled}[role == "status"]
		answers := callsAbout(h, role, moment, o)
		heard := false
		for _, a := range answers {
			heard = heard || a.Outcome() != history.Unknown
			if a.Outcome() == history.Done && stateOf(a) != state {
				r.broke("WF-27", "a terminal state is told to be another", says(role, a), "expected "+state)
			}
		}
		if !heard {
			r.doubted("no %s of operation %s was answered behind its end", role, o.id)
		}
	}
}

// ranNoFurther holds requests and effects to what they were at the end.
func (r *Ruling) ranNoFurther(h history.History, o operation) {
	then, seen := r.effects(h, whenSettled)
	now, also := r.effects(h, whenConverged)
	if !seen || !also {
		return
	}
	all := 0
	for i, step := range o.texts {
		before, _, counted := r.wentOut(h, step, whenSettled)
		came, _, ended := r.wentOut(h, step, whenConverged)
		if !counted || !ended {
			return
		}
		all += before
		if came > before || now[step] > then[step] {
			r.broke("WF-27", "an operation runs on behind its end",
				fmt.Sprintf("operation %s: %d requests of step %d came by its end, and %d behind resumes and cancels", o.id, before, i+1, came), inEffect(step, now[step]))
		}
	}
	if all == 0 {
		r.doubted("no request of operation %s was counted, so that it is not known whether any would be", o.id)
	}
}
