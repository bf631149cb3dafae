package render

import (
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// What a target printed must not make a heading, a rule or a list of the lines
// around it.
func TestALineOfATargetBeginsNothingInMarkdown(t *testing.T) {
	for line, want := range map[string]string{
		"---": `\---`, "===": `\===`, "  - x": `  \- x`, "+ x": `\+ x`, "12. x": `12\. x`, "3) x": `3\) x`,
		"a - b": "a - b", "12 calls": "12 calls", "* x": `\* x`, "> x": "&gt; x", "# x": `\# x`,
		"$x_1$ and $$y$$": `&#36;x\_1&#36; and &#36;&#36;y&#36;&#36;`, // no formula
	} {
		if got := mdLine(line); got != want {
			t.Errorf("line %q is told as %q, want %q", line, got, want)
		}
		if line == "  - x" {
			continue // a line at the beginning of a reason has no indent
		}
		spec := reports.Spec{ID: "WR-01/x", Verdict: verdict.Fail, Reason: "said\n" + line,
			Findings: []reports.Finding{{Clause: "WR-01", Summary: line}}}
		text := string(Markdown(reports.Report{Specs: []reports.Spec{spec}}))
		for _, told := range []string{"said  \n" + want + "  \n", "): " + want + "\n"} {
			if !strings.Contains(text, told) {
				t.Errorf("line %q: the summary lacks %q:\n%s", line, told, text)
			}
		}
	}
}
