package suites_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/clauses"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The targets of these tests. None of them is ever started: the performer is fake.
var builtin = map[string]string{
	"reference": `
holdfast: 1
name: reference
processes: {helper: {reference: helper, mcp: stdio}}
profiles: &profiles
  durability:
    writes: [{name: add, arguments: {text: "{{value}}"}}]
    read: {name: list, arguments: {}, values: ".notes[]"}
`,
	"other": `
holdfast: 1
name: other
processes: {helper: {run: [other-helper], mcp: stdio}}
profiles:
  durability:
    writes: [{name: add, arguments: {text: "{{value}}"}}]
    read: {name: list, arguments: {}, values: ".notes[]"}
`,
	"boxed": `
holdfast: 1
name: boxed
processes: {helper: {image: "example.org/helper:1", mcp: stdio}}
profiles:
  durability:
    writes: [{name: add, arguments: {text: "{{value}}"}}]
    read: {name: list, arguments: {}, values: ".notes[]"}
`,
}

// harness makes a harness whose specs do what their scene says. The workers of a
// run make the same one: scenes must not depend on the test that runs.
func harness() suites.Harness {
	return suites.Harness{
		Version: "test", Catalogue: clauses.Current(), Perform: perform, Mutants: mutants,
		Builtin:      func(name string) ([]byte, bool) { text, ok := builtin[name]; return []byte(text), ok },
		BuiltinNames: func() []string { return []string{"boxed", "other", "reference"} },
		Tests: []suites.Test{
			spec("WR-01/passes", "work-records"),
			spec("DU-01/passes", "durability"),
			spec("DU-01/passes-too", "durability"),
			spec("DU-02/fails", "durability"),
			spec("DU-02/fails-everywhere", "durability"),
			stopping(spec("DU-04/doubts", "durability")),
			spec("DU-05/breaks", "durability"),
			spec("DU-05/panics", "durability"),
			spec("DU-05/says-nonsense", "durability"),
			spec("DU-12/fails", "durability"),
			spec("DU-20/kills-its-worker", "durability"),
			spec("DU-21/stays", "durability"),
			spec("DU-21/repeats", "durability"),
			{ID: "DU-18/not-for", Clauses: []string{"DU-18"}, Profile: "durability", NotFor: func(*target.File) string { return "it has one server" }},
			{ID: "DU-18/missing", Clauses: []string{"DU-18"}, Profile: "durability", Missing: func(*target.File) string { return "it has no probe" }},
		},
	}
}

func spec(id, profile string) suites.Test {
	return suites.Test{ID: id, Clauses: []string{id[:5]}, Title: "what " + id + " says", Profile: profile, Faults: []string{"kill"}}
}

// stopping is a spec that stops before its end.
func stopping(t suites.Test) suites.Test {
	t.Drive = func(*world.World) { panic(world.Stop{}) }
	return t
}

// drive drives a spec as the real performer does.
func drive(t suites.Test) {
	defer func() { _ = recover() }()
	t.Drive(nil)
}

var mutants = []suites.Mutant{
	{Name: "loses", Breaks: "writes", Primary: "DU-01"},
	{Name: "loses-more", Breaks: "writes", Primary: "DU-01", Collateral: []suites.Collateral{{Clause: "DU-05", Why: "it is the same store"}}, Specs: []string{"DU-01/passes*", "DU-21/repeats"}},
	{Name: "harmless", Breaks: "nothing", Primary: "DU-01"},
	{Name: "blind", Breaks: "a probe", Saboteur: true, Specs: []string{"DU-01/passes"}},
	{Name: "liar", Breaks: "a probe", Saboteur: true, Specs: []string{"DU-01/passes"}},
}

// perform is what a spec of these tests does.
func perform(ctx context.Context, t suites.Test, s suites.Setup) reports.Spec {
	r := reports.Spec{Verdict: verdict.Pass, Starts: 1}
	fail := func(clause, summary string) {
		r.Verdict = verdict.Fail
		r.Findings = append(r.Findings, reports.Finding{Clause: clause, Summary: summary, Facts: []string{"50 acknowledged", "1 there"}})
	}
	os.WriteFile(filepath.Join(s.Folder, "schedule.yaml"), fmt.Appendf(nil, "seed: %d\n", s.Seed), 0o644)
	switch s.Mutant + s.Saboteur {
	case "loses":
		fail("DU-01", "lost")
	case "loses-more":
		if t.ID == "DU-21/repeats" {
			fail("DU-21", "unlisted")
		} else {
			fail("DU-01", "lost")
		}
	case "blind":
		r.Verdict, r.Reason = verdict.Inconclusive, "nothing was seen"
	}
	if s.Mutant+s.Saboteur != "" {
		return r
	}
	_, scene, _ := strings.Cut(t.ID, "/")
	switch scene {
	case "fails":
		if s.Target.Name != suites.ControlTarget {
			fail(t.Clauses[0], "lost 49 of 50")
		}
	case "fails-everywhere":
		fail(t.Clauses[0], "lost 49 of 50")
	case "doubts":
		drive(t)
		r.Verdict, r.Reason = verdict.Inconclusive, "the fault was not proven"
	case "breaks":
		r.Verdict, r.Reason = verdict.Error, "the disk is gone"
	case "panics":
		panic("a slip")
	case "says-nonsense":
		r.Verdict = "great"
	case "kills-its-worker":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "stays":
		<-ctx.Done()
	case "repeats":
		// Fails the first time, and again where its schedule says so.
		if s.Schedule != "" {
			text, err := os.ReadFile(s.Schedule)
			if err != nil || string(text) != fmt.Sprintf("seed: %d\n", s.Seed) {
				r.Verdict, r.Reason = verdict.Error, "the schedule is not the one of its run"
				return r
			}
		}
		fail(t.Clauses[0], "lost 1 of 50")
	}
	return r
}

func TestMain(m *testing.M) {
	if port := os.Getenv(notesVariable); port != "" {
		serveNotes(port)
	}
	harness().Main()
	// A worker built with the race detector would wait for a second before it leaves.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

// run runs specs on a target into a folder of the test.
func run(t *testing.T, change func(*suites.RunOptions), selected ...string) (reports.Report, string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	out := filepath.Join(t.TempDir(), "report")
	o := suites.RunOptions{
		Out: out, Seed: 7, Procs: 2, NoControl: true,
		Selection: reports.Selection{Select: selected, Level: "must"}, Targets: []string{"other"},
	}
	if change != nil {
		change(&o)
	}
	all, err := harness().Run(o)
	if err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(os.Getenv("TMPDIR"))
	if len(left) > 0 {
		t.Errorf("the run left %v behind", left)
	}
	return all[0], out
}

func verdicts(r reports.Report) map[string]verdict.Verdict {
	all := map[string]verdict.Verdict{}
	for _, s := range r.Specs {
		all[s.ID] = s.Verdict
	}
	return all
}

func TestEveryVerdictReachesTheReport(t *testing.T) {
	g := NewWithT(t)
	r, out := run(t, nil, "DU-01", "DU-02/fails", "DU-04", "DU-05", "DU-18", "WR-01")
	g.Expect(verdicts(r)).To(Equal(map[string]verdict.Verdict{
		"WR-01/passes":        verdict.NotApplicable,
		"DU-01/passes":        verdict.Pass,
		"DU-01/passes-too":    verdict.Pass,
		"DU-02/fails":         verdict.Fail,
		"DU-04/doubts":        verdict.Inconclusive,
		"DU-05/breaks":        verdict.Error,
		"DU-05/panics":        verdict.Error,
		"DU-05/says-nonsense": verdict.Error,
		"DU-18/not-for":       verdict.NotApplicable,
		"DU-18/missing":       verdict.Inconclusive,
	}))
	clause := map[string]reports.Clause{}
	for _, c := range r.Clauses {
		clause[c.ID] = c
	}
	g.Expect(clause["DU-05"].Verdict).To(Equal(verdict.Error))
	g.Expect(clause["DU-18"].Verdict).To(Equal(verdict.Inconclusive), "the worst of its specs")
	g.Expect(clause["DU-18"].Reason).To(Equal("it has no probe"))
	g.Expect(clause["DU-02"].Specs).To(Equal([]string{"DU-02/fails"}))
	g.Expect(clause["WR-01"].Reason).To(ContainSubstring("does not claim the profile work-records"))
	g.Expect(r.Gate.ExitCode).To(Equal(1))
	g.Expect(r.Counts.ProcessStarts).To(Equal(6))

	failed := r.Specs[3]
	g.Expect(failed.ID).To(Equal("DU-02/fails"))
	g.Expect(failed.Reason).To(Equal("lost 49 of 50"))
	g.Expect(failed.Findings[0].Source).To(Equal("contract"))
	g.Expect(failed.Repro).To(Equal("holdfast repro " + out + " DU-02/fails"))
	g.Expect(filepath.Join(out, failed.Artifacts, "schedule.yaml")).To(BeARegularFile())

	stopped := map[string]bool{}
	for _, s := range r.Specs {
		stopped[s.ID] = s.Stopped
	}
	g.Expect(stopped).To(And(HaveKeyWithValue("DU-04/doubts", true), HaveKeyWithValue("DU-02/fails", false), HaveKeyWithValue("DU-18/missing", false)))

	read, err := reports.Read(out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Gate).To(Equal(r.Gate))
	plan, err := reports.ReadPlan(out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plan.Specs).To(HaveLen(10))
	for _, name := range []string{"results.jsonl", "junit.xml", "summary.md", "report.html", "target.yaml", "workers.log"} {
		g.Expect(filepath.Join(out, name)).To(BeARegularFile())
	}
}

func TestALostWorkerLeavesItsSpecNotRun(t *testing.T) {
	g := NewWithT(t)
	r, _ := run(t, nil, "DU-01", "DU-20")
	g.Expect(verdicts(r)).To(Equal(map[string]verdict.Verdict{
		"DU-01/passes": verdict.Pass, "DU-01/passes-too": verdict.Pass, "DU-20/kills-its-worker": verdict.NotRun,
	}))
	g.Expect(r.Specs[2].Reason).To(ContainSubstring("its worker was lost while it ran"))
	g.Expect(r.Gate.ExitCode).To(Equal(3))
}

func TestTheRestRunsOnNewWorkersWhenAllAreLost(t *testing.T) {
	g := NewWithT(t)
	r, _ := run(t, func(o *suites.RunOptions) { o.Procs = 1 }, "DU-20", "DU-21/repeats")
	g.Expect(verdicts(r)).To(Equal(map[string]verdict.Verdict{
		"DU-20/kills-its-worker": verdict.NotRun, "DU-21/repeats": verdict.Fail,
	}))
}

// watch tells a test what a run does.
type watch struct{ started func(key string) }

func (watch) Begin(int, int)          {}
func (w watch) Started(key string)    { w.started(key) }
func (watch) Finished(s reports.Spec) {}
func (watch) Say(string)              {}
func (watch) End()                    {}

func TestAnInterruptedRunWritesItsReport(t *testing.T) {
	g := NewWithT(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, out := run(t, func(o *suites.RunOptions) {
		o.Procs = 1
		o.Stop.Interrupted = ctx
		o.Watch = watch{func(key string) {
			if key == "DU-21/stays" {
				interrupt()
			}
		}}
	}, "DU-01/passes", "DU-21")
	g.Expect(verdicts(r)).To(Equal(map[string]verdict.Verdict{
		"DU-01/passes": verdict.Pass, "DU-21/stays": verdict.NotRun, "DU-21/repeats": verdict.NotRun,
	}))
	g.Expect(r.Specs[1].Reason).To(Equal("the run was interrupted while this spec ran"))
	g.Expect(r.Specs[2].Reason).To(Equal("the run was interrupted before this spec began"))
	g.Expect(r.Gate.ExitCode).To(Equal(130))
	g.Expect(filepath.Join(out, "report.json")).To(BeARegularFile())
}

func TestMaxTimeEndsTheRunInOrder(t *testing.T) {
	g := NewWithT(t)
	r, _ := run(t, func(o *suites.RunOptions) { o.Stop.MaxTime = 1500 * time.Millisecond }, "DU-01/passes", "DU-21/stays")
	g.Expect(verdicts(r)).To(HaveKeyWithValue("DU-21/stays", verdict.NotRun))
	g.Expect(r.Specs[1].Reason).To(ContainSubstring("--max-time had passed"))
	g.Expect(r.Gate.ExitCode).To(Equal(3))
}

func TestTheControlRunTellsTheEnvironmentFromTheTarget(t *testing.T) {
	g := NewWithT(t)
	r, out := run(t, func(o *suites.RunOptions) { o.NoControl = false }, "DU-01/passes", "DU-02")
	g.Expect(verdicts(r)).To(Equal(map[string]verdict.Verdict{
		"DU-01/passes": verdict.Pass, "DU-02/fails": verdict.Fail, "DU-02/fails-everywhere": verdict.Error,
	}))
	g.Expect(r.Control.Target).To(Equal("reference"))
	g.Expect(r.Control.Changed).To(Equal([]string{"DU-02/fails-everywhere"}))
	g.Expect(r.Control.Specs).To(HaveLen(3))
	g.Expect(r.Specs[2].Reason).To(ContainSubstring("put down to the environment"))
	g.Expect(r.Gate.ExitCode).To(Equal(1), "DU-02/fails is the target's own")
	plan, err := reports.ReadPlan(out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plan.Specs[0].Seed).To(Equal(plan.Specs[3].Seed), "the control makes the same choices")
}

func TestTheReferenceNeedsNoControl(t *testing.T) {
	r, _ := run(t, func(o *suites.RunOptions) { o.NoControl, o.Targets = false, nil }, "DU-01", "DU-02/fails")
	NewWithT(t).Expect(r.Control).To(BeNil())
	NewWithT(t).Expect(r.Gate.ExitCode).To(Equal(0), "%v", r.Gate.Reasons)
}

func TestABaselineExcusesAndGoesStale(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "baseline.yaml")
	write := func(text string) { g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(Succeed()) }
	with := func(o *suites.RunOptions) { o.Baseline = path }

	write(`[{spec: DU-02/fails, expect: known-failing, reason: "we know"}]`)
	r, _ := run(t, with, "DU-01", "DU-02/fails")
	g.Expect(r.Gate.ExitCode).To(Equal(0), "%v", r.Gate.Reasons)
	g.Expect(r.Specs[2].Verdict).To(Equal(verdict.Fail))
	g.Expect(r.Specs[2].Expected).To(Equal("known-failing"))

	write(`[{clause: DU-01, expect: known-failing, reason: "we thought"}]`)
	r, _ = run(t, with, "DU-01")
	g.Expect(r.Gate.ExitCode).To(Equal(4))

	write(`[{clause: DU-98, expect: known-failing, reason: "we thought"}]`)
	r, _ = run(t, with, "DU-01")
	g.Expect(r.Gate.ExitCode).To(Equal(4))
	g.Expect(r.Gate.Reasons[0].Text).To(ContainSubstring("no spec or clause of that name"))
}

func TestSeveralTargetsHaveAReportEach(t *testing.T) {
	g := NewWithT(t)
	_, out := run(t, func(o *suites.RunOptions) { o.Targets = []string{"other", "reference"} }, "DU-01/passes")
	for _, name := range []string{"other", "reference"} {
		r, err := reports.Read(filepath.Join(out, name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Target.Name).To(Equal(name))
		g.Expect(r.Specs[0].Repro).To(Equal("holdfast repro " + filepath.Join(out, name) + " DU-01/passes"))
	}
}

func TestRequirementsHoldForWhatWasSelected(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "strict.yaml")
	text := strings.Replace(builtin["other"], "name: other", "name: strict", 1) + "requires: {profiles: [durability], clauses: [DU-01, DU-18, DU-03]}\n"
	g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(Succeed())
	with := func(o *suites.RunOptions) { o.Targets = []string{path} }

	r, _ := run(t, with, "DU-01")
	g.Expect(r.Gate.ExitCode).To(Equal(0), "%v", r.Gate.Reasons)
	g.Expect(r.Gate.Required).To(Equal([]string{"durability", "DU-01"}))

	r, _ = run(t, with, "DU-01", "DU-18/not-for")
	g.Expect(r.Gate.ExitCode).To(Equal(3))
	g.Expect(r.Gate.Reasons[0].Text).To(ContainSubstring("requires clause DU-18, which is not-applicable: it has one server"))

	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	r, _ = run(t, func(o *suites.RunOptions) { with(o); o.Stop.Interrupted = ctx })
	g.Expect(r.Gate.Required).To(Equal([]string{"durability", "DU-01", "DU-18", "DU-03"}))
	g.Expect(r.Gate.Reasons).To(ContainElement(HaveField("Text", ContainSubstring("requires clause DU-03, and no spec of this run speaks for it"))))
}

func TestAContainerIsNotRunAndNeverSkippedInSilence(t *testing.T) {
	r, _ := run(t, func(o *suites.RunOptions) { o.Targets = []string{"boxed"} }, "DU-01/passes")
	NewWithT(t).Expect(r.Specs[0].Verdict).To(Equal(verdict.NotRun))
	NewWithT(t).Expect(r.Specs[0].Reason).To(ContainSubstring("needs Docker"))
	NewWithT(t).Expect(r.Gate.ExitCode).To(Equal(3))
}
