package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"
	"github.com/muesli/termenv"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Screen is what a terminal can show.
type Screen struct {
	Width int // columns; 0 takes 120
	Color bool
}

// Style colours text, or not.
type Style struct {
	width int
	paint *lipgloss.Renderer
}

// NewStyle makes the style for a screen. It asks the terminal nothing.
func NewStyle(s Screen) Style {
	paint := lipgloss.NewRenderer(io.Discard)
	paint.SetColorProfile(termenv.Ascii)
	if s.Color {
		paint.SetColorProfile(termenv.ANSI)
	}
	paint.SetHasDarkBackground(true)
	if s.Width <= 0 {
		s.Width = 120
	}
	return Style{width: s.Width, paint: paint}
}

var colors = map[verdict.Verdict]lipgloss.Color{
	verdict.Pass: "2", verdict.Fail: "1", verdict.Error: "5", verdict.Inconclusive: "3", verdict.NotRun: "3", verdict.NotApplicable: "8",
}

// Verdict is mark and word in the verdict's colour.
func (s Style) Verdict(v verdict.Verdict) string {
	return s.paint.NewStyle().Foreground(colors[v]).Render(Mark(v) + " " + string(v))
}

// Bold is for what is read first.
func (s Style) Bold(text string) string { return s.paint.NewStyle().Bold(true).Render(text) }

// Table lays rows out in columns without lines around them. The last column
// takes what is left of the width and is wrapped.
func (s Style) Table(head []string, rows [][]string) string {
	widths := make([]int, len(head))
	for i, h := range head {
		widths[i] = lipgloss.Width(h)
		for _, row := range rows {
			widths[i] = max(widths[i], lipgloss.Width(row[i]))
		}
	}
	last, used := len(head)-1, 0
	for _, w := range widths[:last] {
		used += w + 2
	}
	widths[last] = min(widths[last], max(s.width-used, 24))
	t := table.New().Border(lipgloss.HiddenBorder()).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(false).BorderRow(false).
		Headers(head...).Rows(rows...).
		StyleFunc(func(row, col int) lipgloss.Style {
			style := s.paint.NewStyle().Width(widths[col] + 2).PaddingRight(2)
			if row == table.HeaderRow {
				style = style.Bold(true)
			}
			return style
		})
	var b strings.Builder
	for line := range strings.Lines(t.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// Terminal renders a report for a person: the clauses, what was found, the gate.
func Terminal(r reports.Report, screen Screen) string {
	s := NewStyle(screen)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", s.Bold(Plain(named(r.Target))),
		Plain(fmt.Sprintf("contract %s · seed %d · %s", r.Contract.Version, r.Seed, reports.Plural(r.Counts.ProcessStarts, "process start"))))
	shown, unclaimed := claimed(r)
	var rows [][]string
	for _, c := range shown {
		id := c.ID
		if c.Level == "should" {
			id += " (should)"
		}
		rows = append(rows, []string{Plain(id), s.Verdict(c.Verdict), fmt.Sprint(len(c.Specs)), s.clauseText(c)})
	}
	if len(rows) > 0 {
		b.WriteString(s.Table([]string{"clause", "verdict", "specs", "what it says"}, rows))
	}
	for _, u := range unclaimed {
		fmt.Fprintf(&b, "%s\n", Plain(u))
	}
	if len(r.Gate.WithoutSpec) > 0 {
		fmt.Fprintf(&b, "%s without a spec yet, so not judged (holdfast list names them)\n", reports.Plural(len(r.Gate.WithoutSpec), "clause"))
	}
	s.findings(&b, r)
	s.closing(&b, r)
	return b.String()
}

func (s Style) clauseText(c reports.Clause) string {
	if c.Reason == "" {
		return Plain(c.Title)
	}
	return Plain(c.Title) + " — " + FirstLine(c.Reason, 240)
}

func (s Style) findings(b *strings.Builder, r reports.Report) {
	for _, spec := range worthTelling(r.Specs) {
		fmt.Fprintf(b, "\n%s  %s\n", s.Verdict(spec.Verdict), s.Bold(Plain(spec.ID)))
		if spec.Title != "" {
			fmt.Fprintf(b, "  %s\n", Plain(spec.Title))
		}
		if spec.Expected != "" {
			fmt.Fprintf(b, "  %s, according to the baseline\n", Plain(spec.Expected))
		}
		if len(spec.Findings) == 0 && spec.Reason != "" {
			b.WriteString(Block(spec.Reason, "  "))
		}
		for _, f := range spec.Findings {
			fmt.Fprintf(b, "  %s (%s): %s\n", Plain(f.Clause), Plain(f.Source), Hanging(f.Summary, "    "))
			for _, fact := range f.Facts {
				fmt.Fprintf(b, "    · %s\n", Hanging(fact, "      "))
			}
		}
		if c := spec.CrashPoints; c != nil {
			fmt.Fprintf(b, "  crash points: %s\n  each of them: %s/%s\n", Covered(*c), Plain(spec.Artifacts), Plain(c.Table))
		}
		if spec.Repro != "" {
			fmt.Fprintf(b, "  again: %s\n", Plain(spec.Repro))
		}
	}
}

func (s Style) closing(b *strings.Builder, r reports.Report) {
	b.WriteByte('\n')
	if r.Control != nil {
		counts := map[verdict.Verdict]int{}
		for _, spec := range r.Control.Specs {
			counts[spec.Verdict]++
		}
		fmt.Fprintf(b, "control run on %s: %s\n", Plain(r.Control.Target), Tally(counts))
	}
	fmt.Fprintf(b, "%s\n", s.Bold(Plain(Closing(r))))
	for i, reason := range r.Gate.Reasons {
		if i == 5 && len(r.Gate.Reasons) > 6 {
			fmt.Fprintf(b, "  … and %d reasons more in report.json\n", len(r.Gate.Reasons)-i)
			break
		}
		fmt.Fprintf(b, "  %s\n", FirstLine(reason.Text, 300))
	}
}
