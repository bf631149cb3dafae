package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/versions"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// What the table of pairs says of an older version beside itself is what a run of
// it finds: those clauses do not hold.
func TestAnOlderVersionBreaksWhatTheTableSays(t *testing.T) {
	if testing.Short() {
		t.Skip("what does not hold is waited for")
	}
	tried := 0
	for _, p := range versions.Pairs() {
		broken := regexp.MustCompile(`WR-\d\d`).FindAllString(p.Because, -1)
		if p.Helper != p.App || p.Helper == versions.Current {
			continue
		}
		tried++
		name := fmt.Sprintf("reference-v%d", p.Helper)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			g.Expect(broken).NotTo(BeEmpty())
			tmp := t.TempDir()
			out := filepath.Join(tmp, "report")
			args := []string{"run", name, "--no-control", "--out", out}
			for _, clause := range broken {
				args = append(args, "--select", clause+"/*")
			}
			s := start(t, tmp, args...)
			_ = s.Wait() // its exit code is looked at
			g.Expect(s.ProcessState.ExitCode()).To(Equal(gate.Violation), "%s\n%s", s.out.String(), s.errs.String())
			r, err := reports.Read(out)
			g.Expect(err).NotTo(HaveOccurred())
			found := map[string]verdict.Verdict{}
			for _, c := range r.Clauses {
				found[c.ID] = c.Verdict
			}
			for _, clause := range broken {
				g.Expect(found).To(HaveKeyWithValue(clause, verdict.Fail))
			}
		})
	}
	NewWithT(t).Expect(tried).To(Equal(versions.Current - 1))
}
