package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenRaced is the moment of calls that are made at once.
const whenRaced = "raced"

// OneOfTwoActs (WF-11): of two resumes of one operation that two servers get at
// once one acts and the other is refused, and the step goes out once more.
func OneOfTwoActs(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		answers := callsAbout(h, "resume", whenRaced, o)
		acted, told := 0, []string{}
		for _, a := range answers {
			told = append(told, says("resume", a))
			switch a.Outcome() {
			case history.Done:
				acted++
			case history.Unknown:
				r.doubted("resume %s was not answered, so that it is not known who acts", a.Invoked.ID)
			}
		}
		if len(answers) != 2 {
			r.doubted("operation %s was resumed %d times at once, expected 2", o.id, len(answers))
		}
		if len(r.Doubts) > 0 {
			return r
		}
		switch acted {
		case 0:
			r.broke("WF-11", "of two servers that resume one operation at once neither acts", told...)
		case 2:
			r.broke("WF-11", "two servers resume one operation at once and both act", told...)
		}
		r.wentOnce(h, o)
	}
	return r
}

// wentOnce holds each step to one request since the operation was struck.
func (r *Ruling) wentOnce(h history.History, o operation) {
	for _, step := range o.texts {
		then, _, ok := r.wentOut(h, step, whenStruck)
		now, _, also := r.wentOut(h, step, whenHeld)
		if ok && also && now-then > 1 {
			r.broke("WF-11", "a step goes out more than once although one lock is to keep others from it", fmt.Sprintf("operation %s: %d requests of step %q came behind the resumes", o.id, now-then, shortened(step, 60)))
		}
	}
}

// BusyWhileHeld (WF-11): a resume of an operation that another server runs is
// refused, and its step goes out no second time.
func BusyWhileHeld(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		answers := callsAbout(h, "resume", whenHeld, o)
		if len(answers) == 0 {
			r.doubted("operation %s was not resumed while another server ran it", o.id)
		}
		for _, a := range answers {
			switch a.Outcome() {
			case history.Done:
				r.broke("WF-11", "a server resumes an operation that another one runs", says("resume", a), "expected a refusal")
			case history.Unknown:
				r.doubted("resume %s was not answered, so that it is not known whether it acts", a.Invoked.ID)
			}
		}
		for _, step := range o.texts {
			if came, _, ok := r.wentOut(h, step, whenHeld); ok && came > 1 {
				r.broke("WF-11", "a step goes out more than once although one lock is to keep others from it", fmt.Sprintf("operation %s: %d requests of step %q came while it was held", o.id, came, shortened(step, 60)))
			}
		}
	}
	return r
}

// KilledHolderFrees (WF-11): once the server that ran an operation is killed, a
// resume by another one acts. The step, which may be retried, takes effect once.
func KilledHolderFrees(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		answers := callsAbout(h, "resume", whenResumed, o)
		if len(answers) == 0 {
			r.doubted("operation %s was not resumed behind the kill of its holder", o.id)
		}
		for _, a := range answers {
			switch a.Outcome() {
			case history.Refused:
				r.broke("WF-11", "the lock of a killed holder is not free", says("resume", a))
			case history.Unknown:
				r.doubted("resume %s was not answered, so that it is not known whether the lock is free", a.Invoked.ID)
			}
		}
		end, ok := r.effects(h, whenConverged)
		for _, step := range o.texts {
			if ok && end[step] > 1 {
				r.broke("WF-11", "a step takes effect more than once although one lock is to keep others from it", inEffect(step, end[step]))
			}
		}
	}
	return r
}
