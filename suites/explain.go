package suites

import (
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/suites/clauses"
)

// Explanation is what `holdfast explain` shows of a clause, or of a spec.
type Explanation struct {
	Schema string         `json:"schema"`
	Clause clauses.Clause `json:"clause"`
	// At is where the clause stands.
	At string `json:"at"`
	// Sources are the clause's sources as a person reads them.
	Sources []string `json:"sources"`
	// Spec is set where a spec was asked for; Specs are it alone then, and Mutants
	// those that it is run on.
	Spec    string          `json:"spec,omitempty"`
	Specs   []ExplainedSpec `json:"specs"`
	Mutants []Mutant        `json:"mutants"`
	// Reference is what keeps the clause in the reference's code.
	Reference []Place  `json:"reference"`
	Needs     []string `json:"needs"`
}

// ExplainedSpec is one spec as it is written.
type ExplainedSpec struct {
	ListedSpec
	Written *Written `json:"written,omitempty"`
}

// ExplanationSchema names the form of an explanation.
const ExplanationSchema = "holdfast.explain/1"

// Explain tells all about a clause or a spec. The ID may be written loosely
// ("wr6") where only one clause can be meant.
func (h Harness) Explain(id string) (Explanation, error) {
	e := Explanation{Schema: ExplanationSchema, Sources: []string{}, Specs: []ExplainedSpec{}, Mutants: []Mutant{}, Reference: []Place{}, Needs: []string{}}
	t, isSpec := h.test(id)
	base := baseOf(id)
	c, ok := h.Catalogue.Get(base)
	if !ok {
		near := h.Catalogue.Suggest(base)
		if len(near) == 1 && !strings.Contains(id, "/") {
			return h.Explain(near[0])
		}
		return e, Usage("there is no clause %q%s; `holdfast list` names them", id, didYouMean(near))
	}
	if _, part := h.clause(id); strings.Contains(id, "/") && !isSpec && !part {
		var ids []string
		for _, t := range h.Tests {
			ids = append(ids, t.ID)
		}
		return e, Usage("the clause %s has no spec or part %q%s; `holdfast explain %s` names its specs", base, id, nearText(id, ids), base)
	}
	e.Clause, e.At = c, "suites/clauses/"+h.Catalogue.Version+"/"+c.Profile+".yaml"
	for _, s := range c.Sources {
		e.Sources = append(e.Sources, s.String())
	}
	for _, n := range c.Needs {
		if need, ok := clauses.NeedOf(n); ok {
			e.Needs = append(e.Needs, n+": "+need.Meaning)
		}
	}
	if h.Keeping != nil {
		e.Reference = append(e.Reference, h.Keeping(c.ID)...)
	}
	if isSpec {
		e.Spec, e.Specs = t.ID, append(e.Specs, explained(t))
		e.Mutants = append(e.Mutants, h.mutantsOf(t)...)
		return e, nil
	}
	for _, t := range h.testsOf(c.ID) {
		e.Specs = append(e.Specs, explained(t))
	}
	for _, m := range h.Mutants {
		if !m.Saboteur && baseOf(m.Primary) == c.ID {
			e.Mutants = append(e.Mutants, m)
		}
	}
	return e, nil
}

func explained(t Test) ExplainedSpec {
	s := ExplainedSpec{ListedSpec: listedSpec(t)}
	if w, ok := written()[t.ID]; ok {
		s.Written = &w
	}
	return s
}

// mutantsOf are the mutants that a spec is run on and whose clause it speaks for.
func (h Harness) mutantsOf(t Test) (on []Mutant) {
	for _, m := range h.Mutants {
		tests, err := h.testsFor(m, false)
		run := slices.ContainsFunc(tests, func(o Test) bool { return o.ID == t.ID })
		speaks := slices.ContainsFunc(t.Clauses, func(ref string) bool { return baseOf(ref) == baseOf(m.Primary) })
		if err == nil && run && speaks && !m.Saboteur {
			on = append(on, m)
		}
	}
	return on
}
