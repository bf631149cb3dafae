package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// NothingResumesItself (WF-15): with a new server and without a resume an
// operation stays where it was: its status is interrupted, its checkpoint is the
// same, and nothing goes out. That the operation could have gone on shows in the
// resume that follows.
func NothingResumesItself(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		was, before := r.checkpoint(h, o, whenStruck)
		is, after := r.checkpoint(h, o, whenRestarted)
		if before && after && fmt.Sprint(was) != fmt.Sprint(is) {
			r.broke("WF-15", "a restart changed an operation that nobody resumed", fmt.Sprintf("operation %s was stored as %v", o.id, was), fmt.Sprintf("and is stored as %v with a new server", is))
		}
		for _, text := range o.texts {
			then, _, ok := r.wentOut(h, text, whenStruck)
			now, _, also := r.wentOut(h, text, whenRestarted)
			if ok && also && now != then {
				r.broke("WF-15", "a step goes out after a restart although nobody resumed its operation",
					fmt.Sprintf("operation %s: %d requests of step %q came before the restart and %d by then", o.id, then, shortened(text, 60), now))
			}
		}
		r.interruptedOnly(h, o)
		if len(callsAbout(h, "resume", whenResumed, o)) == 0 {
			r.doubted("operation %s was never resumed, so that it is not known whether anything could have gone on", o.id)
		}
	}
	return r
}

// interruptedOnly holds the status behind a restart to interrupted.
func (r *Ruling) interruptedOnly(h history.History, o operation) {
	answers := callsAbout(h, "status", whenRestarted, o)
	if len(answers) == 0 {
		r.doubted("the status of operation %s was not asked for behind the restart", o.id)
	}
	for _, a := range answers {
		switch {
		case a.Outcome() != history.Done:
			r.doubted("the status of operation %s was not answered behind the restart: %s", o.id, answerOf(a))
		case stateOf(a) != "interrupted":
			r.broke("WF-15", "an operation whose server was killed is not shown as interrupted", says("status", a))
		}
	}
}

// ReviewedNeverReplayed (WF-14): a step that is not idempotent and was in flight
// when its server died is marked for review by the first resume, and goes out no
// more, then and after any number of resumes and restarts; nor does a later one.
// effects is how often the step took effect before.
func ReviewedNeverReplayed(effects int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		for _, o := range r.operations(h) {
			stored, ok := r.checkpoint(h, o, whenStruck)
			if !ok {
				continue
			}
			at := slices.Index(stepStates(stored), "in_flight")
			if at < 0 {
				r.doubted("no step of operation %s was in flight on disk when the server died: %v", o.id, stored)
				continue
			}
			r.reviewed(h, o)
			r.neverAgain(h, o, at, effects)
		}
		return r
	}
}

// reviewed holds every resume, and the end, to needs_review.
func (r *Ruling) reviewed(h history.History, o operation) {
	resumes := callsAbout(h, "resume", whenResumed, o)
	if len(resumes) == 0 {
		r.doubted("operation %s was never resumed", o.id)
		return
	}
	for _, a := range resumes {
		if a.Outcome() == history.Done && stateOf(a) != "needs_review" {
			r.broke("WF-14", "a step in doubt is not left to a review", says("resume", a), "expected needs_review")
			return
		}
	}
	if end, ok := r.checkpoint(h, o, whenConverged); ok && text(end, "state") != "needs_review" {
		r.broke("WF-14", "a step in doubt is not left to a review", fmt.Sprintf("operation %s is stored as %v, expected needs_review", o.id, end))
	}
}

// neverAgain counts what went out and what took effect of the step in doubt and of
// those behind it. A request came at most once, so the count itself is the control:
// it saw the one that was held.
func (r *Ruling) neverAgain(h history.History, o operation, at, effects int) {
	before, seen := r.effects(h, whenStruck)
	end, ended := r.effects(h, whenConverged)
	if !seen || !ended {
		return
	}
	step := o.texts[at]
	came, _, counted := r.wentOut(h, step, whenConverged)
	switch {
	case !counted:
		return
	case came == 0 || before[step] != effects:
		r.doubted("the step in doubt of operation %s was to be struck with its request on the way and %d effects; %d requests came, and %s", o.id, effects, came, inEffect(step, before[step]))
		return
	case came > 1 || end[step] != effects:
		r.broke("WF-14", "a step in doubt was sent again", fmt.Sprintf("operation %s: %d requests of the step came", o.id, came), inEffect(step, end[step]))
	}
	for _, later := range o.texts[at+1:] {
		if end[later] > 0 {
			r.broke("WF-14", "an operation went on behind a step in doubt", inEffect(later, end[later]))
		}
	}
}
