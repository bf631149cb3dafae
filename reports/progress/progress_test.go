package progress_test

import (
	"bytes"
	"io"
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

func TestOneIsNotMany(t *testing.T) {
	var out bytes.Buffer
	progress.Lines(&out).Begin(1, 1)
	NewWithT(t).Expect(out.String()).To(Equal("running 1 spec on 1 worker\n"))
}

// A finished spec has one line; what is said has as many as it has.
func TestLinesOfAText(t *testing.T) {
	for name, watch := range map[string]func(io.Writer) progress.Watch{
		"lines": progress.Lines,
		"live":  func(out io.Writer) progress.Watch { return progress.Live(out, render.Screen{Width: 80}) },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			w := watch(&out)
			w.Say("two \x1b[2Jthings:\nthe first\r\nthe second\n")
			g.Expect(out.String()).To(Equal("two \\x1b[2Jthings:\n  the first\n  the second\n"))
			w.Begin(1, 1)
			w.Finished(reports.Spec{Key: "DU-01/a", Verdict: verdict.Error, Reason: "it broke\ngoroutine 1"})
			w.End()
			g.Expect(out.String()).To(ContainSubstring("! error DU-01/a (0.0 s): it broke …"))
			g.Expect(out.String()).NotTo(ContainSubstring("goroutine"))
		})
	}
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
