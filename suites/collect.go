package suites

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites/clauses"
)

// speaksFor says whether a spec's verdict counts for a clause reference: it
// names it, or one of its findings does. A clause counts its parts of its own
// level; a part of another level has a row of its own and no say in the clause's.
func (h Harness) speaksFor(s reports.Spec, ref string) bool {
	counts := func(named string) bool {
		if named == ref {
			return true
		}
		if named == baseOf(named) || baseOf(named) != ref {
			return false
		}
		part, ok := h.clause(named)
		return ok && part.level == part.clause.Level
	}
	return slices.ContainsFunc(s.Clauses, counts) ||
		slices.ContainsFunc(s.Findings, func(f reports.Finding) bool { return counts(f.Clause) })
}

// clauseRows makes the clauses of a report: in contract order, a row for every
// clause that a spec speaks for, followed by its parts that specs name.
func (h Harness) clauseRows(specs []reports.Spec, revision string) []reports.Clause {
	rows := []reports.Clause{}
	for _, c := range h.Catalogue.All() {
		refs := []string{c.ID}
		for _, p := range c.Parts {
			if p.Level != c.Level {
				refs = append(refs, c.ID+"/"+p.Name)
			}
		}
		for _, ref := range refs {
			if row, ok := h.clauseRow(ref, specs, revision); ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func (h Harness) clauseRow(ref string, specs []reports.Spec, revision string) (reports.Clause, bool) {
	c, ok := h.clause(ref)
	if !ok {
		return reports.Clause{}, false
	}
	row := reports.Clause{ID: ref, Level: string(c.level), Title: c.title, Profile: c.clause.Profile, Specs: []string{}}
	if source, ok := c.source(revision); ok {
		row.Source = source.Kind
	} else {
		row.Source = clauses.Contract
	}
	for _, s := range specs {
		if !h.speaksFor(s, ref) {
			continue
		}
		switch {
		case len(row.Specs) == 0 || verdict.Worse(s.Verdict, row.Verdict):
			row.Verdict, row.Reason = s.Verdict, s.Reason
		case row.Verdict == verdict.Pass && s.Verdict == verdict.Pass && row.Reason == "":
			row.Reason = s.Reason // what this pass rests on is less than all
		}
		row.Specs = append(row.Specs, s.ID)
	}
	return row, len(row.Specs) > 0
}

// count makes the numbers of a report.
func count(r *reports.Report) {
	r.Counts = reports.Counts{Clauses: map[verdict.Verdict]int{}, Specs: map[verdict.Verdict]int{}}
	for _, c := range r.Clauses {
		r.Counts.Clauses[c.Verdict]++
	}
	for _, s := range r.Specs {
		r.Counts.Specs[s.Verdict]++
		r.Counts.ProcessStarts += s.Starts
	}
	if r.Control != nil {
		for _, s := range r.Control.Specs {
			r.Counts.ProcessStarts += s.Starts
		}
	}
}

// weigh lays the control run beside the results: what fails on the reference as
// well is put down to the environment and becomes an error (design rule 6).
func weigh(specs []reports.Spec, control *reports.Control) {
	failed := map[string]reports.Spec{}
	for _, s := range control.Specs {
		if s.Verdict == verdict.Fail {
			failed[s.ID] = s
		}
	}
	for i, s := range specs {
		twin, also := failed[s.ID]
		if s.Verdict != verdict.Fail || !also {
			continue
		}
		specs[i].Verdict = verdict.Error
		specs[i].Reason = fmt.Sprintf("it fails on %s in this environment as well (%s), so the failure is put down to the environment: %s",
			control.Target, twin.Reason, s.Reason)
		control.Changed = append(control.Changed, s.ID)
	}
}

// withSource fills in whose obligation a finding is about, where its judge left
// that open: an MCP violation is called one only where it is one.
func (h Harness) withSource(specs []reports.Spec, revision string) {
	for _, s := range specs {
		for i, f := range s.Findings {
			if f.Source != "" {
				continue
			}
			if c, ok := h.clause(f.Clause); ok {
				if source, ok := c.source(revision); ok {
					s.Findings[i].Source = source.Kind
				}
			}
		}
	}
}
