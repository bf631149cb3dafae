package judge

import (
	"fmt"
	"regexp"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// safeCode is a stable word that can hold nothing of a caller's.
var safeCode = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$`)

// DefiniteIsNoDoubt (WF-19): a step that the outside service refused for certain
// fails its operation with a safe code; one whose request never left fails it or
// leaves it resumable, with nothing sent. Neither is reviewed. An operation that
// nothing happened to shows that requests and effects are counted.
func DefiniteIsNoDoubt(h history.History) Ruling {
	var r Ruling
	definite, sound := 0, 0
	for _, o := range r.operations(h) {
		end, how := expectedEnd(h, o)
		came, _, counted := r.wentOut(h, o.texts[0], whenConverged)
		effects, seen := r.effects(h, whenConverged)
		if !counted || !seen {
			continue
		}
		in := effects[o.texts[0]]
		switch {
		case end == "":
			if r.completed(h, o, effects) {
				sound++
			}
			continue
		case in > 0:
			r.doubted("the step of operation %s was to be %s (%s), and %s", o.id, end, how, inEffect(o.texts[0], in))
			continue
		case end == "unsent" && came > 0:
			r.doubted("the request of operation %s was not to leave, and %d came", o.id, came)
			continue
		}
		definite++
		r.endsDefinite(h, o, end, how)
		r.nothingBehind("WF-19", h, o, 0)
	}
	if (definite == 0 || sound == 0) && r.silent() {
		r.doubted("%d operations had a definite no and %d had none; one of each is needed", definite, sound)
	}
	return r
}

// expectedEnd is what the spec did to the first step of an operation, "" for nothing.
func expectedEnd(h history.History, o operation) (end, how string) {
	for _, m := range h.Marks("expected") {
		if text(m.Data, "text") == o.texts[0] {
			return text(m.Data, "end"), text(m.Data, "how")
		}
	}
	return "", ""
}

// completed doubts that an operation which nothing happened to was completed with
// every step in effect, and says whether it was.
func (r *Ruling) completed(h history.History, o operation, effects map[string]int) bool {
	stored, ok := r.checkpoint(h, o, whenConverged)
	if !ok {
		return false
	}
	for _, step := range o.texts {
		if text(stored, "state") != "completed" || effects[step] != 1 {
			r.doubted("operation %s, to which nothing happened, is stored as %v, and %s", o.id, stored, inEffect(step, effects[step]))
			return false
		}
	}
	return true
}

func (r *Ruling) endsDefinite(h history.History, o operation, end, how string) {
	stored, ok := r.checkpoint(h, o, whenConverged)
	if !ok {
		return
	}
	state := text(stored, "state")
	fact := fmt.Sprintf("operation %s: its step was %s (%s); it is stored as %v", o.id, end, how, stored)
	switch {
	case state == "needs_review":
		r.broke("WF-19", "a definite no is sent to a review", fact)
	case state != "failed" && (end != "unsent" || state != "interrupted"):
		r.broke("WF-19", "an operation does not fail with a step that was definitely not done", fact)
	case state == "failed":
		r.codeIsSafe(h, o, fact)
	}
}

// codeIsSafe holds the code of a failed operation's status to a stable word.
func (r *Ruling) codeIsSafe(h history.History, o operation, fact string) {
	answers := callsAbout(h, "status", whenConverged, o)
	if len(answers) == 0 || answers[0].Outcome() != history.Done {
		r.doubted("the status of the failed operation %s was not answered", o.id)
		return
	}
	if code := answers[0].Text("code"); !safeCode.MatchString(code) {
		r.broke("WF-19", "a failed operation has no safe code", fact, fmt.Sprintf("its status has the code %q", shortened(code, 80)))
	}
}
