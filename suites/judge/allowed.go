package judge

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// RunsOnceAllowed (WF-04): a step that a control denied as its operation was started,
// and that the control lets through when its turn comes, is executed. The control of
// that is another step, which was denied meanwhile for the reason that is named.
func RunsOnceAllowed(how string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		judged, denied := 0, false
		for _, o := range r.operations(h) {
			stored, ok := r.checkpoint(h, o, whenConverged)
			at, err := strconv.Atoi(o.start.Param("allowed"))
			switch {
			case !ok:
			case o.start.Param("how") == how:
				denied = text(stored, "state") == "failed" && slices.Contains(stepStates(stored), "failed")
			case err == nil && at >= 0 && at < len(o.texts):
				judged++
				r.ranAtItsTurn(h, o, stored, at)
			}
		}
		switch {
		case judged == 0 && r.silent():
			r.doubted("no operation had a step that a control lets through once its turn comes")
		case !denied && len(r.Doubts) == 0:
			return doubt("nothing was denied meanwhile (%s), so that a step that runs says nothing", how)
		}
		return r
	}
}

// ranAtItsTurn holds a step to having been executed.
func (r *Ruling) ranAtItsTurn(h history.History, o operation, stored map[string]any, at int) {
	applied, seen := r.effects(h, whenConverged)
	if seen && (text(stored, "state") != "completed" || applied[o.texts[at]] != 1) {
		r.broke("WF-04", "a step is denied by a control as it stood at the start", fmt.Sprintf("operation %s, step %d: it is stored as %v, expected completed", o.id, at+1, stored), inEffect(o.texts[at], applied[o.texts[at]]))
	}
}
