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
