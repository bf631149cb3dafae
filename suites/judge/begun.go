package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// StartAnswersFirst (WF-01): the checkpoint is stored and the start answered with
// the operation ID while the request of the first step is still held.
func StartAnswersFirst(h history.History) Ruling {
	var r Ruling
	for _, o := range r.operations(h) {
		if o.start.ReturnedAt == nil || !heldBefore(h, "outside-held", o.start.ReturnedAt.Seq) {
			r.broke("WF-01", "a start is answered only after its first step has finished", says("start", o.start), "its first step was let go before that")
			continue
		}
		first := o.texts[0]
		before, seen := r.effects(h, whenHeld)
		after, ended := r.effects(h, whenConverged)
		_, passed, counted := r.wentOut(h, first, whenHeld)
		stored, looked := r.checkpoint(h, o, whenHeld)
		switch {
		case !seen || !ended || !counted || !looked:
			continue
		case before[first] != 0 || passed != 0:
			r.doubted("the first step of operation %s had gone out when it was to be held (%s)", o.id, inEffect(first, before[first]))
			continue
		case after[first] == 0:
			r.doubted("the first step of operation %s never took effect, so that it cannot be told what the answer came before", o.id)
			continue
		case stored == nil:
			r.broke("WF-01", "a start was acknowledged and no checkpoint is stored", says("start", o.start), "the store has no checkpoint of operation "+o.id)
		}
	}
	return r
}

// heldBefore says that a hold was not yet released at an event.
func heldBefore(h history.History, name string, seq int64) bool {
	return slices.ContainsFunc(h.Faults(), func(f history.FaultTrace) bool {
		healed, released := f.Reached(history.Healed)
		return f.Name == name && (!released || healed.Seq > seq)
	})
}

// InFlightFirst (WF-12): where a step's request is held on the wire, the
// checkpoint says in_flight of that step, done of those in front of it and pending
// of those behind it.
func InFlightFirst(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, o := range r.operations(h) {
		at, ok := r.heldStep(h, o)
		stored, looked := r.checkpoint(h, o, whenHeld)
		if !ok || !looked {
			continue
		}
		judged++
		states := stepStates(stored)
		want := make([]string, len(o.texts))
		for i := range want {
			want[i] = map[bool]string{true: "done", false: "pending"}[i < at]
		}
		want[at] = "in_flight"
		if !slices.Equal(states, want) {
			r.broke("WF-12", "the request of a step has left and the checkpoint does not say that it is in flight",
				fmt.Sprintf("operation %s: the request of step %d is on the wire", o.id, at+1),
				fmt.Sprintf("its steps are stored as %s, expected %s", quoted(states), quoted(want)))
		}
	}
	if judged == 0 && r.silent() {
		r.doubted("no step was seen while its request was held")
	}
	return r
}

// heldStep is the index of the step whose request has come to the wire and has not
// passed it.
func (r *Ruling) heldStep(h history.History, o operation) (int, bool) {
	for i, text := range o.texts {
		came, passed, ok := r.wentOut(h, text, whenHeld)
		if !ok {
			return 0, false
		}
		if came > 0 && passed == 0 {
			return i, true
		}
	}
	r.doubted("no request of operation %s was held", o.id)
	return 0, false
}
