package suites

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// judgeMutants makes the table of a self-test. everything says that all mutants
// were run, so that clauses without one are told.
func (h Harness) judgeMutants(r *MutantReport, chosen []Mutant, plan reports.Plan, everything bool) {
	of := map[string][]reports.Spec{}
	for i, p := range plan.Specs {
		name := p.Mutant + p.Saboteur
		if name == "" {
			name = unmutated
		}
		of[name] = append(of[name], r.Specs[i])
	}
	r.Results = []MutantResult{judgeUnmutated(of[unmutated])}
	for _, m := range chosen {
		if m.Saboteur {
			r.Results = append(r.Results, judgeSaboteur(m, of[m.Name]))
		} else {
			r.Results = append(r.Results, judgeMutant(m, of[m.Name]))
		}
	}
	codes := []int{}
	for _, res := range r.Results {
		codes = append(codes, res.ExitCode)
		if !res.OK {
			r.Reasons = append(r.Reasons, fmt.Sprintf("%s: %s: %s", called(res), res.Outcome, res.Detail))
		}
	}
	if without := h.uncovered(); everything && len(without) > 0 {
		codes = append(codes, gate.Violation)
		r.Reasons = append(r.Reasons, "no mutant shows these clauses red, so nothing proves their specs: "+strings.Join(without, ", "))
	}
	r.ExitCode = gate.Worst(codes...)
}

// called is a result's name for a person.
func called(r MutantResult) string {
	if r.Kind == unmutated {
		return "the reference as it is"
	}
	return r.Kind + " " + r.Name
}

// brokenClauses lists the clauses that the findings of failed specs name; a failed spec
// without a finding counts for its first clause.
func brokenClauses(specs []reports.Spec) []string {
	var refs []string
	for _, s := range specs {
		if s.Verdict != verdict.Fail {
			continue
		}
		if len(s.Findings) == 0 && len(s.Clauses) > 0 {
			refs = append(refs, s.Clauses[0])
		}
		for _, f := range s.Findings {
			refs = append(refs, f.Clause)
		}
	}
	slices.Sort(refs)
	return slices.Compact(refs)
}

func withVerdict(specs []reports.Spec, vs ...verdict.Verdict) (found []reports.Spec) {
	for _, s := range specs {
		if slices.Contains(vs, s.Verdict) {
			found = append(found, s)
		}
	}
	return found
}

// named lists specs with verdict and reason, for a person.
func named(specs []reports.Spec) string {
	var parts []string
	for _, s := range specs {
		part := fmt.Sprintf("%s %s", s.ID, s.Verdict)
		if s.Reason != "" {
			part += " (" + s.Reason + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// judgeUnmutated: on the reference as it is nothing may be found.
func judgeUnmutated(specs []reports.Spec) MutantResult {
	r := MutantResult{Name: unmutated, Kind: unmutated, Breaks: "nothing", Specs: len(specs), OK: true, Outcome: "no finding", Detail: "every spec passed"}
	if failed := withVerdict(specs, verdict.Fail); len(failed) > 0 {
		return r.not("accused", gate.Violation, named(failed))
	}
	if rest := withVerdict(specs, verdict.Error, verdict.NotRun, verdict.Inconclusive); len(rest) > 0 {
		return r.not("unclear", gate.Incomplete, named(rest))
	}
	return r
}

func (r MutantResult) not(outcome string, code int, detail string) MutantResult {
	r.OK, r.Outcome, r.ExitCode, r.Detail = false, outcome, code, detail
	return r
}

// judgeMutant: its primary clause must have a finding, and no clause but that
// and its collateral may.
func judgeMutant(m Mutant, specs []reports.Spec) MutantResult {
	r := MutantResult{Name: m.Name, Kind: "mutant", Primary: m.Primary, Breaks: m.Breaks, Specs: len(specs), OK: true}
	broken := brokenClauses(specs)
	caught := slices.Contains(broken, m.Primary)
	lost := withVerdict(specs, verdict.Error, verdict.NotRun)
	switch {
	case !caught && len(lost) > 0:
		return r.not("unclear", gate.Incomplete, named(lost))
	case !caught:
		ended := named(slices.DeleteFunc(slices.Clone(specs), func(s reports.Spec) bool { return s.Verdict == verdict.NotApplicable }))
		if ended == "" {
			ended = "none of its specs applies to " + m.target()
		}
		return r.not("survived", gate.Violation, fmt.Sprintf("%s has no finding: %s", m.Primary, ended))
	}
	var stray []string
	for _, ref := range broken {
		if !m.mayBreak(ref) {
			stray = append(stray, ref)
		}
	}
	if len(stray) > 0 {
		return r.not("unlisted", gate.Violation, "it breaks clauses that are not in its collateral: "+strings.Join(stray, ", "))
	}
	if len(lost) > 0 {
		return r.not("unclear", gate.Incomplete, named(lost))
	}
	r.Outcome, r.Detail = "caught", "by "+strings.Join(broken, ", ")
	return r
}

// judgeSaboteur: no spec may pass, nor accuse the reference, which is innocent.
// A worker that reports nothing leaves its spec without a result.
func judgeSaboteur(m Mutant, specs []reports.Spec) MutantResult {
	r := MutantResult{Name: m.Name, Kind: "saboteur", Breaks: m.Breaks, Specs: len(specs), OK: true, Outcome: "unmasked"}
	if fooled := withVerdict(specs, verdict.Pass, verdict.Fail); len(fooled) > 0 {
		return r.not("fooled", gate.Violation, named(fooled))
	}
	unmasked := withVerdict(specs, verdict.Inconclusive, verdict.Error, verdict.NotRun)
	if len(unmasked) == 0 {
		return r.not("survived", gate.Violation, "none of its specs applies to "+m.target())
	}
	r.Detail = named(unmasked)
	return r
}
