package world

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// StartCrash is the start of a process that is to be killed at every crash point
// of what it does to a store before it turns to another one, or says anything to
// anybody.
type StartCrash struct {
	Process string
	// Store is the target file's name of the store.
	Store string
	// Look looks at what a run has left, with the process dead.
	Look func(run string)
	// Again goes on with the process started again on what a run has left, and
	// says whether it came to rest.
	Again func(run string) bool
}

// EachCrashPointOfStart starts the process once under the tracer, on the stores as
// they are now, and again for every crash point, killed there, each time on a fresh
// copy of them. Moments between which the store does not change are tried once.
func (w *World) EachCrashPointOfStart(c StartCrash) {
	if err := crashpoint.Available(); err != nil {
		panic(Stop{Verdict: verdict.NotRun, Reason: err.Error()})
	}
	base, err := w.snapshot()
	if err != nil {
		Broken("copying the stores: %v", err)
	}
	record := w.recordStart(c, base)
	w.Mark(RecordMark, plain(record))
	if w.config.Point != "" {
		w.Mark(OnePointMark, map[string]any{"point": w.config.Point})
	}
	w.killed = true
	runs := w.ofStart(c, record)
	for i, run := range runs {
		if w.config.Point != "" && w.config.Point != PointName(run) {
			continue
		}
		name := fmt.Sprintf("r%d", i+1)
		tried := w.strikeStart(name, c, base, record, run, run.ByNumber())
		if tried.Standing == crashpoint.Drifted {
			tried = w.strikeStart(name, c, base, record, run, run.ByAddress())
		}
		w.Mark(CrashMark, plain(tried))
		c.Look(name)
		if w.again(name, Crash{Process: c.Process, Led: Led{Again: c.Again}}) == toNoRest {
			// Each run behind it would wait as long, and tell nothing new.
			w.Mark(RestlessMark, map[string]any{"run": name, "not tried": len(runs) - i - 1})
			return
		}
	}
}

// recordStart starts the process unharmed and returns what it did until it was ready.
func (w *World) recordStart(c StartCrash, base string) crashpoint.Record {
	trace := w.traceStart(base, nil)
	p := w.process(c.Process)
	if err := w.startAs(p, manner{wrapped: trace.Argv}); err != nil {
		_ = trace.Close() // the first reason is the one to be told
		w.cannotStart(err)
	}
	record, err := trace.Disarm(w.ctx)
	if err != nil {
		Broken("recording the start of process %s: %v", c.Process, err)
	}
	w.StopProcess(c.Process)
	if err := trace.Close(); err != nil {
		Broken("%v", err)
	}
	return record
}

// ofStart lists the runs: up to the first change to another store, or the first
// word to anybody outside.
func (w *World) ofStart(c StartCrash, record crashpoint.Record) []crashpoint.Run {
	last := len(record.Points) + 1
	for _, p := range record.Points {
		if store := w.storeOf(p.Path); p.Kind == crashpoint.Ack || store != "" && store != c.Store {
			last = min(last, p.N)
		}
	}
	changes := slices.DeleteFunc(slices.Clone(record.Points), func(p crashpoint.Point) bool {
		return p.N >= last || p.Kind != crashpoint.State || w.storeOf(p.Path) != c.Store
	})
	var runs []crashpoint.Run
	for _, m := range crashpoint.Reduce(crashpoint.Record{Points: changes}) {
		runs = append(runs, crashpoint.Run{Moment: m})
	}
	if len(runs) == 0 {
		Inconclusive("process %s did not change the store %q at its start, so that it cannot be killed meanwhile", c.Process, c.Store)
	}
	return runs
}

// strikeStart starts the process with a trigger set, and says how that ended.
func (w *World) strikeStart(name string, c StartCrash, base string, record crashpoint.Record, run crashpoint.Run, trigger *crashpoint.Trigger) Tried {
	if w.config.Seams.Trigger != nil {
		trigger = w.config.Seams.Trigger(trigger)
	}
	trace := w.traceStart(base, trigger)
	p := w.process(c.Process)
	ready := w.startAs(p, manner{wrapped: trace.Argv})
	tried := Tried{Run: name, At: run, Outcome: history.Unknown, Stores: w.made(record, run.Moment)}
	if ready == nil {
		tried.Outcome, tried.Acknowledged = history.Done, true
	}
	struck, err := w.struck(trace, nil)
	switch {
	case err == nil:
		tried.Standing, tried.Why = crashpoint.Verify(record, run.Moment, trace.Record(), &struck.Point)
	case errors.Is(err, crashpoint.ErrMissed):
		tried.Standing, tried.Why = crashpoint.Verify(record, run.Moment, trace.Record(), nil)
	default:
		Broken("striking at point %s of the start of process %s: %v", PointName(run), c.Process, errors.Join(err, ready))
	}
	if p.running != nil {
		if err := gone(p.running.Kill(w.ctx)); err != nil {
			Broken("ending the traced process %s: %v", c.Process, err)
		}
		p.running = nil
	}
	if err := trace.Close(); err != nil {
		Broken("%v", err)
	}
	return tried
}

// traceStart makes ready for a process that is counted from its first call on.
func (w *World) traceStart(base string, trigger *crashpoint.Trigger) *crashpoint.Trace {
	if err := w.restore(base); err != nil {
		Broken("restoring the stores: %v", err)
	}
	trace, err := crashpoint.Prepare(filepath.Dir(base), crashpoint.Plan{
		Naming:  crashpoint.Naming{Roots: []string{w.dir}, Exclude: []string{"tmp/*", "runtime/*", "*-shm"}},
		NoRings: true, Armed: true, Trigger: trigger,
	})
	if err != nil {
		Broken("preparing the tracer: %v", err)
	}
	return trace
}
