package suites

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/schedule"
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/saboteurs"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// Perform runs one spec for real: it starts the target, drives it, ends it, and
// lets the judges rule over what was recorded. It is a Performer.
func Perform(ctx context.Context, t Test, s Setup) reports.Spec {
	began := time.Now()
	result := reports.Spec{
		ID: t.ID, Clauses: t.Clauses, Title: t.Title, Target: s.Target.Name, Attempts: 1,
		Findings: []reports.Finding{}, Faults: []reports.Fault{},
	}
	if s.Numbers == (reports.Numbers{}) {
		s.Numbers = numbersOf(t, s.Target)
	}
	result.Numbers = s.Numbers
	p, err := prepare(t, s)
	if err != nil {
		result.Verdict, result.Reason = verdict.Error, err.Error()
		return result
	}
	ctx, cancel := context.WithTimeout(ctx, p.limits.Spec)
	defer cancel()
	stop := p.play(ctx, t)
	if stop != nil {
		// What a spec stops with may quote a command or an answer of the target.
		stop.Reason = string(p.config.Redact([]byte(stop.Reason)))
	}
	if err := p.config.Run.Close(); err != nil && stop == nil {
		stop = &world.Stop{Verdict: verdict.Error, Reason: fmt.Sprintf("ending what the spec started: %v", err)}
	}
	h, err := p.recorder.History()
	if err = errors.Join(err, p.history.Close(), h.Check()); err != nil {
		stop = &world.Stop{Verdict: verdict.Error, Reason: err.Error()}
	}
	p.schedule.Note(h)
	result.Starts = p.starts
	result.Faults, result.Screenshots = judge.FaultsOf(h), screenshots(h)
	points := decide(&result, t, h, stop)
	if err := tabulate(&result, h, points, s.Folder); err != nil && result.Verdict == verdict.Pass {
		result.Verdict, result.Reason = verdict.Error, err.Error()
	}
	if err := excerpt(h, s.Folder); err != nil && result.Verdict == verdict.Pass {
		result.Verdict, result.Reason = verdict.Error, err.Error()
	}
	if err := p.schedule.Write(filepath.Join(s.Folder, "schedule.yaml")); err != nil && result.Verdict == verdict.Pass {
		result.Verdict, result.Reason = verdict.Error, err.Error()
	}
	if result.Verdict == verdict.Pass {
		// Nobody has to look at what a spec has left that held.
		if err := os.RemoveAll(filepath.Join(s.Folder, world.StateFolder)); err != nil {
			result.Verdict, result.Reason = verdict.Error, err.Error()
		}
	}
	result.DurationMS = time.Since(began).Milliseconds()
	return result
}

// screenshots are the pictures that a spec took, in order.
func screenshots(h history.History) (files []string) {
	for _, m := range h.Marks(world.ScreenshotMark) {
		if file, ok := m.Data["file"].(string); ok {
			files = append(files, file)
		}
	}
	return files
}

// performance is what one performance needs to be recorded and repeated.
type performance struct {
	history  *os.File
	recorder *history.Recorder
	schedule *schedule.Schedule
	limits   wait.Limits
	config   world.Config
	starts   int
}

func prepare(t Test, s Setup) (p *performance, err error) {
	p = &performance{limits: wait.Default()}
	if err := os.MkdirAll(s.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("making the spec's folder: %w", err)
	}
	p.config = world.Config{
		Target: s.Target.For(t.Profile), Profile: t.Profile, Limits: p.limits, Name: t.ID, Folder: s.Folder,
		Version: s.Version, Mutant: s.Mutant, Point: s.Point, Numbers: s.Numbers, Accounts: account.Generate(), Browser: s.Browser,
	}
	var secrets *target.Redactor
	if p.config.Secrets, secrets, err = s.Target.ResolveSecrets(); err != nil {
		return nil, err
	}
	p.config.Redact, p.config.Leaks = without(secrets, p.config.Accounts), world.NewLeaks(p.config.Accounts)
	if p.schedule, err = scheduleOf(t, s); err != nil {
		return nil, err
	}
	p.config.Schedule = p.schedule
	if p.config.Self, err = os.Executable(); err == nil {
		p.config.Self, err = filepath.EvalSymlinks(p.config.Self)
	}
	if err != nil {
		return nil, fmt.Errorf("finding this binary: %w", err)
	}
	if p.config.Seams, err = saboteurs.Seams(s.Saboteur); err != nil {
		return nil, err
	}
	if err := p.record(s.Folder); err != nil {
		return nil, err
	}
	if p.config.Run, err = launch.OpenRun(s.Scratch); err != nil {
		return nil, errors.Join(err, p.history.Close())
	}
	return p, nil
}

// record begins the history.
func (p *performance) record(folder string) (err error) {
	if p.history, err = os.Create(filepath.Join(folder, "history.jsonl")); err != nil {
		return fmt.Errorf("making the spec's history: %w", err)
	}
	options := []history.Option{history.WithRedaction(p.config.Leaks.OfHistory(p.config.Redact))}
	if clock := p.config.Seams.Clock; clock != nil {
		options = append(options, history.WithClock(clock))
	}
	p.recorder = history.NewRecorder(p.history, options...)
	p.config.Recorder = p.recorder
	return nil
}

// without takes the target's secrets, and the tokens and keys of the accounts,
// out of everything that is written.
func without(secrets *target.Redactor, accounts account.Accounts) func([]byte) []byte {
	var words []string
	for _, a := range accounts.Accounts {
		words = append(words, a.Token, base64.StdEncoding.EncodeToString(a.Key))
	}
	ours := target.NewRedactor(words...)
	return func(text []byte) []byte { return ours.Redact(secrets.Redact(text)) }
}

func scheduleOf(t Test, s Setup) (*schedule.Schedule, error) {
	if s.Schedule == "" {
		return schedule.New(t.ID, s.Target.Name, s.Seed), nil
	}
	replayed, err := schedule.Read(s.Schedule)
	if err != nil {
		return nil, err
	}
	if replayed.Spec != t.ID {
		return nil, fmt.Errorf("the schedule %s is of spec %s, not of %s", s.Schedule, replayed.Spec, t.ID)
	}
	return replayed, nil
}

// play drives the spec and ends its world whatever became of it. It returns why
// the spec stopped early, nil when it came to its end.
func (p *performance) play(ctx context.Context, t Test) (stop *world.Stop) {
	w, err := world.Open(ctx, p.config)
	if err != nil {
		return &world.Stop{Verdict: verdict.Error, Reason: err.Error()}
	}
	defer func() {
		p.starts = w.Starts()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*p.limits.Reap)
		defer cancel()
		err := w.Close(ending)
		if err != nil {
			err = fmt.Errorf("ending the world: %w", err)
		}
		if err = errors.Join(err, w.KeepState()); err != nil && stop == nil {
			stop = &world.Stop{Verdict: verdict.Error, Reason: err.Error()}
		}
	}()
	defer func() {
		switch raised := recover().(type) {
		case nil:
		case world.Stop:
			stop = &raised
		default:
			stop = &world.Stop{Verdict: verdict.Error, Reason: fmt.Sprintf("the spec broke: %v\n%s", raised, debug.Stack())}
		}
	}()
	t.Drive(w)
	if err := ctx.Err(); err != nil {
		return &world.Stop{Verdict: verdict.Error, Reason: fmt.Sprintf("the spec did not end within %v: %v", p.limits.Spec, err)}
	}
	return nil
}

// decide makes the verdict. A spec that stopped early is what it stopped as; of
// one that came to its end a contradiction between recorded facts weighs more
// than a doubt, and nothing passes that left one.
func decide(result *reports.Spec, t Test, h history.History, stop *world.Stop) []judge.Point {
	if stop != nil {
		result.Verdict, result.Reason = stop.Verdict, stop.Reason
		if stop.Verdict == verdict.Fail {
			result.Findings = append(result.Findings, reports.Finding{Clause: t.Clauses[0], Summary: stop.Reason})
		}
		return nil
	}
	ruling := judge.Ruled(judge.All(t.Judge, judge.Counted), h)
	result.Findings, result.Tried, result.Comparisons = append(result.Findings, ruling.Findings...), ruling.Tried, ruling.Comparisons
	switch {
	case len(ruling.Findings) > 0:
		result.Verdict, result.Reason = verdict.Fail, ruling.Findings[0].Summary
	case len(ruling.Doubts) > 0:
		result.Verdict, result.Reason = verdict.Inconclusive, ruling.Doubts[0]
	default:
		result.Verdict = verdict.Pass
	}
	if some := judge.Sampled(h); some != "" {
		result.Tried = append(result.Tried, some)
		if result.Verdict == verdict.Pass {
			result.Reason = some
		}
	}
	return ruling.Points
}
