package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// line is a line of a file of the tree, named as explain names it.
func line(t *testing.T, at string) string {
	t.Helper()
	file, number, _ := strings.Cut(at, ":")
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(number)
	lines := strings.Split(string(text), "\n")
	if err != nil || n < 1 || n > len(lines) {
		t.Fatalf("%q is no place", at)
	}
	return lines[n-1]
}

// A fresh reader is led from a clause to its specs, judges, mutants and code.
func TestEverySpecIsShownAsItIsWritten(t *testing.T) {
	h := harness()
	for _, spec := range h.Tests {
		t.Run(spec.ID, func(t *testing.T) {
			g := NewWithT(t)
			e, err := h.Explain(spec.ID)
			g.Expect(err).NotTo(HaveOccurred())
			w := e.Specs[0].Written
			g.Expect(w).NotTo(BeNil(), "its literal was not found in suites/%s", spec.Profile)
			if w.Call == "" {
				g.Expect(line(t, w.At)).To(HaveSuffix("{"))
			} else {
				g.Expect(line(t, w.At)).To(ContainSubstring(strings.Split(w.Call, "\n")[0]))
			}
			g.Expect(w.Drive).To(MatchRegexp(`^(on|before)\(func\(s \*scene\) \{`))
			g.Expect(w.Judge).NotTo(BeEmpty())
			g.Expect(w.Rules).NotTo(BeEmpty())
			for _, r := range w.Rules {
				g.Expect(line(t, r.At)).To(Or(ContainSubstring("func "+r.Name+"("), ContainSubstring(r.Name+" ")))
			}
			_, err = os.Stat(filepath.Join("../..", e.At))
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}

func TestASpecIsExplainedBeforeItsClause(t *testing.T) {
	g := NewWithT(t)
	code, out, errs := holdfast(t, "explain", "WR-07/answer-withheld")
	g.Expect(code).To(Equal(0), errs)
	at := 0
	for _, part := range []string{
		"WR-07/answer-withheld  a note is on the record once, also when its answer never arrived\n",
		"Faults that it places\n  answer-lost\n",
		"What it drives\n  noteOnce(\"WR-07/answer-withheld\"", "happens(s, note)\n",
		"How it is judged\n  judge.All(", "Mutants that it is run on", "note-keys-ignored  ",
		"Its clause\n  WR-07  A retried follow-up happens once\n", "must: gates a release",
		"Where it stands\n", "suites/clauses/0.1-draft/work-records.yaml", "suites/workrecords/keys.go:",
		"judge.NotesOnRecord", "suites/judge/notes.go:", "mutant note-keys-ignored", "fixtures/mutants/keys.go:",
		"the reference's sidecar.appendIntent", "reference/sidecar/accept.go:",
	} {
		next := strings.Index(out[at:], part)
		g.Expect(next).To(BeNumerically(">=", 0), "%q does not stand where it has to in\n%s", part, out)
		at += next
	}
	g.Expect(out).NotTo(ContainSubstring("WR-07/request-lost"))
}

func TestAClauseLeadsToItsCode(t *testing.T) {
	g := NewWithT(t)
	code, out, errs := holdfast(t, "explain", "DU-04")
	g.Expect(code).To(Equal(0), errs)
	for _, part := range []string{
		"DU-04/concurrent-on-one-connection  ", "[race]", "What usually breaks it", "Where the obligation comes from", "Level\n  must",
		"suites/clauses/0.1-draft/durability.yaml", "suites/durability/tests.go:", "judge.AckedSurvive", "suites/judge/durability.go:",
	} {
		g.Expect(out).To(ContainSubstring(part))
	}
	g.Expect(harness().Mutants).NotTo(BeEmpty())
	for _, m := range harness().Mutants {
		if !m.Saboteur && m.Primary == "DU-04" {
			g.Expect(out).To(And(ContainSubstring("  "+m.Name+"  "+m.Breaks), MatchRegexp("mutant "+m.Name+` +fixtures/mutants/[a-z_]+\.go:\d+`)))
		}
	}
}
