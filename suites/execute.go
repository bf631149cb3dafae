package suites

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/progress"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"github.com/holdfast-mcp/holdfast/suites/parallel"
)

// Stop is how a run is ended before its time.
type Stop struct {
	// Interrupted ends when a person wants the run to end in order.
	Interrupted context.Context
	// Kill is closed when they want it to end at once; may be nil.
	Kill <-chan struct{}
	// MaxTime is how long the run may take; 0 has no limit.
	MaxTime time.Duration
}

var (
	errInterrupted = errors.New("the run was interrupted")
	errMaxTime     = errors.New("--max-time had passed")
)

// context is the run's: it ends with the reason as its cause.
func (s Stop) context() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	unhook := func() bool { return true }
	if s.Interrupted != nil {
		unhook = context.AfterFunc(s.Interrupted, func() { cancel(errInterrupted) })
		if s.Interrupted.Err() != nil {
			cancel(errInterrupted) // at once: AfterFunc calls from a goroutine of its own
		}
	}
	timed, untime := context.Context(ctx), context.CancelFunc(func() {})
	if s.MaxTime > 0 {
		timed, untime = context.WithTimeoutCause(ctx, s.MaxTime, errMaxTime)
	}
	return timed, func() { untime(); unhook(); cancel(nil) }
}

// scaled says why nothing is started: the factor of all time-outs is none.
func scaled() error {
	_, err := wait.Scale()
	return asUsage(err)
}

// execution is one parallel run of a plan.
type execution struct {
	id      string // of the run; the lines of its workers carry it
	folder  string // report folder
	scratch string
	environ []string // for the workers
	keep    bool
	procs   int // 0 takes twice the cores
	specs   []reports.PlannedSpec
	targets map[string]Loaded
	watch   progress.Watch

	started map[string]bool
	results map[string]reports.Spec
	broken  []string
}

// procsFor is the number of workers: what was asked for, else twice the cores,
// and never more than there are specs.
func procsFor(asked, specs int) int {
	if asked <= 0 {
		asked = 2 * runtime.NumCPU()
	}
	return max(1, min(asked, specs))
}

// procsForMutants is that of a self-test. What is broken is mostly waited for, as
// it does not come, so that more workers are kept busy.
func procsForMutants(asked int) int {
	if asked <= 0 {
		asked = 4 * runtime.NumCPU()
	}
	return asked
}

// run runs what the plan leaves open, and gives every planned spec a result.
func (e *execution) run(ctx context.Context, kill <-chan struct{}) ([]reports.Spec, error) {
	e.started, e.results = map[string]bool{}, map[string]reports.Spec{}
	var open []reports.PlannedSpec
	for _, p := range e.specs {
		if p.Runs() {
			open = append(open, p)
		}
	}
	e.watch.Begin(len(open), procsFor(e.procs, len(open)))
	err := e.rounds(ctx, kill, open)
	e.watch.End()
	if err != nil {
		return nil, err
	}
	var all []reports.Spec
	for _, p := range e.specs {
		s, ok := e.results[p.Key]
		switch {
		case ok:
		case !p.Runs():
			s = p.Result(p.Settled, p.Reason)
		default:
			s = p.Result(verdict.NotRun, e.missing(ctx, p))
		}
		all = append(all, s)
	}
	return all, nil
}

// rounds runs the open specs. Where every worker of a round was lost, specs that
// none of them began are given to new ones; what was begun is never run again.
func (e *execution) rounds(ctx context.Context, kill <-chan struct{}, open []reports.PlannedSpec) error {
	known := map[string]bool{}
	for _, p := range open {
		known[p.Key] = true
	}
	f := &following{
		begun: reports.Lines[reports.Started]{Path: filepath.Join(e.folder, reports.StartedFile)},
		ended: reports.Lines[reports.Finished]{Path: filepath.Join(e.folder, reports.ResultsFile)},
		known: known,
	}
	for len(open) > 0 && ctx.Err() == nil {
		if err := e.workers(ctx, kill, open, f); err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(open), func(p reports.PlannedSpec) bool { return e.started[p.Key] })
		if len(left) == len(open) {
			return nil // the workers cannot even begin
		}
		open = left
	}
	return nil
}

// following is how far the files of the workers were read.
type following struct {
	begun reports.Lines[reports.Started]
	ended reports.Lines[reports.Finished]
	known map[string]bool
}

// missing says why a planned spec has no result.
func (e *execution) missing(ctx context.Context, p reports.PlannedSpec) string {
	cause := context.Cause(ctx)
	switch {
	case cause != nil && e.started[p.Key]:
		return fmt.Sprintf("%v while this spec ran", cause)
	case cause != nil:
		return fmt.Sprintf("%v before this spec began", cause)
	case e.started[p.Key]:
		return "its worker was lost while it ran; " + reports.WorkersLog + " in the report folder has what it printed"
	}
	return "no worker was left to run it; " + reports.WorkersLog + " in the report folder has what they printed"
}

// workers runs the open specs once and follows what comes of them.
func (e *execution) workers(ctx context.Context, kill <-chan struct{}, open []reports.PlannedSpec, f *following) error {
	path, err := e.writeJob(open)
	if err != nil {
		return err
	}
	look := func() {
		e.noteStarted(&f.begun, f.known)
		e.noteResults(&f.ended, f.known)
	}
	l := wait.Default()
	err = parallel.Run(ctx, kill, parallel.Options{
		Job: path, Folder: e.scratch, Log: filepath.Join(e.folder, reports.WorkersLog), Procs: procsFor(e.procs, len(open)),
		Env: e.environ, Grace: l.Stop + 2*l.Reap, Nudge: look,
	})
	look()
	return err
}

func (e *execution) writeJob(open []reports.PlannedSpec) (string, error) {
	text, err := json.Marshal(job{Run: e.id, Folder: e.folder, Scratch: e.scratch, Keep: e.keep, Targets: e.targets, Specs: open})
	if err != nil {
		return "", fmt.Errorf("writing the workers' job: %w", err)
	}
	path := filepath.Join(e.scratch, "job.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("writing the workers' job: %w", err)
	}
	return path, nil
}

func (e *execution) noteStarted(lines *reports.Lines[reports.Started], known map[string]bool) {
	found, err := lines.Next()
	e.breakage(err)
	for _, s := range found {
		if e.own(s.Run, reports.StartedFile) && known[s.Key] && !e.started[s.Key] {
			e.started[s.Key] = true
			e.watch.Started(s.Key)
		}
	}
}

func (e *execution) noteResults(lines *reports.Lines[reports.Finished], known map[string]bool) {
	found, err := lines.Next()
	e.breakage(err)
	for _, s := range found {
		_, twice := e.results[s.Key]
		switch {
		case !e.own(s.Run, reports.ResultsFile):
		case !known[s.Key]:
			e.breakage(fmt.Errorf("a worker reported the spec %q, which was not planned", s.Key))
		case twice:
			e.breakage(fmt.Errorf("a worker reported the spec %s a second time", s.Key))
		default:
			e.results[s.Key] = s.Spec
			e.watch.Finished(s.Spec)
		}
	}
}

// own refuses a line of another run: its worker was on another target, or on an
// earlier state of this one, and may have written over artefacts as well.
func (e *execution) own(run, file string) bool {
	if run != e.id {
		e.breakage(fmt.Errorf("%s has a line of another run (%q, and this one is %q), which was refused; end what still writes to %q and run it again", file, run, e.id, e.folder))
	}
	return run == e.id
}

// breakage keeps what is wrong with the harness itself; the gate tells it.
func (e *execution) breakage(err error) {
	if err != nil {
		e.broken = append(e.broken, err.Error())
	}
}
