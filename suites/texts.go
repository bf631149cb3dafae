package suites

import (
	"fmt"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Text is the diagnosis for a person.
func (d Diagnosis) Text(screen render.Screen) string {
	s := render.NewStyle(screen)
	var b strings.Builder
	part := func(title string, steps []Step) {
		if len(steps) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s\n", s.Bold(title))
		for _, step := range steps {
			mark := render.Mark(verdict.Pass)
			switch {
			case step.NotNeeded:
				mark = render.Mark(verdict.NotApplicable)
			case !step.OK:
				mark = render.Mark(verdict.Fail)
			}
			fmt.Fprintf(&b, "  %s %s", mark, render.Plain(step.Name))
			if step.Detail != "" {
				fmt.Fprintf(&b, ": %s", render.Hanging(step.Detail, "      "))
			}
			b.WriteByte('\n')
			if !step.OK && step.Advice != "" {
				b.WriteString(render.Block(step.Advice, "      "))
			}
		}
	}
	part("This machine", d.Machine)
	part("The target", d.Target)
	return b.String()
}

// Text is the table of a self-test for a person.
func (r MutantReport) Text(screen render.Screen) string {
	s := render.NewStyle(screen)
	var b strings.Builder
	var rows [][]string
	held := 0
	for _, res := range r.Results {
		v := verdict.Pass
		if !res.OK {
			v = verdict.Fail
			if res.ExitCode == 3 {
				v = verdict.Error
			}
		} else {
			held++
		}
		broken := render.Plain(res.Breaks)
		if res.OK && res.Kind == "mutant" {
			broken += " — " + render.FirstLine(res.Detail, 80)
		}
		rows = append(rows, []string{
			res.Kind, render.Plain(res.Name), res.Primary, render.Mark(v) + " " + res.Outcome, fmt.Sprint(res.Specs), broken,
		})
	}
	b.WriteString(s.Table([]string{"kind", "name", "clause", "outcome", "specs", "what is broken"}, rows))
	fmt.Fprintf(&b, "\n%s\n", s.Bold(fmt.Sprintf("%d of %d as they must be (exit %d)", held, len(r.Results), r.ExitCode)))
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "  %s\n", render.FirstLine(reason, 600))
	}
	return b.String()
}

// Text is what is said of each recording, then and now, for a person.
func (v Revalidation) Text(screen render.Screen) string {
	s := render.NewStyle(screen)
	var b strings.Builder
	var rows [][]string
	judged, differ, apart := 0, 0, 0
	for _, r := range v.Results {
		if !r.Judged && r.Then == verdict.NotApplicable {
			apart++ // there is nothing to lay beside it, and often there are hundreds
			continue
		}
		now, why := s.Verdict(r.Now), render.FirstLine(r.Reason, 300)
		switch {
		case !r.Judged:
			now = "–"
		case r.Differs():
			differ++
			fallthrough
		default:
			judged++
		}
		rows = append(rows, []string{render.Plain(r.ID), s.Verdict(r.Then), now, why})
	}
	fmt.Fprintf(&b, "then: holdfast %s, contract %s · now: holdfast %s, contract %s\n\n", render.Plain(v.Then.Version),
		render.Plain(v.Then.Contract.Version), render.Plain(v.Now.Version), render.Plain(v.Now.Contract.Version))
	b.WriteString(s.Table([]string{"spec", "then", "now", "why"}, rows))
	fmt.Fprintf(&b, "\n%s\n", s.Bold(fmt.Sprintf("%s judged again: %d as then, %d otherwise; %d not judged again (exit %d)",
		reports.Plural(judged, "recording"), judged-differ, differ, len(v.Results)-judged, v.ExitCode)))
	if apart > 0 {
		fmt.Fprintf(&b, "  not in the table, because not-applicable then: %d (--json names them)\n", apart)
	}
	return b.String()
}

// Text is the answer of a repro for a person.
func (r ReproReport) Text(screen render.Screen) string {
	s := render.NewStyle(screen)
	var b strings.Builder
	for _, res := range r.Results {
		fmt.Fprintf(&b, "%s  %d of %d failed again", s.Bold(render.Plain(res.ID)), res.Failed, res.Times)
		if res.Others != "" {
			fmt.Fprintf(&b, "; the others: %s", render.FirstLine(res.Others, 400))
		}
		b.WriteByte('\n')
		for _, spec := range res.Specs {
			if spec.Verdict != verdict.Fail {
				continue
			}
			for _, f := range spec.Findings {
				fmt.Fprintf(&b, "  %s: %s\n", render.Plain(f.Clause), render.Plain(f.Summary))
				for _, fact := range f.Facts {
					fmt.Fprintf(&b, "    · %s\n", render.Plain(fact))
				}
			}
			break // the findings of one run; the folder has all
		}
	}
	fmt.Fprintf(&b, "what they left: %s\n", render.Plain(r.Folder))
	return b.String()
}
