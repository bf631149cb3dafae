package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

var gatePassed = regexp.MustCompile(`Gate passed \(exit 0\): clauses: (\d+) pass, (\d+) not-applicable; specs: (\d+) pass, (\d+) not-applicable\.`)

// What README.md shows of `make run` has the numbers of the specs and clauses that
// there are.
func TestTheRunInTheReadmeIsOfToday(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("../../README.md")
	g.Expect(err).NotTo(HaveOccurred())
	readme := string(text)
	h := harness()
	l, err := h.List("reference")
	g.Expect(err).NotTo(HaveOccurred())

	run, without := 0, 0
	judged := map[string]bool{} // a part of another level than its clause is a row of its own
	for _, s := range l.Specs {
		for _, ref := range s.Clauses {
			base, part, _ := strings.Cut(ref, "/")
			c, _ := h.Catalogue.Get(base)
			if p, ok := c.Part(part); ok && p.Level != c.Level {
				base = ref
			}
			judged[base] = true
		}
		if s.Settled == "" {
			run++
		}
	}
	for _, c := range l.Clauses {
		if len(c.Specs) == 0 {
			without++
		}
	}
	g.Expect(readme).To(ContainSubstring(fmt.Sprintf("running %d specs on ", run)))
	g.Expect(readme).To(MatchRegexp(`(?m)^ +1/%d ✓ pass `, run))
	end := gatePassed.FindStringSubmatch(readme)
	g.Expect(end).NotTo(BeNil(), "README.md shows how the gate ends")
	n := make([]int, len(end))
	for i := range n {
		n[i], _ = strconv.Atoi(end[i]) // the first is the whole line
	}
	g.Expect(n[1]+n[2]).To(Equal(len(judged)), "clauses that are judged")
	g.Expect(n[3]+n[4]).To(Equal(len(l.Specs)), "specs")
	if without > 0 {
		g.Expect(readme).To(ContainSubstring(fmt.Sprintf("\n%d clauses without a spec yet, so not judged", without)))
	} else {
		g.Expect(readme).NotTo(ContainSubstring("without a spec yet"))
	}
}
