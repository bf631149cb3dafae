package progress_test

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/progress"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func run(w progress.Watch) {
	w.Begin(2, 2)
	w.Started("DU-01/a")
	w.Started("DU-04/b")
	w.Finished(reports.Spec{Key: "DU-01/a", Verdict: verdict.Pass, DurationMS: 1234})
	w.Finished(reports.Spec{Key: "DU-04/b", Verdict: verdict.Fail, DurationMS: 50, Reason: "lost \x1b[2J 49 of 50"})
	w.End()
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	run(progress.Lines(&out))
	NewWithT(t).Expect(out.String()).To(Equal(strings.Join([]string{
		"running 2 specs on 2 workers",
		"1/2 ✓ pass DU-01/a (1.2 s)",
		`2/2 ✗ fail DU-04/b (0.0 s): lost \x1b[2J 49 of 50`,
		"",
	}, "\n")))
}

func TestLiveTellsWhatDidNotPassAndCanBeginAgain(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	w := progress.Live(&out, render.Screen{Width: 80})
	w.Say("starting")
	run(w)
	run(w)
	g.Expect(out.String()).To(HavePrefix("starting\n"))
	g.Expect(strings.Count(out.String(), `✗ fail DU-04/b (0.0 s): lost \x1b[2J 49 of 50`)).To(Equal(2))
	g.Expect(out.String()).NotTo(ContainSubstring("✓ pass DU-01/a"))
}
