package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// OnlyNamedCalls (WF-31): behind an operation that ended in a state before its last
// step, the outside service has applied, and was sent, nothing but what definitions
// name, each once. The step that was done shows that effects and requests are seen.
func OnlyNamedCalls(state string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		var definitions []string
		operations := r.operations(h)
		for _, o := range operations {
			definitions = append(definitions, o.texts...)
		}
		for _, o := range operations {
			r.endedBehind(h, o, state)
		}
		r.onlyNamedEffects(h, definitions)
		r.onlyNamedRequests(h)
		return r
	}
}

// endedBehind doubts that an operation ended in a state with its first step in effect.
func (r *Ruling) endedBehind(h history.History, o operation, state string) {
	stored, ok := r.checkpoint(h, o, whenConverged)
	effects, seen := r.effects(h, whenConverged)
	if !ok || !seen {
		return
	}
	if text(stored, "state") != state || effects[o.texts[0]] == 0 {
		r.doubted("operation %s was to end as %s behind a step that was done; it is stored as %v, and %s", o.id, state, stored, inEffect(o.texts[0], effects[o.texts[0]]))
	}
}

func (r *Ruling) onlyNamedEffects(h history.History, definitions []string) {
	look, ok := lastLook(h, "effects", whenConverged, nil)
	if !ok || !r.hasColumns(look, "text") {
		return // doubted by endedBehind
	}
	applied := columns(look.Rows, "text")
	var unnamed, twice []string
	for t, n := range count(applied) {
		switch {
		case !slices.Contains(definitions, t):
			unnamed = append(unnamed, shortened(t, 60))
		case n > 1:
			twice = append(twice, shortened(t, 60))
		}
	}
	slices.Sort(unnamed)
	slices.Sort(twice)
	if len(unnamed) > 0 || len(twice) > 0 {
		r.broke("WF-31", "the outside service has applied what no definition names",
			fmt.Sprintf("applied and in no definition: %s", quoted(unnamed)), fmt.Sprintf("applied more than once: %s", quoted(twice)))
	}
}

func (r *Ruling) onlyNamedRequests(h history.History) {
	look, ok := lastLook(h, "changes", whenConverged, nil)
	if !ok || len(look.Rows) != 1 {
		r.doubted("the requests that change something were not counted at the moment %s", whenConverged)
		return
	}
	came, named := number(look.Rows[0], "came"), number(look.Rows[0], "named")
	switch {
	case named == 0:
		r.doubted("no request with the text of a step was counted, so that it is not known whether any would be")
	case came > named:
		r.broke("WF-31", "requests went to the outside service that no definition names", fmt.Sprintf("%d requests that change something came, and %d of them carry the text of a step", came, named))
	}
}
