// Package judge turns a recorded history into findings. It is pure: no process,
// no clock, no test framework, so that an old recording can be judged again.
package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Ruling is what one rule says of one history. Findings make the spec fail;
// Doubts make it inconclusive; both empty means that the rule held.
type Ruling struct {
	Findings []reports.Finding
	// Doubts are why the rule could not judge: a surface that was not seen, a
	// fault that was not proven, a positive control that showed nothing.
	Doubts []string
	// Points are what the rule says of each run at a crash point.
	Points []Point
	// Tried tells in words what was tried, where a rule is about many small things.
	Tried []string
	// Comparisons lay side by side what the surfaces showed; they are no findings.
	Comparisons []reports.Comparison
}

// Rule is one promise, checked on one history.
type Rule func(h history.History) Ruling

// All holds when every rule holds; it gathers what they say.
func All(rules ...Rule) Rule {
	return func(h history.History) Ruling {
		var all Ruling
		for _, rule := range rules {
			r := rule(h)
			all.Findings = append(all.Findings, r.Findings...)
			all.Doubts = append(all.Doubts, r.Doubts...)
			all.Points = append(all.Points, r.Points...)
			all.Tried = append(all.Tried, r.Tried...)
			all.Comparisons = append(all.Comparisons, r.Comparisons...)
		}
		return all
	}
}

// Ruled is what a rule says of a history, and nothing against a target that
// acknowledged nothing in it, or whose answers the target file's jq did not fit:
// whatever seems wrong then may be the target file's own fault (contract,
// "acknowledged"). A call that a claim or a breach is tried with is judged by itself.
// What was Misread is like an answer that was not understood.
func Ruled(rule Rule, h history.History) Ruling {
	r := rule(h)
	for _, o := range h.Operations("") {
		if o.Returned != nil && o.Returned.Unmapped && o.Invoked.Role != "invalid" && o.Invoked.Role != claimRole {
			r.Findings = nil
			r.Doubts = append([]string{fmt.Sprintf("the answer of call %s (%s) was not understood: %s", o.Invoked.ID, o.Invoked.Tool, o.Returned.Reason)}, r.Doubts...)
			return r
		}
	}
	if misread := Misread(h); len(misread) > 0 {
		r.Findings, r.Doubts = nil, append(misread, r.Doubts...)
		return r
	}
	if len(r.Findings) == 0 || slices.ContainsFunc(h.Operations(""), func(o history.Operation) bool {
		return o.Outcome() == history.Done && o.Invoked.Role != "setup"
	}) {
		return r
	}
	first := r.Findings[0].Summary
	r.Findings = nil
	r.Doubts = append([]string{"the target acknowledged nothing, so that nothing can be held against it (it seemed that: " + first + "); check the predicates accepted and refused"}, r.Doubts...)
	return r
}
