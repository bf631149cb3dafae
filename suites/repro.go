package suites

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/progress"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// ReproOptions are what is asked of a repro.
type ReproOptions struct {
	// Report is a report folder.
	Report string
	// IDs are the specs to run again; none takes every one that failed.
	IDs []string
	// Times is how often each is run.
	Times int
	// Point is the one crash point to be tried ("17:after"), "" for all of them.
	Point string
	// AllowOutside are paths outside of the run's folder that the target may use. A
	// report may come from elsewhere, so what its own run allowed does not count.
	AllowOutside []string
	// Out is the report folder of the repro, "" for REPORT/repro.
	Out   string
	Procs int
	Keep  bool
	Stop  Stop
	Watch progress.Watch
}

// Reproduced is what became of one spec of a repro.
type Reproduced struct {
	ID string `json:"id"`
	// Failed of Times runs failed again; Others says what the rest did.
	Failed int            `json:"failed"`
	Times  int            `json:"times"`
	Others string         `json:"others,omitempty"`
	Specs  []reports.Spec `json:"specs"`
}

// ReproSchema names the form of repro.json.
const ReproSchema = "holdfast.repro/1"

// ReproReport is repro.json. ExitCode is 0 when nothing failed again,
// 1 when something did, 3 when a run of it ended in an error or had no result,
// 5 when a run was inconclusive, in the order of the gate's codes.
type ReproReport struct {
	Schema   string       `json:"schema"`
	Report   string       `json:"report"`
	Results  []Reproduced `json:"results"`
	ExitCode int          `json:"exit_code"`
	Folder   string       `json:"folder"`
}

// Repro runs specs of a report again, from the schedule that each of them
// recorded, on the target as it was written then.
func (h Harness) Repro(o ReproOptions) (ReproReport, error) {
	if o.Watch == nil {
		o.Watch = progress.Silent{}
	}
	if o.Times < 1 {
		return ReproReport{}, Usage("--times is %d; expected a number from 1", o.Times)
	}
	if err := scaled(); err != nil {
		return ReproReport{}, err
	}
	reading, err := reports.Share(o.Report)
	if err != nil {
		return ReproReport{}, asUsage(err)
	}
	planned, err := h.planAgain(o)
	if err != nil {
		return ReproReport{}, errors.Join(err, reading.Close())
	}
	report, err := planned.run(o)
	return report, errors.Join(err, reading.Close())
}

// reproRun is a repro from plan to report.
type reproRun struct {
	ids    []string
	plan   reports.Plan
	target Loaded
	folder string
}

// planAgain reads the report and plans the repro of it; nothing is started.
func (h Harness) planAgain(o ReproOptions) (reproRun, error) {
	report, err := reports.Read(o.Report)
	if err != nil {
		return reproRun{}, asUsage(err)
	}
	plan, err := reports.ReadPlan(o.Report)
	if err != nil {
		return reproRun{}, asUsage(err)
	}
	var a reproRun
	if a.ids, err = reproIDs(report, o.IDs); err != nil {
		return reproRun{}, err
	}
	if err := checkPoint(report, a.ids, o.Point); err != nil {
		return reproRun{}, err
	}
	if a.target, err = reproTarget(o, report); err != nil {
		return reproRun{}, err
	}
	specs, err := h.planRepro(o, plan, a.target, a.ids)
	if err != nil {
		return reproRun{}, err
	}
	a.plan = reports.Plan{
		Schema: reports.PlanSchema, Created: time.Now(), Seed: plan.Seed, Contract: plan.Contract, Selection: plan.Selection, Specs: specs,
	}
	if a.folder, err = filepath.Abs(orDefault(o.Out, filepath.Join(o.Report, reports.ReproDir))); err != nil {
		return reproRun{}, fmt.Errorf("finding the folder of the repro: %w", err)
	}
	if same(a.folder, o.Report) {
		return reproRun{}, Usage("--out %q is the report itself, which a repro leaves as it is; name another folder", o.Out)
	}
	return a, nil
}

// same says whether two paths lead to one folder.
func same(one, other string) bool {
	a, err := os.Stat(one)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}

func (a reproRun) run(o ReproOptions) (ReproReport, error) {
	held, err := takeFor(a.folder, a.plan)
	if err != nil {
		return ReproReport{}, err
	}
	scratch, err := openScratch(o.Keep, o.Watch)
	if err != nil {
		return ReproReport{}, errors.Join(err, held.Close())
	}
	done, err := a.perform(o, scratch)
	return done, errors.Join(err, scratch.Close(), held.Close())
}

func orDefault(value, other string) string {
	if value == "" {
		return other
	}
	return value
}

// reproIDs are the specs that are meant.
func reproIDs(r reports.Report, asked []string) ([]string, error) {
	var all, failed []string
	for _, s := range r.Specs {
		if s.Verdict == verdict.NotApplicable || s.Artifacts == "" {
			continue
		}
		all = append(all, s.ID)
		if s.Verdict == verdict.Fail {
			failed = append(failed, s.ID)
		}
	}
	if len(asked) == 0 {
		if len(failed) == 0 {
			return nil, Usage("nothing failed in this report; name the specs that you want to see again, such as %s", strings.Join(all[:min(len(all), 1)], ""))
		}
		return failed, nil
	}
	var ids []string
	for _, pattern := range asked {
		match, before := glob(pattern), len(ids)
		for _, id := range all {
			// A clause means all of its specs.
			if (match.MatchString(id) || match.MatchString(baseOf(id))) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		known := slices.ContainsFunc(ids, func(id string) bool { return match.MatchString(id) || match.MatchString(baseOf(id)) })
		if len(ids) == before && !known {
			return nil, Usage("%q matches no spec that ran in this report%s; the folders below its artifacts/ name those that did", pattern, nearText(pattern, all))
		}
	}
	return ids, nil
}

// checkPoint says why a crash point cannot be tried once more.
func checkPoint(r reports.Report, ids []string, point string) error {
	if point == "" {
		return nil
	}
	var tried []string
	for _, s := range r.Specs {
		if s.CrashPoints == nil || !slices.Contains(ids, s.ID) {
			continue
		}
		for _, p := range s.CrashPoints.Tried {
			if p.Name == point {
				return nil
			}
			tried = append(tried, p.Name)
		}
	}
	if len(tried) == 0 {
		return Usage("--point is %q, and no spec that is to be run again was struck at crash points; name one such as DU-03/every-crash-point-of-a-write", point)
	}
	return Usage("--point is %q, and no run of these specs was at that point%s; there are %s", point, nearText(point, tried), strings.Join(tried, ", "))
}

// reproTarget reads the target file that the report was made with.
func reproTarget(o ReproOptions, r reports.Report) (Loaded, error) {
	text, err := os.ReadFile(filepath.Join(o.Report, reports.TargetFile))
	if err != nil {
		return Loaded{}, Usage("the report has no copy of its target file (%w); run `holdfast run` again", err)
	}
	l, err := Loaded{Path: r.Target.File, Name: r.Target.Name, Text: text}.reload()
	if err != nil {
		return Loaded{}, Usage("the report's copy of its target file is broken: %w", err)
	}
	if err := fit(l.File, o.AllowOutside); err != nil {
		return Loaded{}, Usage("the target %s cannot be run: %w", l.Name, err)
	}
	return l, nil
}

// planRepro plans every spec as often as asked, each with its schedule.
func (h Harness) planRepro(o ReproOptions, plan reports.Plan, l Loaded, ids []string) ([]reports.PlannedSpec, error) {
	var specs []reports.PlannedSpec
	for _, id := range ids {
		if _, ok := h.test(id); !ok {
			return nil, Usage("the report's spec %s is not in this version of holdfast; use the version that wrote the report", id)
		}
		i := slices.IndexFunc(plan.Specs, func(p reports.PlannedSpec) bool { return p.Key == id })
		if i < 0 {
			return nil, Usage("the spec %s is in the report and not in its plan.json; the folder was edited, run `holdfast run` again", id)
		}
		p := plan.Specs[i]
		schedule, err := filepath.Abs(filepath.Join(o.Report, reports.ArtifactsDir, filepath.FromSlash(p.Key), "schedule.yaml"))
		if err != nil {
			return nil, fmt.Errorf("finding the schedule of %s: %w", id, err)
		}
		if _, err := os.Stat(schedule); errors.Is(err, fs.ErrNotExist) {
			return nil, Usage("the spec %s left no schedule (%s), so there is nothing to repeat; run it again with `holdfast run --select %s`", id, schedule, id)
		}
		for n := range o.Times {
			again := p
			again.Key, again.Role, again.Target, again.Schedule = fmt.Sprintf("%s/%d", id, n+1), reports.RoleRepro, l.Name, schedule
			again.Settled, again.Reason, again.Point = "", "", o.Point
			specs = append(specs, again)
		}
	}
	return specs, nil
}

func (a reproRun) perform(o ReproOptions, scratch *launch.Run) (ReproReport, error) {
	ctx, cancel := o.Stop.context()
	defer cancel()
	report := ReproReport{Schema: ReproSchema, Report: o.Report, Folder: a.folder}
	e := execution{
		id: scratch.ID(), folder: a.folder, scratch: scratch.Folder(), environ: scratch.Environ(), keep: o.Keep, procs: o.Procs,
		specs: a.plan.Specs, targets: map[string]Loaded{a.target.Name: a.target}, watch: o.Watch,
	}
	results, err := e.run(ctx, o.Stop.Kill)
	if err != nil {
		return report, err
	}
	var codes []int
	for _, id := range a.ids {
		r, code := reproduced(id, results)
		report.Results = append(report.Results, r)
		codes = append(codes, code)
	}
	report.ExitCode = gate.Worst(codes...)
	if errors.Is(context.Cause(ctx), errInterrupted) {
		report.ExitCode = gate.Interrupted
	}
	return report, reports.Write(a.folder, reports.ReproFile, report)
}

// reproduced counts the runs of one spec.
func reproduced(id string, results []reports.Spec) (Reproduced, int) {
	r := Reproduced{ID: id, Specs: []reports.Spec{}}
	var others []reports.Spec
	code := gate.Passed
	for _, s := range results {
		if s.ID != id {
			continue
		}
		r.Specs = append(r.Specs, s)
		r.Times++
		switch s.Verdict {
		case verdict.Fail:
			r.Failed++
			code = gate.Worst(code, gate.Violation)
			continue
		case verdict.Error, verdict.NotRun:
			code = gate.Worst(code, gate.Incomplete)
		case verdict.Inconclusive:
			code = gate.Worst(code, gate.Inconclusive)
		}
		others = append(others, s)
	}
	var parts []string
	for _, v := range verdict.All() {
		if of := withVerdict(others, v); len(of) > 0 {
			part := fmt.Sprintf("%d %s", len(of), v)
			if of[0].Reason != "" {
				part += " (" + of[0].Reason + ")"
			}
			parts = append(parts, part)
		}
	}
	r.Others = strings.Join(parts, ", ")
	return r, code
}
