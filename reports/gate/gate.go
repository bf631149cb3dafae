// Package gate decides what a report means for a release: one exit code, with
// the reasons. It is a pure function of the report and of what was asked for.
package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// The exit codes that people script against.
const (
	Passed       = 0
	Violation    = 1
	Usage        = 2
	Incomplete   = 3 // harness or environment error, incomplete, or nothing ran
	Stale        = 4 // only a stale or expired baseline
	Inconclusive = 5 // more inconclusive than allowed
	Interrupted  = 130
)

// order is which code stands where several hold; Interrupted overrides them all.
var order = []int{Usage, Violation, Incomplete, Inconclusive, Stale}

var words = map[int]string{
	Passed:       "passed",
	Violation:    "failed",
	Usage:        "not configured",
	Incomplete:   "incomplete",
	Stale:        "baseline stale",
	Inconclusive: "inconclusive",
	Interrupted:  "interrupted",
}

// Word is the gate's verdict in a word, for an exit code.
func Word(code int) string { return words[code] }

// Worst picks the code that stands when several hold; of none it is Passed.
func Worst(codes ...int) int {
	if slices.Contains(codes, Interrupted) {
		return Interrupted
	}
	for _, code := range order {
		if slices.Contains(codes, code) {
			return code
		}
	}
	return Passed
}

// Asked is what a run asks of its gate beyond the report itself.
type Asked struct {
	// AllowInconclusive is how many inconclusive specs are let through.
	AllowInconclusive int
	// RequireProfiles and RequireClauses must be judged (target file, `requires`).
	RequireProfiles, RequireClauses []string
	// WithoutSpec are the clauses of the selection that no spec speaks for.
	WithoutSpec []string
	// Interrupted: a person ended the run. Broken are failures of the harness
	// itself that no spec shows.
	Interrupted bool
	Broken      []string
}

// decision gathers reasons.
type decision struct {
	report  *reports.Report
	asked   Asked
	clauses map[string]reports.Clause
	reasons []reports.Reason
}

// Decide judges a report whose specs, clauses, control and baseline are final.
func Decide(r *reports.Report, a Asked) reports.Gate {
	d := &decision{report: r, asked: a, clauses: map[string]reports.Clause{}}
	for _, c := range r.Clauses {
		d.clauses[c.ID] = c
	}
	d.interruption()
	d.violations()
	d.completeness()
	d.requirements()
	d.control()
	d.inconclusive()
	d.baseline()
	return d.gate()
}

// add adds a reason of one line; the rest of a longer one stands with its spec.
func (d *decision) add(code int, format string, args ...any) {
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	d.reasons = append(d.reasons, reports.Reason{Code: code, Text: strings.TrimRight(text, "\r ")})
}

func (d *decision) gate() reports.Gate {
	var codes []int
	for _, r := range d.reasons {
		codes = append(codes, r.Code)
	}
	code := Worst(codes...)
	rank := func(c int) int {
		if c == Interrupted {
			return -1
		}
		return slices.Index(order, c)
	}
	slices.SortStableFunc(d.reasons, func(a, b reports.Reason) int { return rank(a.Code) - rank(b.Code) })
	g := reports.Gate{
		Verdict: Word(code), ExitCode: code, Reasons: d.reasons,
		Checked: []string{}, Required: []string{}, WithoutSpec: append([]string{}, d.asked.WithoutSpec...),
	}
	if g.Reasons == nil {
		g.Reasons = []reports.Reason{}
	}
	for _, c := range d.report.Clauses {
		if judged(c.Verdict) {
			g.Checked = append(g.Checked, c.ID)
		}
	}
	g.Required = append(append(g.Required, d.asked.RequireProfiles...), d.asked.RequireClauses...)
	return g
}

func judged(v verdict.Verdict) bool { return v == verdict.Pass || v == verdict.Fail }

func (d *decision) interruption() {
	if d.asked.Interrupted {
		d.add(Interrupted, "the run was interrupted")
	}
}

// gates says whether a clause or part of one counts for this gate. A reference
// that is in no clause row counts, so that nothing is let through by a slip.
func (d *decision) gates(ref string) bool {
	c, ok := d.clauses[ref]
	if !ok {
		base, _, _ := strings.Cut(ref, "/")
		c, ok = d.clauses[base]
	}
	return !ok || c.Level == "must" || d.report.Selection.Level == "should"
}

func (d *decision) gated(s reports.Spec) bool { return slices.ContainsFunc(s.Clauses, d.gates) }

// violates says whether a failed spec breaks a clause that counts: one that a
// finding names, or, where none names any, one of the spec's own.
func (d *decision) violates(s reports.Spec) bool {
	if len(s.Findings) == 0 {
		return d.gated(s)
	}
	return slices.ContainsFunc(s.Findings, func(f reports.Finding) bool {
		return f.Clause == "" || d.gates(f.Clause)
	})
}

func (d *decision) violations() {
	for _, s := range d.report.Specs {
		if s.Verdict == verdict.Fail && s.Expected == "" && d.violates(s) {
			d.add(Violation, "%s failed: %s", s.ID, s.Reason)
		}
	}
}

func (d *decision) completeness() {
	for _, broken := range d.asked.Broken {
		d.add(Incomplete, "%s", broken)
	}
	planned, ran, gated := 0, 0, 0
	for _, s := range d.report.Specs {
		if s.Verdict != verdict.NotApplicable {
			planned++
		}
		switch s.Verdict {
		case verdict.Error:
			d.add(Incomplete, "%s ended in an error of the harness or the machine: %s", s.ID, s.Reason)
		case verdict.NotRun:
			d.add(Incomplete, "%s has no result: %s", s.ID, s.Reason)
			continue
		case verdict.NotApplicable:
			continue
		}
		ran++
		if d.gated(s) {
			gated++
		}
	}
	switch {
	case planned == 0:
		d.add(Incomplete, "nothing ran: no spec of the selection applies to the target")
	case ran == 0:
		d.add(Incomplete, "nothing ran: no spec came to a result")
	case gated == 0:
		d.add(Incomplete, "no spec of a clause that gates (level %s) ran", d.report.Selection.Level)
	}
}

func (d *decision) requirements() {
	for _, profile := range d.asked.RequireProfiles {
		// A profile is judged when one of its clauses is.
		of := func(c reports.Clause) bool {
			return c.Profile == profile && (judged(c.Verdict) || c.Verdict == verdict.Inconclusive)
		}
		if !slices.ContainsFunc(d.report.Clauses, of) {
			d.add(Incomplete, "the target file requires profile %s, and none of its clauses was judged", profile)
		}
	}
	for _, id := range d.asked.RequireClauses {
		c, ok := d.clauses[id]
		switch {
		case !ok:
			d.add(Incomplete, "the target file requires clause %s, and no spec of this run speaks for it", id)
		case c.Verdict == verdict.Inconclusive:
			d.add(Inconclusive, "the target file requires clause %s, which is inconclusive: %s", id, c.Reason)
		case !judged(c.Verdict):
			d.add(Incomplete, "the target file requires clause %s, which is %s: %s", id, c.Verdict, c.Reason)
		}
	}
}

func (d *decision) control() {
	if d.report.Control == nil {
		return
	}
	for _, s := range d.report.Control.Specs {
		if s.Verdict != verdict.Pass && s.Verdict != verdict.NotApplicable {
			d.add(Incomplete, "the control run of %s on %s did not pass (%s), so this environment proves nothing about it: %s",
				s.ID, d.report.Control.Target, s.Verdict, s.Reason)
		}
	}
}

func (d *decision) inconclusive() {
	var ids []string
	for _, s := range d.report.Specs {
		if s.Verdict == verdict.Inconclusive && d.gated(s) {
			ids = append(ids, s.ID)
		}
	}
	if len(ids) > d.asked.AllowInconclusive {
		d.add(Inconclusive, "%d inconclusive, %d allowed: %s", len(ids), d.asked.AllowInconclusive, strings.Join(ids, ", "))
	}
}

func (d *decision) baseline() {
	if d.report.Baseline == nil {
		return
	}
	for _, e := range d.report.Baseline.Entries {
		if e.State == reports.BaselineStale || e.State == reports.BaselineExpired {
			d.add(Stale, "the baseline's entry for %s is %s: %s", e.Spec+e.Clause, e.State, e.Why)
		}
	}
}
