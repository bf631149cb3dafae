package suites_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

// bare is a machine that has nothing but this program.
func bare(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
}

func TestWhatATargetDoesWithoutIsNoFault(t *testing.T) {
	g := NewWithT(t)
	bare(t)
	t.Setenv("TMPDIR", t.TempDir())
	h := harness()
	h.Doctor = func(context.Context, suites.Setup) []suites.Step { return []suites.Step{{Name: "it starts", OK: true}} }

	d, err := h.Diagnose(t.Context(), "other", nil, watch{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.ExitCode).To(Equal(0))
	text := d.Text(render.Screen{})
	g.Expect(text).To(And(
		ContainSubstring("– Docker: not found; not needed by this target\n"),
		ContainSubstring("– Chromium: not found; not needed by this target\n"),
		Not(ContainSubstring("✗")), Not(ContainSubstring("install"))))

	d, err = h.Diagnose(t.Context(), "", nil, watch{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Text(render.Screen{})).To(And(
		ContainSubstring("– Docker: not found\n      targets with an image need it; install docker.io and start it\n"),
		Not(ContainSubstring("this target")), Not(ContainSubstring("✗"))))
}

func TestAStepThatFailedIsMarked(t *testing.T) {
	d := suites.Diagnosis{Machine: []suites.Step{{Name: "ptrace", Detail: "switched off", Advice: "switch it on"}}}
	NewWithT(t).Expect(d.Text(render.Screen{})).To(Equal("This machine\n  ✗ ptrace: switched off\n      switch it on\n"))
}

func TestAListForATargetNamesWhatItDoesNotClaimOnce(t *testing.T) {
	g := NewWithT(t)
	l, err := harness().List("other")
	g.Expect(err).NotTo(HaveOccurred())
	text := l.Text(render.Screen{})
	g.Expect(text).NotTo(ContainSubstring("WR-"))
	g.Expect(text).NotTo(ContainSubstring("RC-"))
	g.Expect(regexp.MustCompile(`(?m)^work-records: not claimed by this target \(42 clauses\)$`).FindAllString(text, -1)).To(HaveLen(1), text)
	g.Expect(text).To(MatchRegexp(`(?m)^workflows: not claimed by this target \(32 clauses\)$`))
	g.Expect(text).To(MatchRegexp(`(?m)^DU-01/passes +runs`))
	g.Expect(text).To(ContainSubstring("24 clauses, 16 of them without a spec"))

	l, err = harness().List("")
	g.Expect(err).NotTo(HaveOccurred())
	text = l.Text(render.Screen{})
	g.Expect(text).To(MatchRegexp(`(?m)^WR-01/passes `))
	g.Expect(text).NotTo(ContainSubstring("not claimed"))
}

// begun keeps how many workers a run began with.
type begun struct {
	watch
	procs int
}

func (b *begun) Begin(_, procs int) { b.procs = procs }

// The specs of a self-test mostly wait, so that it takes more workers than cores.
func TestASelfTestTakesFourWorkersACore(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("TMPDIR", t.TempDir())
	h, many := harness(), 4*runtime.NumCPU()
	for n := range many {
		h.Mutants = append(h.Mutants, suites.Mutant{Name: strings.Repeat("x", n+1), Primary: "DU-01"})
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for asked, want := range map[int]int{0: many, 1: 1} {
		var b begun
		_, err := h.SelfTest(suites.MutantOptions{Out: filepath.Join(t.TempDir(), "out"), Procs: asked, Stop: suites.Stop{Interrupted: ctx}, Watch: &b})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(b.procs).To(Equal(want))
	}
	g.Expect(os.ReadDir(os.Getenv("TMPDIR"))).To(BeEmpty())
}
