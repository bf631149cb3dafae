package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// verdictWords are the words of a verdict, for a message.
func verdictWords() string {
	var words []string
	for _, v := range verdict.All() {
		words = append(words, string(v))
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// noVerdict names the first place of a report that has a word which is no verdict,
// and the word; "" where there is none.
func noVerdict(r Report) string {
	for i, c := range r.Clauses {
		if !verdict.Valid(c.Verdict) {
			return fmt.Sprintf("clauses[%d].verdict (%s) is %q", i, c.ID, c.Verdict)
		}
	}
	if wrong := noVerdictOf(r.Specs); wrong != "" {
		return wrong
	}
	if r.Control != nil {
		if wrong := noVerdictOf(r.Control.Specs); wrong != "" {
			return "control." + wrong
		}
	}
	if wrong := noVerdictCounted(r.Counts.Clauses); wrong != "" {
		return "counts.clauses " + wrong
	}
	if wrong := noVerdictCounted(r.Counts.Specs); wrong != "" {
		return "counts.specs " + wrong
	}
	return ""
}

func noVerdictOf(specs []Spec) string {
	for i, s := range specs {
		if !verdict.Valid(s.Verdict) {
			return fmt.Sprintf("specs[%d].verdict (%s) is %q", i, s.ID, s.Verdict)
		}
		if s.CrashPoints == nil {
			continue
		}
		for n, p := range s.CrashPoints.Tried {
			// A run that proves nothing has none.
			if p.Verdict != "" && !verdict.Valid(p.Verdict) {
				return fmt.Sprintf("specs[%d].crash_points.tried[%d].verdict (%s) is %q", i, n, p.Name, p.Verdict)
			}
		}
	}
	return ""
}

func noVerdictCounted(counts map[verdict.Verdict]int) string {
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		if !verdict.Valid(v) {
			return fmt.Sprintf("has a number of %q", v)
		}
	}
	return ""
}
