package judge

import (
	"fmt"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments in a later generation of the session or the editor.
const (
	whenReloaded = "reloaded" // right behind a reload, before anything is asked for
	whenRenewed  = "renewed"  // behind a recheck
)

// OlderGenerationIsRefused (RC-23): each of n rechecks from a later generation than
// that of the mutation is refused, and none of them asks the server. The control is
// a recheck in its own generation, which asked and was counted.
func OlderGenerationIsRefused(n int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		c, ok := r.theLost(h)
		if !ok || !r.ownRecheckAsked(h, c) {
			return r
		}
		asked := rechecks(h, c, whenRenewed)
		if len(asked) < n {
			r.doubted("%d rechecks in a later generation were needed, %d were made", n, len(asked))
		}
		for _, o := range asked {
			if outcomeOf(o) != "refused" {
				r.broke("RC-23", "a recheck from an older generation is not refused", c.words(), answeredWith(o))
			}
		}
		first, _, counted := r.requests(h, c.draft, "lookup", whenRechecked)
		came, _, again := r.requests(h, c.draft, "lookup", whenRenewed)
		if counted && again && came != first {
			r.broke("RC-23", "a recheck from an older generation asks the server", c.words(), fmt.Sprintf("%d lookups came", came-first))
		}
		return r
	}
}

// ownRecheckAsked doubts a history in which no allowed lookup was counted.
func (r *Ruling) ownRecheckAsked(h history.History, c command) bool {
	asked := rechecks(h, c, whenRechecked)
	if len(asked) == 0 || outcomeOf(asked[len(asked)-1]) != "OUTCOME_UNKNOWN" {
		r.doubted("no recheck in the generation of %s has left it unknown", c.words())
		return false
	}
	first, _, counted := r.requests(h, c.draft, "lookup", whenStruck)
	came, _, again := r.requests(h, c.draft, "lookup", whenRechecked)
	if counted && again && came == first {
		r.doubted("the recheck in the generation of %s sent no lookup, so that the counter shows nothing", c.words())
		return false
	}
	return counted && again
}

// ReloadClaimsNothing (RC-23): behind a reload, before a recheck and after it, neither
// the person nor a tool is told that everything is saved, or that saving has failed,
// while nobody knows what came of the command. That it said saved before is the control.
func ReloadClaimsNothing(h history.History) Ruling {
	var r Ruling
	c, ok := r.theLost(h)
	if !ok {
		return r
	}
	was, seen := r.shown(h, c.draft, whenBefore)
	read, told := r.readAt(h, c.draft, whenRenewed)
	if !seen || !told {
		return r
	}
	if state := text(was, "save_state"); state != "saved" {
		r.doubted("the editor's label said %q before anything was asked for, expected saved", state)
		return r
	}
	for _, when := range []string{whenReloaded, whenRenewed} {
		if is, visible := r.shown(h, c.draft, when); visible {
			r.claimsNothing(c, "the editor", text(is, "save_state"), "at the moment "+when)
		}
	}
	if state := read.Text("save_state"); state != "" {
		r.claimsNothing(c, "a read", state, answerOf(read))
	}
	return r
}

// claimsNothing holds a label behind a reload to the contract's words for what is not
// known to be saved. The contract has none for a failure, so one in the target's own
// words is known by them; what another label claims nobody can say.
func (r *Ruling) claimsNothing(c command, who, label, where string) {
	fact := fmt.Sprintf("its label says %q: %s", label, where)
	switch label {
	case "saved":
		r.broke("RC-23", "behind a reload "+who+" claims that everything is saved", c.words(), fact)
	case "unknown", "unsaved", "saving":
	default:
		if strings.Contains(strings.ToLower(label), "fail") {
			r.broke("RC-23", "behind a reload "+who+" claims that saving has failed", c.words(), fact)
			return
		}
		r.doubted("behind a reload the label of %s says %q (%s), for which the target's vocabulary has no word of the contract", who, label, where)
	}
}

// SameUserGoesOn (RC-23): a session that has ended leaves the outcome unknown, and
// once the same user has signed in again, which is no new generation, a recheck
// confirms it.
func SameUserGoesOn(h history.History) Ruling {
	var r Ruling
	c, ok := r.theLost(h)
	if !ok {
		return r
	}
	between, after := rechecks(h, c, whenRechecked), rechecks(h, c, whenConverged)
	switch {
	case len(between) == 0 || outcomeOf(between[0]) != "OUTCOME_UNKNOWN":
		r.doubted("no recheck of a session that had ended has left %s unknown", c.words())
	case len(after) == 0:
		r.doubted("nobody asked what came of %s once the same user had signed in again", c.words())
	case outcomeOf(after[0]) != "confirmed":
		r.broke("RC-23", "signing in again as the same user ends what can be rechecked", c.words(), answeredWith(after[0]))
	}
	return r
}
