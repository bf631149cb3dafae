package suites

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"github.com/holdfast-mcp/holdfast/suites/parallel"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// job is what the parent tells its workers, in a file of the run's folder.
type job struct {
	Run     string                `json:"run"`    // names the run
	Folder  string                `json:"folder"` // the report folder
	Scratch string                `json:"scratch"`
	Keep    bool                  `json:"keep"`
	Targets map[string]Loaded     `json:"targets"` // by PlannedSpec.Target
	Specs   []reports.PlannedSpec `json:"specs"`   // only those that run
}

// work makes the specs of a job, in a worker.
func (h Harness) work(path string) ([]parallel.Spec, func(), error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the job: %w", err)
	}
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, nil, fmt.Errorf("reading the job %s: %w", path, err)
	}
	for name, l := range j.Targets {
		if j.Targets[name], err = l.reload(); err != nil {
			return nil, nil, fmt.Errorf("reading the target %s again: %w", name, err)
		}
	}
	lender := browser.NewLender(j.Scratch, wait.Default())
	var specs []parallel.Spec
	for _, p := range j.Specs {
		t, ok := h.test(p.ID)
		if !ok {
			return nil, nil, fmt.Errorf("the plan names the spec %s, which this binary does not have", p.ID)
		}
		specs = append(specs, parallel.Spec{Text: p.Key, Labels: p.Clauses, Run: func(ctx context.Context, tell func()) error {
			return h.runOne(ctx, tell, j, p, t, lender)
		}})
	}
	return specs, func() { closeBrowser(lender) }, nil
}

// closeBrowser ends the browser of a worker. What does not end goes with the run.
func closeBrowser(lender *browser.Lender) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*wait.Default().Reap)
	defer cancel()
	if err := lender.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "holdfast worker:", err)
	}
}

// runOne runs one planned spec and appends its result.
func (h Harness) runOne(ctx context.Context, tell func(), j job, p reports.PlannedSpec, t Test, lender *browser.Lender) error {
	if err := reports.Append(filepath.Join(j.Folder, reports.StartedFile), reports.Started{Run: j.Run, Key: p.Key, PID: os.Getpid(), At: time.Now()}); err != nil {
		return err
	}
	tell()
	artifacts := filepath.Join(reports.ArtifactsDir, filepath.FromSlash(p.Key))
	setup := Setup{
		Target: j.Targets[p.Target].File, Version: h.Version, Seed: p.Seed, Folder: filepath.Join(j.Folder, artifacts), Scratch: j.Scratch,
		Mutant: p.Mutant, Saboteur: p.Saboteur, Schedule: p.Schedule, Point: p.Point, Numbers: p.Numbers, Keep: j.Keep, Browser: lender,
	}
	report := func(s reports.Spec) error {
		s.Artifacts = filepath.ToSlash(artifacts)
		s = normal(s, p)
		if err := reports.Append(filepath.Join(j.Folder, reports.ResultsFile), reports.Finished{Run: j.Run, Spec: s}); err != nil {
			return err
		}
		tell()
		if s.Verdict != verdict.Pass {
			return fmt.Errorf("%s: %s", s.Verdict, s.Reason)
		}
		return nil
	}
	if err := os.MkdirAll(setup.Folder, 0o755); err != nil {
		return report(p.Result(verdict.Error, fmt.Sprintf("making the spec's folder: %v", err)))
	}
	done := make(chan reports.Spec, 1)
	go func() { done <- h.guarded(ctx, t, setup, p) }()
	// A spec that does not come back by its own limit holds processes and ports
	// that nobody else can let go: its worker goes with it.
	l := wait.Default()
	overdue := time.NewTimer(l.Spec + 4*l.Reap)
	defer overdue.Stop()
	select {
	case s := <-done:
		if ctx.Err() != nil {
			// What a stopped spec says is shaped by the stop, so it has no result.
			return fmt.Errorf("the run was stopped while this spec ran")
		}
		return report(s)
	case <-overdue.C:
		_ = report(p.Result(verdict.Error, fmt.Sprintf("the spec did not come back within %v, so its worker was ended", l.Spec+4*l.Reap)))
		os.Exit(1)
		return nil
	}
}

// guarded performs a test; a panic of the performance is an error of the harness.
func (h Harness) guarded(ctx context.Context, t Test, s Setup, p reports.PlannedSpec) (result reports.Spec) {
	defer func() {
		if raised := recover(); raised != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n%s\n", p.Key, raised, debug.Stack())
			result = p.Result(verdict.Error, fmt.Sprintf("the harness broke: %v (the workers' log has the stack)", raised))
		}
	}()
	ended := true
	if drive := t.Drive; drive != nil {
		ended = false
		t.Drive = func(w *world.World) {
			drive(w)
			ended = true
		}
	}
	result = h.Perform(ctx, t, s)
	result.Stopped = !ended
	return result
}

// normal fills in what the plan knows better than the performance.
func normal(s reports.Spec, p reports.PlannedSpec) reports.Spec {
	s.Key, s.ID, s.Clauses, s.Title, s.Target = p.Key, p.ID, p.Clauses, p.Title, p.Target
	s.Attempts = max(s.Attempts, 1)
	if s.Findings == nil {
		s.Findings = []reports.Finding{}
	}
	if s.Faults == nil {
		s.Faults = []reports.Fault{}
	}
	if !verdict.Valid(s.Verdict) {
		s.Verdict, s.Reason = verdict.Error, fmt.Sprintf("the spec ended with %q, which is no verdict", s.Verdict)
	}
	if s.Verdict != verdict.Pass && s.Reason == "" && len(s.Findings) > 0 {
		s.Reason = s.Findings[0].Summary
	}
	return s
}
