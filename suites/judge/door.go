package judge

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenRest is a look at a store that nobody writes to just then.
const whenRest = "rest"

// storeProbes are the looks that together show all that a sidecar has stored.
var storeProbes = []string{"anchors", "intents"}

// RefusedAtTheDoor rules, under a clause, that every call of role "invalid" is
// refused and leaves nothing in the store. The controls are the valid calls of
// the same tools: they were accepted, and some of them showed in the same looks.
// Each of the keywords, none meaning all, that the inputSchema of a called tool has
// must have been tried, wherever it stands.
func RefusedAtTheDoor(clause string, keywords ...string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		var accepted, stored []string
		judged := 0
		tools := map[string]bool{}
		for _, o := range h.Operations("invalid") {
			tools[o.Invoked.Tool] = true
			switch o.Outcome() {
			case history.Unknown:
				r.doubted("%s got no answer, so that it is not known to be refused", calledWith(o))
				continue
			case history.Done:
				accepted = append(accepted, calledWith(o))
			}
			left, ok := r.leftBehind(h, o)
			if left != "" {
				stored = append(stored, calledWith(o)+": "+left)
			}
			if ok {
				judged++
			}
		}
		c := coverageOf(h, keywords)
		r.Tried = c.tried()
		all := len(h.Operations("invalid"))
		if len(accepted) > 0 {
			r.broke(clause, fmt.Sprintf("%d of %d calls that the inputSchema forbids were acknowledged", len(accepted), all), slices.Concat(most(accepted), r.Tried)...)
		}
		if len(stored) > 0 {
			r.broke(clause, fmt.Sprintf("%d of %d calls that the inputSchema forbids left something in the store", len(stored), all), slices.Concat(most(stored), r.Tried)...)
		}
		if judged == 0 && r.silent() {
			r.doubted("no call was made that the inputSchema forbids")
		}
		r.Doubts = append(r.Doubts, c.untried()...)
		r.validOnesPass(h, tools)
		return r
	}
}

// calledWith names an invalid call by its tool and what is wrong with it.
func calledWith(o history.Operation) string {
	return fmt.Sprintf("call %s (%s), %s", o.Invoked.ID, o.Invoked.Tool, o.Param("violation"))
}

// validOnesPass wants a valid call of each tool to be accepted, and one whose
// effect the looks at the store showed.
func (r *Ruling) validOnesPass(h history.History, tools map[string]bool) {
	seen, passed := false, map[string]bool{}
	for _, o := range h.Operations("") {
		if o.Invoked.Role == "invalid" || o.Outcome() != history.Done {
			continue
		}
		passed[o.Invoked.Tool] = true
		if seen {
			continue
		}
		var said Ruling // what a control lacks is told below
		left, _ := said.leftBehind(h, o)
		seen = left != ""
	}
	var names []string
	for name := range tools {
		if !passed[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		r.doubted("no valid call of %s was acknowledged, so that a refusal may have another cause", name)
	}
	if !seen {
		r.doubted("no acknowledged call was seen to store anything, so that nothing would have been seen of a refused one")
	}
}

// leftBehind says what a call changed in the store, "" for nothing; false means
// that nothing can be said, with a doubt why.
func (r *Ruling) leftBehind(h history.History, o history.Operation) (left string, ok bool) {
	for _, probe := range storeProbes {
		before, after, why := restsAround(h, o, probe)
		if why != "" {
			r.doubted("%s of call %s: %s", probe, o.Invoked.ID, why)
			return "", false
		}
		if !reflect.DeepEqual(before.Rows, after.Rows) {
			return fmt.Sprintf("%s before %s, after %s", probe, reports.Plural(len(before.Rows), "row"), reports.Plural(len(after.Rows), "row")), true
		}
	}
	return "", true
}

// restsAround are the last look at rest before a call and the first behind it.
// why says what keeps them from speaking of this call alone.
func restsAround(h history.History, o history.Operation, probe string) (before, after history.Look, why string) {
	if o.ReturnedAt == nil {
		return before, after, "it never returned"
	}
	from, to := int64(0), int64(0)
	for _, e := range h.Events {
		if e.Kind != history.KindLook || e.Look.Probe != probe || e.Look.When != whenRest {
			continue
		}
		switch {
		case e.Seq < o.InvokedAt.Seq:
			before, from = *e.Look, e.Seq
		case e.Seq > o.ReturnedAt.Seq && to == 0:
			after, to = *e.Look, e.Seq
		}
	}
	switch {
	case from == 0 || to == 0:
		return before, after, "the store was not seen both before and after it"
	case before.Error != "" || after.Error != "":
		return before, after, "a look at the store failed: " + cmp.Or(before.Error, after.Error)
	}
	for _, other := range h.Operations("") {
		over := endedBefore(other, from) && other.Outcome() != history.Unknown
		if other.Invoked.ID != o.Invoked.ID && !over && other.InvokedAt.Seq < to {
			return before, after, "call " + other.Invoked.ID + " was made around it as well"
		}
	}
	return before, after, ""
}
