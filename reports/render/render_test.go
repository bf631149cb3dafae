package render_test

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

var update = flag.Bool("update", false, "write what is rendered to the golden files")

// report is one with a spec of every verdict, and text that a target printed to
// do harm.
func report() reports.Report {
	began := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	bad := "lost \x1b]0;owned\x07\x1b[2J 49 of 50 | <b>&\u202eoops\xff"
	specs := []reports.Spec{
		{ID: "DU-01/killed", Clauses: []string{"DU-01"}, Title: "an acknowledged write survives", Verdict: verdict.Pass, DurationMS: 1234, Artifacts: "artifacts/DU-01/killed", Screenshots: []string{"before.png", "after.png"},
			Comparisons: []reports.Comparison{{Title: "behind <it>", Surfaces: []string{"answer", "data|base"}, Rows: []reports.Compared{
				{Of: "value", Expected: "a|b", Shown: []string{"a|b", ""}, Agrees: true}, {Of: "<i>", Expected: "1", Shown: []string{bad, "2\n3"}},
			}}},
			CrashPoints: &reports.CrashPoints{Runs: 2, Points: 1, Verified: 1, Drifted: 1, BeforeAck: 1, AfterAck: 1, Table: "points.txt", NotSeen: []string{"mmap of \x1b[1mx"}, Tried: []reports.CrashPoint{
				{Name: "17:after", Call: "write", Path: "/s/<i>.db", How: "kill", Standing: "verified", Left: "whole", Verdict: verdict.Pass},
				{Name: "17:ENOSPC", Call: "write", Path: "/s/\x07", How: "ENOSPC", Standing: "drifted", Acknowledged: true},
			}}},
		{ID: "DU-04/concurrent-on-one-connection", Clauses: []string{"DU-04"}, Title: "of 50 writes all are there", Verdict: verdict.Fail, Reason: bad, DurationMS: 2001,
			Comparisons: []reports.Comparison{{Title: "at the end", Surfaces: []string{"answer"}, Rows: []reports.Compared{{Of: "writes", Expected: "50", Shown: []string{"49"}}}}},
			Findings:    []reports.Finding{{Clause: "DU-04", Source: "contract", Summary: bad, Facts: []string{"50 acknowledged", "1 there: \x00"}}},
			Artifacts:   "artifacts/DU-04/concurrent on one?connection",
			Faults: []reports.Fault{{ID: "f1", Name: "race", Position: "call 3 of <add>", Stages: []reports.Stage{
				{Stage: "armed", AtMS: 0.25}, {Stage: "proven", AtMS: 12.5, Proof: "committed", By: "probe \x1b[31mred", Evidence: map[string]any{"rows": 1, "<b>": "\u202e&"}},
			}}},
			Repro: "holdfast repro holdfast-report DU-04/concurrent-on-one-connection"},
		{ID: "DU-05/two-servers", Clauses: []string{"DU-05"}, Title: "two servers", Verdict: verdict.Fail, Expected: "known-failing", Reason: "lost 3 of 20",
			Numbers: reports.Numbers{Alternations: 10}, Tried: []string{"10 turns of each of two servers", "17 of 20 <survived>\x1b[1m"},
			Findings: []reports.Finding{{Clause: "DU-05", Source: "contract", Summary: "lost 3 of 20\nand \x1b[31mmore", Facts: []string{"20 acknowledged:\r\n  a\n  b"}}}},
		{ID: "DU-02/answer-cut", Clauses: []string{"DU-02"}, Title: "all or nothing", Verdict: verdict.Inconclusive, Reason: "the commit was not proven"},
		{ID: "DU-20/batch", Clauses: []string{"DU-20"}, Title: "an error changed nothing", Verdict: verdict.Error, Reason: "the process broke\n  its stderr: \x1b[31mred\r\n  what to do: look"},
		{ID: "DU-21/awkward", Clauses: []string{"DU-21"}, Title: "read back", Verdict: verdict.NotRun, Reason: "its worker was lost while it ran"},
		{ID: "WR-01/queued", Clauses: []string{"WR-01"}, Title: "queued", Verdict: verdict.NotApplicable, Reason: "the target does not claim the profile work-records"},
	}
	var clauses []reports.Clause
	counts := reports.Counts{Clauses: map[verdict.Verdict]int{}, Specs: map[verdict.Verdict]int{}, ProcessStarts: 1}
	for _, s := range specs {
		profile := "durability"
		if s.Clauses[0] == "WR-01" {
			profile = "work-records"
		}
		clauses = append(clauses, reports.Clause{ID: s.Clauses[0], Level: "must", Title: "What " + s.Clauses[0] + " says", Profile: profile, Verdict: s.Verdict, Reason: s.Reason, Specs: []string{s.ID}})
		counts.Clauses[s.Verdict]++
		counts.Specs[s.Verdict]++
	}
	return reports.Report{
		Schema: reports.ReportSchema, Tool: reports.Tool{Name: "holdfast", Version: "1.2.3"},
		Target:   reports.Target{Name: "acme", Version: "9 \x1b[1m<i>", Profiles: []string{"durability"}},
		Contract: reports.Contract{Version: "1.0"}, Environment: reports.Environment{OS: "linux", Arch: "amd64", Kill: "SIGKILL is not power loss"},
		Seed: 7, Selection: reports.Selection{Level: "must"}, Started: began, Ended: began.Add(12345 * time.Millisecond),
		Specs: specs, Clauses: clauses, Counts: counts,
		Control: &reports.Control{Target: "reference", Specs: []reports.Spec{{ID: "DU-01/killed", Verdict: verdict.Pass}}},
		Baseline: &reports.Baseline{File: "known.yaml", Entries: []reports.BaselineEntry{
			{Spec: "DU-05/two-servers", Expect: "known-failing", Reason: "we know\nit <well>", Issue: "#7", Expires: "2030-12-31", State: "applies"},
			{Clause: "DU-99", Expect: "known-flaky", Reason: "once", State: "stale", Why: "there is none"},
		}},
		Gate: reports.Gate{Verdict: "failed", ExitCode: 1, WithoutSpec: []string{"DU-03"}, Reasons: []reports.Reason{
			{Code: 1, Text: "DU-04/concurrent-on-one-connection failed: " + bad}, {Code: 3, Text: "DU-21/awkward has no result\nand more of it"},
		}},
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Expect(got).To(Equal(string(want)), "if this is meant: go test ./reports/render -update")
}

func TestGolden(t *testing.T) {
	junit, err := render.JUnit(report())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "junit.xml", string(junit))
	golden(t, "summary.md", string(render.Markdown(report())))
	page, err := render.HTML(report())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.html", string(page))
	golden(t, "badge.svg", string(render.Badge(report())))
	golden(t, "terminal.txt", render.Terminal(report(), render.Screen{Width: 90}))
}

// Nothing that a target printed may reach a reader's terminal as a command.
func TestNothingHarmfulIsLeft(t *testing.T) {
	g := NewWithT(t)
	junit, err := render.JUnit(report())
	g.Expect(err).NotTo(HaveOccurred())
	page, err := render.HTML(report())
	g.Expect(err).NotTo(HaveOccurred())
	for name, text := range map[string]string{
		"html": string(page), "badge": string(render.Badge(report())), "junit": string(junit), "md": string(render.Markdown(report())), "terminal": render.Terminal(report(), render.Screen{}),
	} {
		for _, r := range text {
			g.Expect(r == '\n' || (r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && r != 0x202e && r != 0xfffd)).To(BeTrue(), "%s has %q", name, r)
		}
	}
	g.Expect(string(render.Markdown(report()))).NotTo(ContainSubstring("<b>"))
	g.Expect(render.Terminal(report(), render.Screen{Color: true})).NotTo(ContainSubstring("\x1b[2J"))
}

func TestJUnitIsWellFormedAndCounts(t *testing.T) {
	g := NewWithT(t)
	junit, err := render.JUnit(report())
	g.Expect(err).NotTo(HaveOccurred())
	elements := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(string(junit)))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		if start, ok := token.(xml.StartElement); ok {
			elements[start.Name.Local]++
		}
	}
	g.Expect(elements).To(Equal(map[string]int{"testsuites": 1, "testsuite": 1, "testcase": 7, "failure": 2, "error": 3, "skipped": 1}))
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"as it is: äöü 漢字 ✓": "as it is: äöü 漢字 ✓",
		"a\x1b[31mb":         `a\x1b[31mb`,
		"a\r\n\tb\x00\x7f":   `a\x0d\x0a\x09b\x00\x7f`,
		"\u009bx\u202ey":     `\u009bx\u202ey`,
		"\xff\xc3(":          `\xff\xc3(`,
		"\u2028":             `\u2028`,
	} {
		NewWithT(t).Expect(render.Plain(in)).To(Equal(want))
	}
}

func TestClosingNeverCallsAKnownFailureHeld(t *testing.T) {
	g := NewWithT(t)
	r := report()
	r.Gate = reports.Gate{Verdict: "passed"}
	g.Expect(render.Closing(r)).NotTo(ContainSubstring("Every clause that was judged held"))
	r.Counts.Specs = map[verdict.Verdict]int{verdict.Pass: 1}
	g.Expect(render.Closing(r)).To(ContainSubstring("Every clause that was judged held, and every fault is proven to have hit."))
}

func TestClosingNeverCallsAnInconclusiveFaultProven(t *testing.T) {
	g := NewWithT(t)
	r := report()
	r.Gate = reports.Gate{Verdict: "passed"}
	r.Counts.Specs = map[verdict.Verdict]int{verdict.Pass: 1, verdict.Inconclusive: 2}
	g.Expect(render.Closing(r)).To(HaveSuffix(" Every clause that was judged held. 2 of the specs came to no judgement; --allow-inconclusive, or their level, lets them through."))
	r.Counts.Specs[verdict.Fail] = 1
	g.Expect(render.Closing(r)).To(HaveSuffix(" not asked about. 2 of the specs came to no judgement; --allow-inconclusive, or their level, lets them through."))
	r.Gate.ExitCode = 5
	g.Expect(render.Closing(r)).To(HaveSuffix(" Something could not be judged."))
}
