package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// ResultFirst (WF-13): while the request of a step is on the wire, the checkpoint
// says done of every step in front of it; and steps take effect in the order of
// the definition.
func ResultFirst(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		r.resultsStored(h, o)
		r.appliedInOrder(h, o)
	}
	return r
}

func (r *Ruling) resultsStored(h history.History, o operation) {
	at, ok := r.heldStep(h, o)
	stored, looked := r.checkpoint(h, o, whenHeld)
	switch {
	case !ok || !looked:
		return
	case at == 0:
		r.doubted("the first step of operation %s was held, so that there is no result in front of it", o.id)
		return
	}
	for i, text := range o.texts[:at] {
		_, passed, counted := r.wentOut(h, text, whenHeld)
		if counted && passed == 0 {
			r.broke("WF-13", "a step goes out before the one in front of it", fmt.Sprintf("operation %s: the request of step %d is on the wire, and none of step %d was", o.id, at+1, i+1))
			return
		}
	}
	states := stepStates(stored)
	if len(states) < at || slices.ContainsFunc(states[:at], func(s string) bool { return s != "done" }) {
		r.broke("WF-13", "the next step starts before the result of the last one is stored",
			fmt.Sprintf("operation %s: the request of step %d is on the wire", o.id, at+1),
			fmt.Sprintf("its steps are stored as %s", quoted(states)))
	}
}

// appliedInOrder holds what the outside service has applied to the definition.
func (r *Ruling) appliedInOrder(h history.History, o operation) {
	look, ok := lastLook(h, "effects", whenConverged, nil)
	if !ok || !r.hasColumns(look, "text") {
		r.doubted("what the outside service has applied was not seen at the moment %s", whenConverged)
		return
	}
	applied := slices.DeleteFunc(columns(look.Rows, "text"), func(text string) bool { return !slices.Contains(o.texts, text) })
	switch {
	case len(applied) < len(o.texts):
		r.doubted("of operation %s %d of %d steps took effect, so that their order cannot be told", o.id, len(applied), len(o.texts))
	case !slices.Equal(applied, o.texts):
		r.broke("WF-13", "steps do not take effect in the order of the definition",
			fmt.Sprintf("operation %s has the steps %s", o.id, quoted(o.texts)), fmt.Sprintf("applied were %s", quoted(applied)))
	}
}
