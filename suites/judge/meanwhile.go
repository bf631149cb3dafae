package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments of what is asked for while an outcome is unresolved, and of the same
// once it is recovered.
const (
	whenMeanwhile  = "meanwhile"
	whenAfterwards = "afterwards"
)

// commandsAt are the commands of a moment.
func commandsAt(h history.History, moment string) []command {
	var all []command
	for _, c := range commands(h) {
		if c.Param("moment") == moment {
			all = append(all, c)
		}
	}
	return all
}

// RefusedWhileUnknown (RC-22): while an outcome is unresolved another mutation is
// refused, reaches neither the server nor its store, and its answer points to the
// recheck, which then confirms. The control is the same mutation, which goes through
// and is counted once the outcome is recovered.
func RefusedWhileUnknown(h history.History) Ruling {
	var r Ruling
	lost, ok := r.theLost(h)
	if !ok {
		return r
	}
	others := commandsAt(h, whenMeanwhile)
	if len(others) == 0 {
		r.doubted("no other mutation was asked for while the outcome was unknown")
	}
	for _, c := range others {
		r.pointsToRecheck(c, lost)
		r.reachesNobody(h, c)
		r.goesThroughAfterwards(h, c)
	}
	if asked := rechecks(h, lost, whenConverged); len(asked) == 0 {
		r.doubted("nobody asked what came of %s", lost.words())
	} else if last := asked[len(asked)-1]; outcomeOf(last) != "confirmed" {
		r.broke("RC-22", "the recheck does not confirm behind a mutation that was refused", lost.words(), answeredWith(last))
	}
	return r
}

// pointsToRecheck holds the answer to a mutation that must not begin.
func (r *Ruling) pointsToRecheck(c, lost command) {
	switch outcomeOf(c.Operation) {
	case "refused", "not_sent":
	default:
		r.broke("RC-22", "another mutation is not refused while an outcome is unknown", c.words(), "unknown is "+lost.words(), answeredWith(c.Operation))
		return
	}
	if got, want := c.Text("recheck"), lost.Text("recheck"); got == "" || got != want {
		r.broke("RC-22", "the refusal of another mutation does not point to the recheck", c.words(),
			fmt.Sprintf("it points to %q, and the unknown outcome to %q: %s", got, want, answerOf(c.Operation)))
	}
}

// reachesNobody compares the wire and the receipts before a refusal and behind it.
func (r *Ruling) reachesNobody(h history.History, c command) {
	first, _, counted := r.requests(h, c.draft, c.kind, whenStruck)
	came, _, again := r.requests(h, c.draft, c.kind, whenMeanwhile)
	receipts, seen := r.receipts(h, c, whenMeanwhile)
	if !counted || !again || !seen {
		return
	}
	if came != first {
		r.broke("RC-22", "another mutation went to the server while an outcome was unknown", c.words(), fmt.Sprintf("%d requests %q came", came-first, c.kind))
	}
	if len(receipts) != 0 {
		r.broke("RC-22", "another mutation was applied while an outcome was unknown", c.words(), fmt.Sprintf("the store has %d receipts of it", len(receipts)))
	}
}

// goesThroughAfterwards doubts a mutation that is refused without any outcome in
// doubt as well, or that the counter did not count.
func (r *Ruling) goesThroughAfterwards(h history.History, c command) {
	for _, again := range commandsAt(h, whenAfterwards) {
		if again.kind != c.kind || again.id != c.id {
			continue
		}
		first, _, counted := r.requests(h, c.draft, c.kind, whenConverged)
		came, _, counts := r.requests(h, c.draft, c.kind, whenAfterwards)
		switch {
		case !counted || !counts:
		case outcomeOf(again.Operation) != "confirmed":
			r.doubted("%s is not confirmed behind the recovery either: %s", again.words(), answeredWith(again.Operation))
		case came-first != 1:
			r.doubted("%s was confirmed behind the recovery, and %d requests were counted", again.words(), came-first)
		}
		return
	}
	r.doubted("%s was not asked for again behind the recovery", c.words())
}

// TypingGoesOn (RC-22): while an outcome is unresolved the person goes on typing.
// That the editor took a text before is the control.
func TypingGoesOn(h history.History) Ruling {
	var r Ruling
	c, ok := r.theLost(h)
	if !ok {
		return r
	}
	first, then := keystrokes(h, whenBefore), keystrokes(h, whenTyped)
	if len(first) == 0 || len(then) == 0 {
		r.doubted("the person typed %d times before the dispatch and %d times while the outcome was unknown; one of each is needed", len(first), len(then))
		return r
	}
	for _, k := range first {
		r.tookKeystroke(h, c, k)
	}
	for _, k := range then {
		if k.refused != "" {
			r.broke("RC-22", "the person cannot go on typing while an outcome is unknown", k.words(), "the editor refused it: "+shortened(k.refused, 300))
			continue
		}
		if shown, seen := r.shown(h, c.draft, whenTyped); seen && text(shown, k.field) != k.text {
			r.broke("RC-22", "the editor drops what the person types while an outcome is unknown", k.words(), fmt.Sprintf("it shows %q", text(shown, k.field)))
		}
	}
	return r
}
