package suites

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Text is the listing for a person. Of a profile that the target does not claim
// a line says more than a row for every clause and spec of it.
func (l Listing) Text(screen render.Screen) string {
	s := render.NewStyle(screen)
	var b strings.Builder
	l.clauseTable(&b, s)
	l.specTable(&b, s)
	l.faultTable(&b, s)
	return b.String()
}

func (l Listing) claims(profile string) bool { return !slices.Contains(l.NotClaimed, profile) }

func (l Listing) clauseTable(b *strings.Builder, s render.Style) {
	var rows [][]string
	without, unclaimed := 0, map[string]int{}
	for _, c := range l.Clauses {
		if !l.claims(c.Profile) {
			unclaimed[c.Profile]++
			continue
		}
		specs := fmt.Sprint(len(c.Specs))
		if len(c.Specs) == 0 {
			specs = "none yet"
			without++
		}
		rows = append(rows, []string{c.ID, c.Level, specs, render.Plain(c.Title)})
	}
	fmt.Fprintf(b, "%s\n\n", s.Bold("Clauses of contract "+l.Contract))
	if len(rows) > 0 {
		b.WriteString(s.Table([]string{"clause", "level", "specs", "title"}, rows))
		fmt.Fprintf(b, "%s, %d of them without a spec: those are not judged and count as nothing.\n", reports.Plural(len(rows), "clause"), without)
	}
	for _, profile := range l.NotClaimed {
		fmt.Fprintf(b, "%s: not claimed by this target (%s)\n", profile, reports.Plural(unclaimed[profile], "clause"))
	}
}

func (l Listing) specTable(b *strings.Builder, s render.Style) {
	var rows [][]string
	head := []string{"spec", "title"}
	if l.Target != "" {
		head = []string{"spec", "on " + render.Plain(l.Target), "title"}
	}
	for _, spec := range l.Specs {
		row := []string{spec.ID, render.Plain(spec.Title)}
		if words := spec.Numbers.Words(); len(words) > 0 {
			row[1] += " (" + strings.Join(words, ", ") + ")"
		}
		if l.Target != "" {
			state := "runs"
			if spec.Settled != "" {
				state = s.Verdict(verdict.Verdict(spec.Settled))
				row[1] += " — " + render.FirstLine(spec.Reason, 300)
			}
			row = []string{spec.ID, state, row[1]}
		}
		if l.claims(spec.Profile) {
			rows = append(rows, row)
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s\n\n%s", s.Bold("Specs"), s.Table(head, rows))
	}
}

func (l Listing) faultTable(b *strings.Builder, s render.Style) {
	unclaimed := map[string]bool{}
	for _, spec := range l.Specs {
		unclaimed[spec.ID] = !l.claims(spec.Profile)
	}
	var rows [][]string
	for _, f := range l.Faults {
		specs := slices.DeleteFunc(slices.Clone(f.Specs), func(id string) bool { return unclaimed[id] })
		if len(specs) > 0 {
			rows = append(rows, []string{f.Name, fmt.Sprint(len(specs)), strings.Join(specs, ", ")})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n%s\n\n%s", s.Bold("Faults"), s.Table([]string{"fault", "specs", "placed in"}, rows))
	}
}
