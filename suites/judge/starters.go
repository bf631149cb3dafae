package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// GoesOnAlone (WF-30): an operation whose first step was held when its starter
// disconnected is completed, and each of its steps took effect.
func GoesOnAlone(h history.History) Ruling {
	var r Ruling
	if len(h.Marks("caller left")) == 0 {
		r.doubted("no starter disconnected")
	}
	for _, o := range r.operations(h) {
		was, held := r.checkpoint(h, o, whenHeld)
		is, ended := r.checkpoint(h, o, whenConverged)
		applied, seen := r.effects(h, whenConverged)
		switch {
		case !held || !ended || !seen:
		case text(was, "state") != "running":
			r.doubted("operation %s was not running when its starter disconnected, but %q", o.id, text(was, "state"))
		case text(is, "state") != "completed":
			r.broke("WF-30", "an operation did not go on after its starter had disconnected", fmt.Sprintf("operation %s is stored as %v, expected completed", o.id, is))
		default:
			for _, text := range o.texts {
				if applied[text] == 0 {
					r.broke("WF-30", "an operation is completed and a step of it did not take effect", inEffect(text, 0))
				}
			}
		}
	}
	return r
}

// StopsWithItsServer (WF-30): an operation whose first step was held when its server
// left over stdio goes no further, is not settled, and is completed once it is
// resumed.
func StopsWithItsServer(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		if was, ok := r.checkpoint(h, o, whenHeld); ok && text(was, "state") != "running" {
			r.doubted("operation %s was not running when its server left, but %q", o.id, text(was, "state"))
			continue
		}
		for _, moment := range []string{whenStruck, whenRestarted} {
			for _, later := range o.texts[1:] {
				if came, _, ok := r.wentOut(h, later, moment); ok && came > 0 {
					r.broke("WF-30", "an operation went on although its server had left", fmt.Sprintf("operation %s: %d requests of step %q came by the moment %s", o.id, came, shortened(later, 60), moment))
				}
			}
		}
		r.resumedToItsEnd(h, o)
	}
	return r
}

// resumedToItsEnd holds an operation to being interrupted, and to being completed by a resume.
func (r *Ruling) resumedToItsEnd(h history.History, o operation) {
	answers := callsAbout(h, "status", whenRestarted, o)
	resumes := callsAbout(h, "resume", whenResumed, o)
	end, ended := r.checkpoint(h, o, whenConverged)
	if len(answers) == 0 || len(resumes) == 0 {
		r.doubted("operation %s was not both asked for and resumed with a new server", o.id)
		return
	}
	for _, a := range answers {
		if a.Outcome() == history.Done && stateOf(a) != "interrupted" {
			r.broke("WF-30", "an operation whose server has left is not shown as interrupted", says("status", a))
			return
		}
	}
	if ended && text(end, "state") != "completed" {
		r.broke("WF-30", "an operation whose server had left could not be resumed to its end", says("resume", resumes[0]), fmt.Sprintf("operation %s is stored as %v, expected completed", o.id, end))
	}
}
