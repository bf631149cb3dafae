package render

import (
	"fmt"
	"html"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Markdown renders a summary for a pull request or a job's page.
func Markdown(r reports.Report) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# holdfast: %s — %s\n\n", md(named(r.Target)), md(r.Gate.Verdict))
	fmt.Fprintf(&b, "%s\n\n", md(Closing(r)))
	for _, reason := range r.Gate.Reasons {
		fmt.Fprintf(&b, "- %s\n", md(FirstLine(reason.Text, 500)))
	}
	if len(r.Gate.Reasons) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("| clause | level | title | verdict | specs | reason |\n|---|---|---|---|---|---|\n")
	shown, unclaimed := claimed(r)
	for _, c := range shown {
		fmt.Fprintf(&b, "| %s | %s | %s | %s %s | %d | %s |\n",
			md(c.ID), md(c.Level), md(c.Title), Mark(c.Verdict), c.Verdict, len(c.Specs), md(FirstLine(c.Reason, 300)))
	}
	for _, u := range unclaimed {
		fmt.Fprintf(&b, "\n%s\n", md(u))
	}
	if specs := worthTelling(r.Specs); len(specs) > 0 {
		b.WriteString("\n## What was found\n")
		for _, s := range specs {
			section(&b, s)
		}
	}
	comparedAlike(&b, r.Specs)
	fmt.Fprintf(&b, "\n---\nholdfast %s · contract %s · seed %d · %s, %s/%s · %s\n", md(r.Tool.Version), md(r.Contract.Version), r.Seed,
		reports.Plural(r.Counts.ProcessStarts, "process start"), md(r.Environment.OS), md(r.Environment.Arch), md(r.Environment.Kill))
	return []byte(b.String())
}

func section(b *strings.Builder, s reports.Spec) {
	fmt.Fprintf(b, "\n### %s %s — %s\n\n%s\n\n", Mark(s.Verdict), md(s.ID), md(excusedWord(s)), md(s.Title))
	if s.Reason != "" {
		for line := range strings.Lines(Block(s.Reason, "")) {
			fmt.Fprintf(b, "%s  \n", mdLine(strings.TrimRight(line, "\n")))
		}
		b.WriteByte('\n')
	}
	for _, f := range s.Findings {
		fmt.Fprintf(b, "- **%s** (%s): %s\n", md(f.Clause), md(f.Source), mdLines(f.Summary))
		for _, fact := range f.Facts {
			fmt.Fprintf(b, "  - %s\n", mdLines(fact))
		}
	}
	for _, c := range s.Comparisons {
		compared(b, c)
	}
	for _, line := range s.Tried {
		fmt.Fprintf(b, "\n%s\n", md(line))
	}
	if c := s.CrashPoints; c != nil {
		fmt.Fprintf(b, "\ncrash points: %s; each of them: <code>%s</code>\n", html.EscapeString(Covered(*c)), html.EscapeString(Plain(s.Artifacts+"/"+c.Table)))
	}
	if s.Repro != "" {
		fmt.Fprintf(b, "\nagain: <code>%s</code>\n", html.EscapeString(Plain(s.Repro)))
	}
}

// comparedAlike shows what was compared by specs that nobody has to look at.
func comparedAlike(b *strings.Builder, specs []reports.Spec) {
	begun := false
	for _, s := range specs {
		if telling(s) || len(s.Comparisons) == 0 {
			continue
		}
		if !begun {
			b.WriteString("\n## What was compared\n")
		}
		begun = true
		fmt.Fprintf(b, "\n### %s %s — %s\n\n%s\n", Mark(s.Verdict), md(s.ID), md(excusedWord(s)), md(s.Title))
		for _, c := range s.Comparisons {
			compared(b, c)
		}
	}
}

// compared is a comparison as a table.
func compared(b *strings.Builder, c reports.Comparison) {
	fmt.Fprintf(b, "\n%s\n\n| compared | expected |", md(c.Title))
	for _, s := range c.Surfaces {
		fmt.Fprintf(b, " %s |", md(s))
	}
	fmt.Fprintf(b, " agrees |\n|%s\n", strings.Repeat("---|", len(c.Surfaces)+3))
	for _, row := range c.Rows {
		fmt.Fprintf(b, "| %s | %s |", md(row.Of), md(FirstLine(row.Expected, 300)))
		for _, shown := range row.Shown {
			fmt.Fprintf(b, " %s |", md(FirstLine(shown, 300)))
		}
		agrees := "yes"
		if !row.Agrees {
			agrees = "**no**"
		}
		fmt.Fprintf(b, " %s |\n", agrees)
	}
}

// mdLines is a text of several lines within one item of a list.
func mdLines(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, mdLine(strings.TrimRight(line, "\r\n")))
	}
	return strings.Join(lines, "<br>")
}

// mdLine makes a whole line harmless: what would begin a list, a rule or the
// underline of a heading there begins nothing.
func mdLine(text string) string {
	told := md(text)
	rest := strings.TrimLeft(told, " ")
	lead := told[:len(told)-len(rest)]
	number := strings.TrimLeft(rest, "0123456789")
	switch {
	case strings.HasPrefix(rest, "-"), strings.HasPrefix(rest, "+"), strings.HasPrefix(rest, "="):
		return lead + `\` + rest
	case len(number) < len(rest) && (strings.HasPrefix(number, ".") || strings.HasPrefix(number, ")")):
		return lead + rest[:len(rest)-len(number)] + `\` + number
	}
	return told
}

// md makes text harmless in Markdown, tables included.
func md(text string) string {
	var b strings.Builder
	for _, r := range Plain(text) {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '\\', '`', '*', '_', '[', ']', '|', '#', '~', '!':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '@': // mentions nobody
			b.WriteString("&#64;")
		case '$': // begins no formula
			b.WriteString("&#36;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func excusedWord(s reports.Spec) string {
	if s.Expected == "" {
		return string(s.Verdict)
	}
	return fmt.Sprintf("%s (%s)", s.Verdict, s.Expected)
}

// worthTelling are the specs that a person has to look at, worst first.
func worthTelling(specs []reports.Spec) []reports.Spec {
	var told []reports.Spec
	for _, v := range verdict.All() {
		if v == verdict.Pass || v == verdict.NotApplicable {
			continue
		}
		for _, s := range specs {
			if s.Verdict == v {
				told = append(told, s)
			}
		}
	}
	return told
}
