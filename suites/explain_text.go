package suites

import (
	"fmt"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites/clauses"
)

// Text is the explanation for a person.
func (e Explanation) Text(screen render.Screen) string {
	p := page{style: render.NewStyle(screen)}
	if e.Spec != "" {
		p.spec(e)
	} else {
		p.clause(e)
	}
	return p.String()
}

// page is a text under headings.
type page struct {
	strings.Builder
	style render.Style
}

func (p *page) title(format string, args ...any) {
	fmt.Fprintf(p, "%s\n", p.style.Bold(render.Plain(fmt.Sprintf(format, args...))))
}

// section shows texts of one or more lines below a heading; of none nothing.
func (p *page) section(heading string, texts ...string) {
	if len(texts) == 0 {
		return
	}
	p.WriteByte('\n')
	p.title("%s", heading)
	for _, text := range texts {
		p.WriteString(render.Block(strings.ReplaceAll(text, "\t", "    "), "  "))
	}
}

// spec tells of one spec first, and of its clause in short.
func (p *page) spec(e Explanation) {
	s := e.Specs[0]
	p.title("%s  %s", s.ID, s.Title)
	p.section("Faults that it places", orNone(s.Faults, "none")...)
	if words := s.Numbers.Words(); len(words) > 0 {
		p.section("How often, unless the target file says otherwise", strings.Join(words, ", "))
	}
	if w := s.Written; w != nil {
		p.section("What it drives", strings.TrimPrefix(w.Call+"\n", "\n")+w.Drive)
		p.section("How it is judged", w.Judge)
	}
	p.section("Mutants that it is run on, to show its clause red", told(e.Mutants)...)
	var clause []string
	for _, ref := range s.Clauses {
		if ref != e.Clause.ID {
			clause = append(clause, "it speaks for "+ref+" as well")
		}
	}
	about := []string{e.Clause.ID + "  " + e.Clause.Title, e.Clause.Text, level(e.Clause)}
	p.section("Its clause", append(append(about, clause...), "`holdfast explain "+e.Clause.ID+"` tells more")...)
	p.section("Where it stands", e.places()...)
}

// clause tells all of a clause.
func (p *page) clause(e Explanation) {
	c := e.Clause
	p.title("%s  %s", c.ID, c.Title)
	fmt.Fprintf(p, "\n%s\n", c.Text)
	for _, part := range c.Parts {
		fmt.Fprintf(p, "  %s/%s (%s): %s\n", c.ID, part.Name, part.Level, part.Text)
	}
	p.section("Level", level(c))
	source := append([]string{}, e.Sources...)
	if c.Stricter {
		source = append(source, "stricter on purpose than what it comes from")
	}
	p.section("Where the obligation comes from", source...)
	p.section("What usually breaks it", c.Breaks)
	var specs []string
	for _, spec := range e.Specs {
		line := spec.ID + "  " + spec.Title
		if len(spec.Faults) > 0 {
			line += "  [" + strings.Join(spec.Faults, ", ") + "]"
		}
		specs = append(specs, line)
	}
	p.section("Specs, with the faults that they place", orNone(specs, "none yet: the clause is not judged and counts as nothing")...)
	p.section("Mutants that show it red", told(e.Mutants)...)
	p.section("Where it stands", e.places()...)
	p.section("Needs", e.Needs...)
	p.section("See also", c.See...)
}

func level(c clauses.Clause) string {
	if c.Level == clauses.Must {
		return "must: gates a release"
	}
	return string(c.Level) + ": reported, does not gate unless asked"
}

func orNone(texts []string, none string) []string {
	if len(texts) == 0 {
		return []string{none}
	}
	return texts
}

func told(mutants []Mutant) (lines []string) {
	for _, m := range mutants {
		lines = append(lines, m.Name+"  "+m.Breaks)
	}
	return lines
}

// places say where clause, specs, rules, mutants and the reference's code stand
// in the tree.
func (e Explanation) places() []string {
	rows := [][2]string{{"clause " + e.Clause.ID, e.At}}
	for _, s := range e.Specs {
		if s.Written != nil {
			rows = append(rows, [2]string{"spec " + s.ID, s.Written.At})
		}
	}
	for _, r := range rulesOf(e.Specs) {
		rows = append(rows, [2]string{"judge." + r.Name, r.At})
	}
	for _, m := range e.Mutants {
		if m.Code != "" {
			rows = append(rows, [2]string{"mutant " + m.Name, m.Code})
		}
	}
	for _, p := range e.Reference {
		rows = append(rows, [2]string{"the reference's " + p.Symbol, p.At})
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, r[0], r[1]))
	}
	return lines
}
