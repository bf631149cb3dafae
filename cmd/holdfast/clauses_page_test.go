package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/suites"
)

var update = flag.Bool("update", false, "write docs/clauses.md anew")

const (
	clausesPage = "../../docs/clauses.md"
	updateWords = "go test ./cmd/holdfast -run TestTheClausesPageIsCurrent -update"
)

func TestTheClausesPageIsCurrent(t *testing.T) {
	g := NewWithT(t)
	page := theClausesPage(t, harness())
	if *update {
		g.Expect(os.WriteFile(clausesPage, []byte(page), 0o644)).To(Succeed())
	}
	got, err := os.ReadFile(clausesPage)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got) == page).To(BeTrue(), "docs/clauses.md is not what specs, mutants and the reference's code say; run %s", updateWords)
}

// Whoever adds a spec adds what shows its clause red, and finds where it is kept.
func TestEveryJudgedClauseHasAMutantAndACode(t *testing.T) {
	h := harness()
	for _, c := range h.Catalogue.All() {
		e, err := h.Explain(c.ID)
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		if len(e.Specs) == 0 {
			continue
		}
		g.Expect(e.Mutants).NotTo(BeEmpty(), "%s has specs and no mutant", c.ID)
		g.Expect(e.Reference).NotTo(BeEmpty(), "%s has specs, and nothing in the reference's code is known to keep it: name it in reference/kept.go", c.ID)
		for _, p := range e.Reference {
			g.Expect(line(t, p.At)).To(ContainSubstring(p.Symbol[strings.LastIndex(p.Symbol, ".")+1:]), p.At)
		}
		for _, m := range e.Mutants {
			g.Expect(line(t, m.Code)).To(ContainSubstring(m.Name), m.Code)
		}
	}
}

func theClausesPage(t *testing.T, h suites.Harness) string {
	var page strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&page, format, args...) }
	say("<!-- Generated from the specs, the mutants and the reference's code; run: %s -->\n\n", updateWords)
	say("# Clause, spec, mutant, code\n\n")
	say("For every clause of [the contract](contract.md) that is judged: the specs that judge it, the mutants that these specs " +
		"catch, and what keeps it in the reference's code. `holdfast explain WR-16` says the same with lines, the judges' " +
		"rules and the clause itself.\n")
	var none []string
	profile := ""
	for _, c := range h.Catalogue.All() {
		e, err := h.Explain(c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Specs) == 0 {
			none = append(none, c.ID)
			continue
		}
		if c.Profile != profile {
			profile = c.Profile
			say("\n## %s\n\n| clause | specs | mutants | the reference's code |\n|---|---|---|---|\n", profile)
		}
		say("| **%s** %s | %s | %s | %s |\n", c.ID, c.Title, cell(specsByFile(c.ID, e.Specs)), cell(mutantsByFile(e.Mutants)), cell(placesByFile(e.Reference)))
	}
	say("\n## Without a spec\n\nThese are not judged yet, and count as nothing: %s.\n", strings.Join(none, ", "))
	return page.String()
}

// named is what stands in one file.
type named struct{ file, name string }

// cell lists names below the file that they stand in.
func cell(all []named) string {
	var files []string
	names := map[string][]string{}
	for _, n := range all {
		if !slices.Contains(files, n.file) {
			files = append(files, n.file)
		}
		names[n.file] = append(names[n.file], "`"+n.name+"`")
	}
	var parts []string
	for _, f := range files {
		parts = append(parts, fmt.Sprintf("[%s](../%s): %s", f, f, strings.Join(names[f], ", ")))
	}
	return strings.Join(parts, "<br>")
}

func fileOf(at string) string {
	file, _, _ := strings.Cut(at, ":")
	return file
}

// specsByFile names specs without the clause, where it is their own.
func specsByFile(clause string, specs []suites.ExplainedSpec) (all []named) {
	for _, s := range specs {
		all = append(all, named{fileOf(s.Written.At), strings.TrimPrefix(s.ID, clause+"/")})
	}
	return all
}

func mutantsByFile(mutants []suites.Mutant) (all []named) {
	for _, m := range mutants {
		all = append(all, named{fileOf(m.Code), m.Name})
	}
	return all
}

func placesByFile(places []suites.Place) (all []named) {
	for _, p := range places {
		all = append(all, named{fileOf(p.At), p.Symbol})
	}
	return all
}
