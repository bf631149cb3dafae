package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// variant is one case of a rule: a correct history with edits, and exactly what
// the rule says of it. No finding and no doubt means that it holds.
type variant struct {
	name   string
	edits  []edit
	finds  []reports.Finding
	doubts []string
}

func edits(e ...edit) []edit { return e }

func finds(f ...reports.Finding) []reports.Finding { return f }

// broken is the finding that is expected.
func broken(clause, summary string, facts ...string) reports.Finding {
	return reports.Finding{Clause: clause, Summary: summary, Facts: facts}
}

// rules judges every variant of a correct history, which itself must hold.
func rules(t *testing.T, rule Rule, correct history.History, variants ...variant) {
	t.Helper()
	t.Run("a correct world", func(t *testing.T) {
		t.Helper()
		expectRuling(t, rule, correct, nil, nil)
	})
	names := map[string]bool{}
	for _, v := range variants {
		if names[v.name] {
			t.Fatalf("two variants are called %q", v.name)
		}
		names[v.name] = true
		t.Run(v.name, func(t *testing.T) {
			t.Helper()
			expectRuling(t, rule, with(correct, v.edits...), v.finds, v.doubts)
		})
	}
}

func expectRuling(t *testing.T, rule Rule, h history.History, findings []reports.Finding, doubts []string) {
	t.Helper()
	before, _ := json.Marshal(h)
	got := rule(h)
	if wants, have := told(findings), told(got.Findings); wants != have {
		t.Errorf("findings\n%s\nexpected\n%s", have, wants)
	}
	if !slices.Equal(got.Doubts, doubts) {
		t.Errorf("doubts\n%q\nexpected\n%q", got.Doubts, doubts)
	}
	if again := rule(h); told(again.Findings) != told(got.Findings) || !slices.Equal(again.Doubts, got.Doubts) {
		t.Errorf("judging the same history twice gave %v and %v", got, again)
	}
	if after, _ := json.Marshal(h); string(before) != string(after) {
		t.Error("the rule changed the history that it judged")
	}
}

func told(findings []reports.Finding) string {
	text := ""
	for _, f := range findings {
		text += fmt.Sprintf("  %s: %s\n", f.Clause, f.Summary)
		for _, fact := range f.Facts {
			text += fmt.Sprintf("     - %s\n", fact)
		}
	}
	if text == "" {
		return "  nothing\n"
	}
	return text
}
