package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Crash is one call that the helper is to be struck in, at every crash point.
type Crash struct {
	Act Act
	// Prepare brings the stores to where the call begins. It is done once; every
	// run begins with a copy of what it left.
	Prepare func(*Caller)
	// Variants are what happens at a point: "" is a kill, the others are errors
	// that the call returns instead (ENOSPC, EIO). None means the kill alone.
	Variants []string
	// Stays: once an error was returned every later call that can return it does
	// so as well, as on a disk that is full from then on.
	Stays bool
	// Look looks at what a run has left, with the helper dead or ended.
	Look func(run string)
	// Restarted, when set, goes on with a new helper on what the run has left.
	Restarted func(run string, c *Caller)
}

// The marks of crash points: the recorded call, that one point only is tried, a
// run at a point, a run whose helper did not start again, and files that stayed
// behind one although a helper was started and ended in order since.
const (
	RecordMark   = "crash-record"
	OnePointMark = "one-crash-point"
	CrashMark    = "crash-point"
	RestartMark  = "restart-failed"
	StrayMark    = "left-behind"
)

// Tried is what the mark of a run holds.
type Tried struct {
	Run          string              `json:"run"`
	At           crashpoint.Run      `json:"at"`
	Standing     crashpoint.Standing `json:"standing"`
	Why          string              `json:"why,omitempty"`
	Outcome      history.Outcome     `json:"outcome"`
	Acknowledged bool                `json:"acknowledged"`
}

// EachCrashPoint records the call once under the tracer, and makes it again for
// every crash point of it, struck there, each time on a fresh copy of the stores.
func (w *World) EachCrashPoint(c Crash) {
	if err := crashpoint.Available(); err != nil {
		panic(Stop{Verdict: verdict.NotRun, Reason: err.Error()})
	}
	first := w.NewCaller()
	c.Prepare(first)
	first.end()
	base, err := w.snapshot()
	if err != nil {
		Broken("copying the stores: %v", err)
	}
	record, usual := w.recordCall(c, base)
	w.Mark(RecordMark, plain(record))
	if w.config.Point != "" {
		w.Mark(OnePointMark, map[string]any{"point": w.config.Point})
	}
	if len(c.Variants) == 0 {
		c.Variants = []string{""}
	}
	for i, run := range enumerate(record, c.Variants) {
		if w.config.Point != "" && w.config.Point != PointName(run) {
			continue
		}
		name := fmt.Sprintf("r%d", i+1)
		if w.crash(name, c, base, record, run) {
			w.lookForStrays(name, usual)
		}
	}
}

// enumerate lists the runs: a kill on both sides of every point that changed
// something, and for each error the calls that can return it.
func enumerate(record crashpoint.Record, variants []string) []crashpoint.Run {
	var runs []crashpoint.Run
	for _, variant := range variants {
		if variant != "" {
			runs = append(runs, crashpoint.Enumerate(record, variant)...)
			continue
		}
		for _, m := range crashpoint.Moments(record) {
			runs = append(runs, crashpoint.Run{Moment: m})
		}
	}
	return runs
}

// lookForStrays records which files of the state are there that are not there
// when nobody kills the helper.
func (w *World) lookForStrays(run string, usual map[string]bool) {
	there, err := w.stateFiles()
	if err != nil {
		Broken("listing the files that a run has left: %v", err)
	}
	var strays []any
	for _, file := range slices.Sorted(maps.Keys(there)) {
		if !usual[file] {
			strays = append(strays, file)
		}
	}
	if len(strays) > 0 {
		w.Mark(StrayMark, map[string]any{"run": run, "files": strays})
	}
}

// stateFiles are the files that are there, without those that never count as state.
func (w *World) stateFiles() (map[string]bool, error) {
	there := map[string]bool{}
	err := w.eachFile(func(rel, _ string) error {
		if (target.State{}).Counts(rel) {
			there[rel] = true
		}
		return nil
	})
	return there, err
}

// PointName names a run for a person who wants it once more: "17:after", or
// "17:ENOSPC" for an error.
func PointName(run crashpoint.Run) string {
	if run.Error != "" {
		return fmt.Sprintf("%d:%s", run.Point.N, run.Error)
	}
	return fmt.Sprintf("%d:%s", run.Point.N, run.Side)
}

// recordCall makes the call once, unharmed, and returns its points, and the files
// that are there afterwards.
func (w *World) recordCall(c Crash, base string) (crashpoint.Record, map[string]bool) {
	traced := w.onCopy(base)
	defer traced.close(w)
	w.arm(traced.trace, nil)
	if op := traced.caller.Do(c.Act.With("run", "record")); op.Outcome() != history.Done {
		Inconclusive("the call whose crash points are to be found ended %s under the tracer: %s", op.Outcome(), reasonOf(op))
	}
	w.Quiet() // what is written behind the answer belongs to the call too
	record, err := traced.trace.Disarm(w.ctx)
	if err != nil {
		Broken("recording the call: %v", err)
	}
	traced.caller.end()
	usual, err := w.stateFiles()
	if err != nil {
		Broken("listing the files of the stores: %v", err)
	}
	return record, usual
}

// crash makes one run. Where the calls came in another order than recorded it is
// made once more, with the point addressed by its call, file and occurrence.
func (w *World) crash(name string, c Crash, base string, record crashpoint.Record, run crashpoint.Run) bool {
	tried := w.strike(name, c, base, record, run, run.ByNumber())
	if tried.Standing == crashpoint.Drifted {
		tried = w.strike(name, c, base, record, run, run.ByAddress())
	}
	w.Mark(CrashMark, plain(tried))
	c.Look(name)
	if c.Restarted == nil {
		return false
	}
	again, err := w.newCaller()
	if err != nil {
		if !ownFault(err) {
			w.cannotStart(err)
		}
		w.Mark(RestartMark, map[string]any{"run": name, "error": err.Error()})
		return false
	}
	c.Restarted(name, again)
	again.end()
	return true
}

// strike makes the call with a trigger set, and says how it ended.
func (w *World) strike(name string, c Crash, base string, record crashpoint.Record, run crashpoint.Run, trigger *crashpoint.Trigger) Tried {
	traced := w.onCopy(base)
	defer traced.close(w)
	trigger.Stays = c.Stays && run.Error != ""
	w.arm(traced.trace, trigger)
	op := traced.caller.Do(c.Act.With("run", name))
	tried := Tried{Run: name, At: run, Outcome: op.Outcome(), Acknowledged: op.Outcome() == history.Done}
	struck, err := w.struck(traced.trace)
	switch {
	case err == nil:
		tried.Standing, tried.Why = crashpoint.Verify(record, run.Moment, traced.trace.Record(), &struck.Point)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, crashpoint.ErrMissed):
		tried.Standing, tried.Why = crashpoint.Verify(record, run.Moment, traced.trace.Record(), nil)
	default:
		Broken("striking at point %s: %v", PointName(run), err)
	}
	if run.Error != "" {
		traced.caller.end()
	}
	return tried
}

// struck waits until the trigger has done its work; the call has ended, so that
// nothing but a late write of the helper can still lead there.
func (w *World) struck(trace *crashpoint.Trace) (crashpoint.Moment, error) {
	ctx, cancel := context.WithTimeout(w.ctx, w.config.Limits.Stop)
	defer cancel()
	return trace.Struck(ctx)
}

func (w *World) arm(trace *crashpoint.Trace, trigger *crashpoint.Trigger) {
	ctx, cancel := context.WithTimeout(w.ctx, w.config.Limits.Ready)
	defer cancel()
	if w.config.Seams.Trigger != nil {
		trigger = w.config.Seams.Trigger(trigger)
	}
	if err := trace.Arm(ctx, trigger); err != nil {
		Broken("arming the tracer: %v", err)
	}
}

// traced is a helper under the tracer.
type traced struct {
	caller *Caller
	trace  *crashpoint.Trace
}

// onCopy starts a traced helper on a fresh copy of the stores.
func (w *World) onCopy(base string) traced {
	if err := w.restore(base); err != nil {
		Broken("restoring the stores: %v", err)
	}
	trace, err := crashpoint.Prepare(filepath.Dir(base), crashpoint.Plan{
		Naming:  crashpoint.Naming{Roots: []string{w.dir}, Exclude: []string{"tmp/*", "runtime/*", "*-shm"}},
		NoRings: true,
	})
	if err != nil {
		Broken("preparing the tracer: %v", err)
	}
	caller, err := w.newCallerOf(trace.Argv)
	if err != nil {
		_ = trace.Close() // the first reason is the one to be told
		w.cannotStart(err)
	}
	trace.Watch(caller.process.Done())
	return traced{caller, trace}
}

func (t traced) close(w *World) {
	w.forget(t.caller)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), w.config.Limits.Reap)
	defer cancel()
	if err := errors.Join(t.caller.discard(ctx), t.trace.Close()); err != nil {
		Broken("ending the traced helper: %v", err)
	}
}

// snapshot copies the world's folder beside itself.
func (w *World) snapshot() (string, error) {
	folder, err := w.config.Run.Scratch(folderName(w.config.Name) + "-base")
	if err != nil {
		return "", err
	}
	base := filepath.Join(folder, "stores")
	return base, os.CopyFS(base, os.DirFS(w.dir))
}

// restore makes the world's folder what it was at the snapshot.
func (w *World) restore(base string) error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(w.dir, entry.Name())); err != nil {
			return err
		}
	}
	return os.CopyFS(w.dir, os.DirFS(base))
}

// plain makes a value what a mark can hold.
func plain(v any) map[string]any {
	raw, err := json.Marshal(v)
	var data map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &data)
	}
	if err != nil {
		Broken("recording a crash point: %v", err)
	}
	return data
}
