package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// FencedStaysOut (RC-28): a command that a recheck has declared not applied never is:
// neither by its request, which was held on its way and arrives later, nor when it is
// sent again. A later command is confirmed.
func FencedStaysOut(h history.History) Ruling {
	var r Ruling
	fenced, later := 0, 0
	for _, c := range r.theCommands(h) {
		if c.Param("held") == "" {
			later++
			r.lands(h, c)
			continue
		}
		asked := rechecks(h, c, whenRechecked)
		if len(asked) == 0 {
			r.doubted("nobody gave up %s", c.words())
			continue
		}
		if o := asked[len(asked)-1]; outcomeOf(o) != "not_applied" {
			// Not to declare anything keeps the promise too, but there is no fence then.
			r.broke("RC-28", "a command that is given up is not declared not applied", c.words(), answeredWith(o))
			continue
		}
		fenced++
		r.arrivedLate(h, c)
		r.keeps(h, "RC-28", "a command that was declared not applied is applied by its late request", c.draft, whenBefore, whenStruck)
		for _, a := range askings(h, "update") {
			if a.params["command_id"] == c.id && a.status != 0 && !a.refused() {
				r.broke("RC-28", "a command that was declared not applied is not refused", a.words(), a.said())
			}
		}
	}
	if r.silent() && (fenced == 0 || later == 0) {
		r.doubted("%d commands were fenced and %d not; one of each is needed", fenced, later)
	}
	return r
}

// arrivedLate doubts a fence whose command never came behind it: the request was
// stopped at the recheck and passed since.
func (r *Ruling) arrivedLate(h history.History, c command) {
	_, stopped, ok := r.requests(h, c.draft, c.kind, whenRechecked)
	_, passed, also := r.requests(h, c.draft, c.kind, whenStruck)
	if ok && also && passed != stopped+1 {
		r.doubted("%d requests of %s arrived behind its recheck, expected one, so that nothing says that it is refused", passed-stopped, c.words())
	}
}

// GivenUpConfirmed (RC-28): a command that had been applied when it is given up is
// confirmed, as ConfirmedByRecheck has it, and not declared not applied.
func GivenUpConfirmed(h history.History) Ruling {
	var r Ruling
	for _, c := range r.theCommands(h) {
		asked := rechecks(h, c, whenConverged)
		stored, seen := r.storedDraft(h, c.draft, whenStruck)
		if !seen {
			continue
		}
		if len(asked) == 0 || number(stored, "revision") != c.revision+1 {
			r.doubted("%s was to be committed and given up; stored is revision %d, and it was given up %d times", c.words(), number(stored, "revision"), len(asked))
			continue
		}
		o := asked[len(asked)-1]
		if from, to := moved(o); outcomeOf(o) != "confirmed" || from != c.revision || to != c.revision+1 {
			r.broke("RC-28", "a command that was applied is given up", c.words(), answeredWith(o), fmt.Sprintf("expected confirmed, %d → %d", c.revision, c.revision+1))
		}
		r.keeps(h, "RC-28", "to give up a command that was applied changes the draft", c.draft, whenStruck, whenConverged)
	}
	return r
}
