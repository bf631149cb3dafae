package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

var marks = map[verdict.Verdict]string{
	verdict.Pass: "✓", verdict.Fail: "✗", verdict.Inconclusive: "?", verdict.Error: "!", verdict.NotApplicable: "–", verdict.NotRun: "○",
}

// Mark is the one-character sign of a verdict.
func Mark(v verdict.Verdict) string {
	if m, ok := marks[v]; ok {
		return m
	}
	return "·"
}

// Tally is the numbers per verdict in words, worst first: "1 fail, 4 pass".
func Tally(counts map[verdict.Verdict]int) string {
	var parts []string
	for _, v := range verdict.All() {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

var gateSays = map[int]string{
	0:   "Every clause that was judged held, and every fault is proven to have hit.",
	1:   "The target broke at least one clause.",
	2:   "The run was not configured.",
	3:   "The run proves nothing yet: something of it is missing.",
	4:   "No clause is broken, but the baseline has to be looked at.",
	5:   "Something could not be judged.",
	130: "A person ended the run; what was finished is here.",
}

// Closing is the line that a person reads if they read one only.
func Closing(r reports.Report) string {
	said := gateSays[r.Gate.ExitCode]
	open := r.Counts.Specs[verdict.Inconclusive]
	switch {
	case r.Gate.ExitCode != 0:
	case r.Counts.Specs[verdict.Fail] > 0:
		said = "No clause that gates was broken, but for failures that are known or not asked about."
	case open > 0:
		said = "Every clause that was judged held."
	}
	if r.Gate.ExitCode == 0 && open > 0 {
		said += fmt.Sprintf(" %d of the specs came to no judgement; --allow-inconclusive, or their level, lets them through.", open)
	}
	return fmt.Sprintf("Gate %s (exit %d): clauses: %s; specs: %s. %s",
		r.Gate.Verdict, r.Gate.ExitCode, Tally(r.Counts.Clauses), Tally(r.Counts.Specs), said)
}

func named(t reports.Target) string {
	if t.Version == "" {
		return t.Name
	}
	return t.Name + " " + t.Version
}

// claimed splits off the clauses of profiles that the target does not claim:
// a line each says more than a row for every clause of them.
func claimed(r reports.Report) (shown []reports.Clause, unclaimed []string) {
	left := map[string]int{}
	var order []string
	for _, c := range r.Clauses {
		if c.Verdict != verdict.NotApplicable || slices.Contains(r.Target.Profiles, c.Profile) {
			shown = append(shown, c)
			continue
		}
		if left[c.Profile] == 0 {
			order = append(order, c.Profile)
		}
		left[c.Profile]++
	}
	for _, profile := range order {
		unclaimed = append(unclaimed, fmt.Sprintf("%s: not claimed by this target (%s not-applicable)", profile, reports.Plural(left[profile], "clause")))
	}
	return shown, unclaimed
}

// Covered says how much was tried at the crash points of a call, and what that
// does not show.
func Covered(c reports.CrashPoints) string {
	text := fmt.Sprintf("%s, %s: %d verified, %d re-addressed, %d drifted (SIGKILL keeps the page cache: no power loss, no missing fsync)",
		reports.Plural(c.Points, "point"), reports.Plural(c.Runs, "run"), c.Verified, c.Readdressed, c.Drifted)
	for _, n := range c.NotSeen {
		text += "; not seen: " + Plain(n)
	}
	return text
}
