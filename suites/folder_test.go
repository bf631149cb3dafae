package suites_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
)

// held is the error of a run that finds its folder held.
var held = MatchError(And(ContainSubstring(fmt.Sprintf("another run, pid %d, is writing this folder", os.Getpid())), ContainSubstring("name another --out")))

// A second run into the folder of one that goes on is refused, and the first one's
// report is its own.
func TestAFolderIsWrittenByOneRun(t *testing.T) {
	g := NewWithT(t)
	var second, mutants error
	asked := false
	r, out := run(t, func(o *suites.RunOptions) {
		out := o.Out
		o.Watch = watch{func(string) {
			if asked {
				return
			}
			asked = true
			_, second = harness().Run(suites.RunOptions{Out: out, NoControl: true, Targets: []string{"reference"}, Selection: reports.Selection{Level: "must"}})
			_, mutants = harness().SelfTest(suites.MutantOptions{Names: []string{"loses"}, Out: out})
		}}
	}, "DU-02/fails")
	for _, err := range []error{second, mutants} {
		g.Expect(suites.IsUsage(err)).To(BeTrue(), "%v", err)
		g.Expect(err).To(held)
	}
	g.Expect(r.Target.Name).To(Equal("other"))
	g.Expect(r.Gate.ExitCode).To(Equal(1))
	g.Expect(filepath.Join(out, reports.LockFile)).NotTo(BeAnExistingFile(), "the folder is let go")
}

func TestAReportIsNotReplacedWhileItIsRunAgain(t *testing.T) {
	g := NewWithT(t)
	_, out := run(t, nil, "DU-21/repeats")
	var again, once error
	_, err := repro(t, func(o *suites.ReproOptions) {
		o.Times = 1
		o.Watch = watch{func(string) {
			_, again = harness().Run(suites.RunOptions{Out: out, NoControl: true, Targets: []string{"other"}, Selection: reports.Selection{Level: "must"}})
			_, once = harness().Repro(suites.ReproOptions{Report: out, Times: 1})
		}}
	}, out)
	g.Expect(err).NotTo(HaveOccurred())
	for _, err := range []error{again, once} {
		g.Expect(suites.IsUsage(err)).To(BeTrue(), "%v", err)
		g.Expect(err).To(held)
	}
	_, err = repro(t, func(o *suites.ReproOptions) { o.Out = out }, out)
	g.Expect(err).To(MatchError(ContainSubstring("is the report itself")))
	g.Expect(reports.Read(out)).To(HaveField("Target.Name", "other"))
}

// What a worker of a killed run still writes is not taken for a result of this one.
func TestALineOfAnotherRunIsRefused(t *testing.T) {
	g := NewWithT(t)
	r, _ := run(t, func(o *suites.RunOptions) {
		out := o.Out
		o.Watch = watch{func(string) {
			reports.Append(filepath.Join(out, reports.ResultsFile), reports.Finished{
				Run: "earlier", Spec: reports.Spec{Key: "DU-02/fails", ID: "DU-02/fails", Verdict: verdict.Pass},
			})
		}}
	}, "DU-02/fails")
	g.Expect(verdicts(r)).To(Equal(map[string]verdict.Verdict{"DU-02/fails": verdict.Fail}))
	g.Expect(r.Gate.Reasons).To(ContainElement(HaveField("Text", And(
		ContainSubstring("results.jsonl has a line of another run"), ContainSubstring(`"earlier"`), ContainSubstring("run it again")))))
}

// After a run that could not begin there is no report, and least of all an old one.
func TestAnOldReportIsNotTakenForThatOfARunThatDidNotBegin(t *testing.T) {
	g := NewWithT(t)
	_, out := run(t, nil, "DU-01/passes")
	notes := filepath.Join(out, "notes.txt")
	g.Expect(os.WriteFile(notes, []byte("mine"), 0o644)).To(Succeed())
	h := harness()
	h.Preflight = func(context.Context, suites.Setup) error { return errors.New("other-helper: not found in PATH") }
	o := suites.RunOptions{Out: out, NoControl: true, Targets: []string{"other"}, Selection: reports.Selection{Select: []string{"DU-01/passes"}, Level: "must"}}
	_, err := h.Run(o)
	g.Expect(suites.IsUsage(err)).To(BeTrue(), "%v", err)
	_, err = reports.Read(out)
	g.Expect(err).To(MatchError(ContainSubstring("there is no report.json")))
	g.Expect(notes).To(BeARegularFile())

	h.Preflight = nil
	_, err = h.Run(o)
	g.Expect(err).NotTo(HaveOccurred(), "the folder is still known for one of holdfast")
}
