package baseline_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/baseline"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

func TestReadRefusesWhatItCannotHoldARunTo(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"an unknown key": {
			"- {spec: DU-04/a, expect: known-failing, reason: r, until: 2030-01-01}\n", `unknown field "until"`,
		},
		"no list":              {"spec: DU-04/a\n", "expected a list of entries"},
		"neither":              {"- {expect: known-failing, reason: r}\n", "entry 1 (of nothing): expected either spec or clause"},
		"both":                 {"- {spec: DU-04/a, clause: DU-04, expect: known-failing, reason: r}\n", "expected either spec or clause"},
		"an unknown expection": {"- {clause: DU-04, expect: pass, reason: r}\n", `expect is "pass"; expected known-failing or known-flaky`},
		"no reason":            {"- {clause: DU-04, expect: known-flaky}\n", "has no reason"},
		"a day that is none":   {"- {clause: DU-04, expect: known-flaky, reason: r, expires: soon}\n", `expires is "soon"; expected a day such as`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "baseline.yaml")
			os.WriteFile(path, []byte(c.text), 0o644)
			_, err := baseline.Read(path)
			NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring(c.says))))
		})
	}
	_, err := baseline.Read(filepath.Join(t.TempDir(), "none.yaml"))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("check the path given to --baseline")))
}

func TestAnEmptyBaselineExcusesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline.yaml")
	os.WriteFile(path, []byte("# none known\n"), 0o644)
	list, err := baseline.Read(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(list.Entries).To(BeEmpty())
}

func TestApply(t *testing.T) {
	day := time.Date(2030, 1, 31, 23, 0, 0, 0, time.UTC)
	specs := func() []reports.Spec {
		return []reports.Spec{
			{ID: "DU-04/a", Clauses: []string{"DU-04"}, Verdict: verdict.Fail},
			{ID: "DU-04/b", Clauses: []string{"DU-04", "DU-05"}, Verdict: verdict.Pass},
			{ID: "DU-01/a", Clauses: []string{"DU-01"}, Verdict: verdict.Inconclusive},
		}
	}
	for name, c := range map[string]struct {
		entry   baseline.Entry
		state   string
		excused string
	}{
		"a failing spec":                  {baseline.Entry{Spec: "DU-04/a", Expect: "known-failing"}, "applies", "known-failing"},
		"a failing clause":                {baseline.Entry{Clause: "DU-04", Expect: "known-failing"}, "applies", "known-failing"},
		"a clause that passes":            {baseline.Entry{Clause: "DU-05", Expect: "known-failing"}, "stale", ""},
		"a spec that passes":              {baseline.Entry{Spec: "DU-04/b", Expect: "known-failing"}, "stale", ""},
		"a flaky one that passes":         {baseline.Entry{Spec: "DU-04/b", Expect: "known-flaky"}, "applies", ""},
		"one that was not judged":         {baseline.Entry{Spec: "DU-01/a", Expect: "known-failing"}, "unused", ""},
		"one that is not of this run":     {baseline.Entry{Spec: "WR-01/a", Expect: "known-failing"}, "unused", ""},
		"one that does not exist":         {baseline.Entry{Clause: "DU-99", Expect: "known-failing"}, "stale", ""},
		"on its last day":                 {baseline.Entry{Spec: "DU-04/a", Expect: "known-failing", Expires: "2030-01-31"}, "applies", "known-failing"},
		"the day after excuses no more":   {baseline.Entry{Spec: "DU-04/a", Expect: "known-failing", Expires: "2030-01-30"}, "expired", ""},
		"expired, of what passes as well": {baseline.Entry{Spec: "DU-04/b", Expect: "known-failing", Expires: "2030-01-30"}, "expired", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, results := NewWithT(t), specs()
			b := baseline.List{Entries: []baseline.Entry{c.entry}}.Apply(results, day, func(id string) bool { return id != "DU-99" })
			g.Expect(b.Entries).To(HaveLen(1))
			g.Expect(b.Entries[0].State).To(Equal(c.state))
			g.Expect(results[0].Expected).To(Equal(c.excused))
			g.Expect(results[0].Verdict).To(Equal(verdict.Fail), "a verdict is never replaced")
			if c.state != "applies" {
				g.Expect(b.Entries[0].Why).NotTo(BeEmpty())
			}
		})
	}
}
