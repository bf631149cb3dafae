package reports_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

func TestReadTellsAReportFromWhatIsNone(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "report.json")
	_, err := reports.Read(folder)
	g.Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring("name the folder that `holdfast run --out` wrote"))))

	for text, says := range map[string]string{
		``:                                "cut or was edited",
		`{"schema": "holdfast.rep`:        "cut or was edited",
		`[1]`:                             "cut or was edited",
		`{}`:                              "it names no schema",
		`{"schema": "holdfast.report/2"}`: "use the version of holdfast that wrote it",
		`{"schema": "holdfast.report/1", "specs": 3}`: "it was edited",
	} {
		g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(Succeed())
		_, err := reports.Read(folder)
		g.Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring(says))), "%s", text)
	}

	want := reports.Report{Schema: reports.ReportSchema, Seed: 7, Specs: []reports.Spec{{ID: "DU-01/a", Verdict: verdict.Pass}}}
	g.Expect(reports.Write(folder, reports.ReportFile, want)).To(Succeed())
	for _, where := range []string{folder, path} {
		got, err := reports.Read(where)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
	}
}

// A word that is no verdict would be shown as a judgement that nobody made.
func TestAVerdictThatIsNoneIsRefused(t *testing.T) {
	spec := func(v verdict.Verdict) reports.Spec { return reports.Spec{ID: "DU-01/a", Verdict: v} }
	for place, r := range map[string]reports.Report{
		`specs[1].verdict (DU-01/a) is "fantastic"`:      {Specs: []reports.Spec{spec(verdict.Pass), spec("fantastic")}},
		`specs[0].verdict (DU-01/a) is ""`:               {Specs: []reports.Spec{spec("")}},
		`clauses[0].verdict (DU-01) is "PASS"`:           {Clauses: []reports.Clause{{ID: "DU-01", Verdict: "PASS"}}},
		`control.specs[0].verdict (DU-01/a) is "passed"`: {Control: &reports.Control{Specs: []reports.Spec{spec("passed")}}},
		`counts.specs has a number of "fine"`:            {Counts: reports.Counts{Specs: map[verdict.Verdict]int{"fine": 1}}},
		`counts.clauses has a number of "fine"`:          {Counts: reports.Counts{Clauses: map[verdict.Verdict]int{"fine": 1}}},
		`specs[0].crash_points.tried[0].verdict (1:after) is "good"`: {Specs: []reports.Spec{{ID: "DU-01/a", Verdict: verdict.Pass,
			CrashPoints: &reports.CrashPoints{Tried: []reports.CrashPoint{{Name: "1:after", Verdict: "good"}}}}}},
		"": {Specs: []reports.Spec{{ID: "DU-01/a", Verdict: verdict.Pass,
			CrashPoints: &reports.CrashPoints{Tried: []reports.CrashPoint{{Name: "1:after"}}}}}}, // a run that does not count has none
	} {
		t.Run(place, func(t *testing.T) {
			g := NewWithT(t)
			folder := t.TempDir()
			r.Schema = reports.ReportSchema
			g.Expect(reports.Write(folder, reports.ReportFile, r)).To(Succeed())
			_, err := reports.Read(folder)
			if place == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(
				ContainSubstring(filepath.Join(folder, reports.ReportFile)), ContainSubstring(place),
				ContainSubstring("expected fail, error, inconclusive, not-run, pass or not-applicable"), ContainSubstring("run holdfast again"))))
		})
	}
}

func TestWhatCannotBeWrittenSaysWhatToDo(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	for _, err := range []error{reports.WriteText(gone, "x.json", nil), reports.Append(filepath.Join(gone, "x.jsonl"), 1)} {
		NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(gone), ContainSubstring("make room there, see that it may be written, or name another folder with --out"))))
	}
}

func TestLinesTakesOnlyWholeOnes(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "results.jsonl")
	lines := reports.Lines[reports.Spec]{Path: path}
	g.Expect(lines.Next()).To(BeEmpty(), "no file yet")

	g.Expect(reports.Append(path, reports.Spec{ID: "a"})).To(Succeed())
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o644)
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	f.WriteString(`{"id": `)
	found, err := lines.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(HaveLen(1))

	f.WriteString("\"b\"}\nrubbish\n{\"id\":\"c\"}\n")
	found, err = lines.Next()
	g.Expect(err).To(MatchError(ContainSubstring("line 3")))
	g.Expect(found).To(HaveLen(2), "the lines around a broken one count")
	g.Expect(found[0].ID + found[1].ID).To(Equal("bc"))
	g.Expect(lines.Next()).To(BeEmpty())
}
