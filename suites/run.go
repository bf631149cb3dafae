package suites

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/baseline"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/progress"
	"github.com/holdfast-mcp/holdfast/reports/render"
)

// ControlTarget is the built-in target of the control run, and BrowserTarget the same
// with what a person does on its pages: the control of specs that open a browser.
const (
	ControlTarget = "reference"
	BrowserTarget = "reference-browser"
)

// controlFor is the control of the chosen tests on a target.
func (h Harness) controlFor(chosen []Test, f *target.File) string {
	opens := slices.ContainsFunc(chosen, func(t Test) bool {
		v, _ := settled(t, f)
		return v == "" && needsBrowser(t, f)
	})
	if _, there := h.Builtin(BrowserTarget); there && opens {
		return BrowserTarget
	}
	return ControlTarget
}

// RunOptions are what a gate run is asked for.
type RunOptions struct {
	// Targets are paths of target files or names of built-ins; none is the reference.
	Targets   []string
	Selection reports.Selection
	// Out is the report folder. With several targets each has its own below it,
	// named after the target.
	Out   string
	Procs int // 0 is twice the cores, capped at the number of specs
	Seed  int64
	// Baseline is the path of a list of known failures, "" for none.
	Baseline          string
	NoControl         bool
	AllowInconclusive int
	// AllowOutside are paths and addresses outside the run that the target may use.
	AllowOutside []string
	Keep         bool
	Stop         Stop
	Watch        progress.Watch
}

// gateRun is one target's way from plan to report.
type gateRun struct {
	target   Loaded
	folder   string
	hold     *reports.Hold
	plan     reports.Plan
	targets  map[string]Loaded
	control  string // name of the control target, "" without one
	baseline *baseline.List
}

// Run is the gate: it plans, runs and reports every target, one after the other,
// each with all workers. It returns a report for each, in order; the error is a
// UsageError when something is wrong with what was asked, and then nothing ran.
func (h Harness) Run(o RunOptions) ([]reports.Report, error) {
	if o.Watch == nil {
		o.Watch = progress.Silent{}
	}
	if err := scaled(); err != nil {
		return nil, err
	}
	runs, err := h.prepare(o)
	if err != nil {
		return nil, err
	}
	release, err := hold(runs)
	if err != nil {
		return nil, err
	}
	scratch, err := openScratch(o.Keep, o.Watch)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	all, err := h.runAll(o, runs, scratch)
	return all, errors.Join(err, scratch.Close(), release())
}

// hold takes every report folder for the whole run, before anything is removed
// from any.
func hold(runs []*gateRun) (release func() error, err error) {
	release = func() error {
		var errs []error
		for _, r := range runs {
			if r.hold != nil {
				errs = append(errs, r.hold.Close())
			}
		}
		return errors.Join(errs...)
	}
	for _, r := range runs {
		if r.hold, err = reports.Take(r.folder); err != nil {
			return nil, errors.Join(asUsage(err), release())
		}
	}
	return release, nil
}

// begin replaces the earlier reports by plans and tries every target out, so that
// an earlier report is never taken for that of a run which then did not begin.
func (h Harness) begin(ctx context.Context, runs []*gateRun, scratch *launch.Run) error {
	for _, r := range runs {
		if err := r.hold.Clear(); err != nil {
			return asUsage(err)
		}
		if err := reports.Write(r.folder, reports.PlanFile, r.plan); err != nil {
			return err
		}
	}
	for _, r := range runs {
		if err := h.preflight(ctx, r, scratch.Folder()); err != nil {
			for _, r := range runs {
				err = errors.Join(err, r.hold.Withdraw())
			}
			return err
		}
	}
	return nil
}

func (h Harness) runAll(o RunOptions, runs []*gateRun, scratch *launch.Run) ([]reports.Report, error) {
	ctx, cancel := o.Stop.context()
	defer cancel()
	if err := h.begin(ctx, runs, scratch); err != nil {
		return nil, err
	}
	var all []reports.Report
	for _, r := range runs {
		report, err := h.runTarget(ctx, o, r, scratch)
		if err != nil {
			return all, fmt.Errorf("running %s: %w", r.target.Name, err)
		}
		all = append(all, report)
	}
	return all, nil
}

// openScratch ends what a killed run left, and makes the folder of this one.
func openScratch(keep bool, watch progress.Watch) (*launch.Run, error) {
	swept, err := launch.Sweep("")
	for _, folder := range swept {
		watch.Say("ended what an earlier, killed run had left in " + folder)
	}
	if err != nil {
		watch.Say(err.Error())
	}
	run, err := launch.NewRun("")
	if err != nil {
		return nil, err
	}
	if keep {
		run.Keep()
		watch.Say("the private stores of this run stay in " + run.Folder())
	}
	return run, nil
}

// prepare reads and plans everything, so that what the caller did wrong is said
// before anything is started or replaced.
func (h Harness) prepare(o RunOptions) ([]*gateRun, error) {
	chosen, err := h.choose(o.Selection)
	if err != nil {
		return nil, err
	}
	var known *baseline.List
	if o.Baseline != "" {
		list, err := baseline.Read(o.Baseline)
		if err != nil {
			return nil, asUsage(err)
		}
		known = &list
	}
	names := o.Targets
	if len(names) == 0 {
		names = []string{ControlTarget}
	}
	var runs []*gateRun
	seen := map[string]string{}
	for _, name := range names {
		r, err := h.prepareTarget(o, name, chosen)
		if err != nil {
			return nil, err
		}
		if other, twice := seen[r.target.Name]; twice {
			return nil, Usage("the targets %s and %s are both called %q, so their reports would overwrite each other; run them one by one with an --out each", other, name, r.target.Name)
		}
		seen[r.target.Name] = name
		r.baseline = known
		r.folder = o.Out
		if len(names) > 1 {
			r.folder = filepath.Join(o.Out, r.target.Name)
		}
		if r.folder, err = filepath.Abs(r.folder); err != nil {
			return nil, fmt.Errorf("finding the report folder: %w", err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func (h Harness) prepareTarget(o RunOptions, name string, chosen []Test) (*gateRun, error) {
	l, err := h.Load(name)
	if err != nil {
		return nil, err
	}
	if err := fit(l.File, o.AllowOutside); err != nil {
		return nil, Usage("the target %s cannot be run: %w", name, err)
	}
	r := &gateRun{target: l, targets: map[string]Loaded{l.Name: l}}
	var control *target.File
	if !o.NoControl && !isReference(l.File) {
		c, err := h.Load(h.controlFor(chosen, l.File))
		if err != nil {
			return nil, fmt.Errorf("loading the control target: %w", err)
		}
		if l.Name == c.Name {
			return nil, Usage("the target file %s calls its target %q like the built-in that it is compared with; give it a name of its own", name, l.Name)
		}
		r.targets[c.Name], r.control, control = c, c.Name, c.File
	}
	r.plan = reports.Plan{
		Schema: reports.PlanSchema, Created: time.Now(), Seed: o.Seed, Selection: o.Selection,
		Contract: reports.Contract{Version: h.Catalogue.Version, Digest: h.Catalogue.Digest},
		Specs:    planTarget(chosen, l.File, control, o.Seed),
	}
	return r, nil
}

// fit says why a target may not be started at all.
func fit(f *target.File, allowOutside []string) error {
	if err := f.CheckIsolation(allowOutside); err != nil {
		return err
	}
	_, _, err := f.ResolveSecrets()
	return err
}

// preflight starts a target once that does not come with the binary, before anything is
// run on it, so that a command or a tool that is not there, and a target file that reads
// the target wrongly, are said once, and as what they are.
func (h Harness) preflight(ctx context.Context, r *gateRun, scratch string) error {
	runs := slices.ContainsFunc(r.plan.Specs, reports.PlannedSpec.Runs)
	ours := isReference(r.target.File) && r.target.Path == ""
	if h.Preflight == nil || ours || !runs || ctx.Err() != nil {
		return nil
	}
	if err := h.Preflight(ctx, h.trialOf(r.target, scratch)); err != nil && ctx.Err() == nil {
		return Usage("the target %s cannot be run: %w\n`holdfast doctor %s` shows the steps", r.target.Name, err, orName(r.target))
	}
	return nil
}

func orName(l Loaded) string {
	if l.Path != "" {
		return l.Path
	}
	return l.Name
}

// runTarget runs one plan and writes its report.
func (h Harness) runTarget(ctx context.Context, o RunOptions, r *gateRun, scratch *launch.Run) (reports.Report, error) {
	report := reports.Report{
		Schema: reports.ReportSchema, Tool: reports.Tool{Name: "holdfast", Version: h.Version},
		Contract: r.plan.Contract, Seed: o.Seed, Selection: o.Selection, Started: time.Now(),
		Target: identify(ctx, r.target, scratch),
	}
	report.Target.Profiles = h.claimedProfiles(r.target.File)
	if err := reports.WriteText(r.folder, reports.TargetFile, r.target.Text); err != nil {
		return report, err
	}
	open := 0
	for _, p := range r.plan.Specs {
		if p.Runs() {
			open++
		}
	}
	report.Environment = environment(procsFor(o.Procs, open))
	e := execution{
		id: scratch.ID(), folder: r.folder, scratch: scratch.Folder(), environ: scratch.Environ(), keep: o.Keep, procs: o.Procs,
		specs: r.plan.Specs, targets: r.targets, watch: o.Watch,
	}
	results, err := e.run(ctx, o.Stop.Kill)
	if err != nil {
		return report, err
	}
	h.fill(&report, r, results, o.Out)
	report.Ended = time.Now()
	asked := required(r.target.File.Requires, o.Selection, r.plan.Specs)
	asked.AllowInconclusive = o.AllowInconclusive
	asked.WithoutSpec = h.withoutSpec(r.target.File, o.Selection)
	asked.Interrupted = errors.Is(context.Cause(ctx), errInterrupted)
	asked.Broken = e.broken
	report.Gate = gate.Decide(&report, asked)
	return report, writeReport(r.folder, report)
}

// required is what the target file requires of this run. A selection that the
// caller made on purpose narrows it: what it leaves out is not required of it.
func required(r target.Requires, s reports.Selection, plan []reports.PlannedSpec) gate.Asked {
	if len(s.Profiles)+len(s.Select)+len(s.Skip) == 0 {
		return gate.Asked{RequireProfiles: r.Profiles, RequireClauses: r.Clauses}
	}
	var asked gate.Asked
	for _, profile := range r.Profiles {
		if slices.ContainsFunc(plan, func(p reports.PlannedSpec) bool { return p.Profile == profile }) {
			asked.RequireProfiles = append(asked.RequireProfiles, profile)
		}
	}
	for _, clause := range r.Clauses {
		if slices.ContainsFunc(plan, func(p reports.PlannedSpec) bool { return slices.Contains(p.Clauses, clause) }) {
			asked.RequireClauses = append(asked.RequireClauses, clause)
		}
	}
	return asked
}

// fill sorts results into the report and lays control and baseline over them.
func (h Harness) fill(report *reports.Report, r *gateRun, results []reports.Spec, out string) {
	report.Specs = []reports.Spec{}
	if r.control != "" {
		report.Control = &reports.Control{Target: r.control, Specs: []reports.Spec{}}
	}
	for i, p := range r.plan.Specs {
		if p.Role == reports.RoleControl {
			report.Control.Specs = append(report.Control.Specs, results[i])
			continue
		}
		s := results[i]
		if s.Repro == "" && p.Runs() {
			s.Repro = reproCommand(r.folder, out, s.ID)
		}
		report.Specs = append(report.Specs, s)
	}
	if report.Control != nil {
		weigh(report.Specs, report.Control)
	}
	h.withSource(report.Specs, r.target.File.Revision)
	if r.baseline != nil {
		report.Baseline = r.baseline.Apply(report.Specs, report.Started, h.names)
	}
	report.Clauses = h.clauseRows(report.Specs, r.target.File.Revision)
	count(report)
}

// names says whether there is a spec or a clause of that name.
func (h Harness) names(id string) bool {
	if _, ok := h.test(id); ok {
		return true
	}
	_, ok := h.clause(id)
	return ok
}

// reproCommand is what a person types to see a spec again. The folder is shown
// as they wrote it, as far as that is still the folder.
func reproCommand(folder, out, id string) string {
	if abs, err := filepath.Abs(out); err == nil && out != "" {
		if rel, err := filepath.Rel(abs, folder); err == nil {
			folder = filepath.Join(out, rel)
		}
	}
	return strings.Join([]string{"holdfast", "repro", shellWord(folder), id}, " ")
}

// shellWord quotes a word for a POSIX shell where it needs that.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+%", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// writeReport writes report.json and what is rendered of it by default.
func writeReport(folder string, r reports.Report) error {
	if err := reports.Write(folder, reports.ReportFile, r); err != nil {
		return err
	}
	junit, err := render.JUnit(r)
	if err != nil {
		return err
	}
	page, err := render.HTML(r)
	if err != nil {
		return err
	}
	return errors.Join(
		reports.WriteText(folder, reports.JUnitFile, junit),
		reports.WriteText(folder, reports.HTMLFile, page),
		reports.WriteText(folder, reports.SummaryFile, render.Markdown(r)),
	)
}
