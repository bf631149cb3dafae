package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Crash is what a process is to be struck in, at every crash point.
type Crash struct {
	// Act is the call that the helper is struck in, where Process names no other.
	Act Act
	// Process is the name of another process than the helper that is struck, and
	// Led is how it comes to write; "" is the helper.
	Process string
	Led     Led
	// Kept: whoever called the struck process stays until its run is over, so that it
	// can be asked about what it could not be told.
	Kept bool
	// Of is the process in the contract version that is struck, nil for the target
	// as it stands. Prepare gets no helper then, and starts what it needs; what goes
	// on behind a run, by Led.Again, is the target as it stands.
	Of *Version
	// Prepare brings the stores to where the call begins, with everything started
	// where another process than the helper is struck. It is done once; every run
	// begins with a copy of what it left.
	Prepare func(*Caller)
	// Variants are what happens at a point: "" is a kill, the others are errors
	// that the call returns instead (ENOSPC, EIO). None means the kill alone.
	Variants []string
	// Stays: once an error was returned every later call that can return it does
	// so as well, as on a disk that is full from then on.
	Stays bool
	// StoreOnly: only what happens to the store of operations counts, and only there
	// errors are returned, as on a disk of its own (profile WF).
	StoreOnly bool
	// Once: moments between which nothing changes are tried once, not on both sides
	// of every call.
	Once bool
	// Most bounds the runs. Where there are more, a sample of them is made and told
	// (SampleMark); 0 is no bound.
	Most int
	// Look looks at what a run has left, with the helper dead or ended, and with
	// the process that was struck dead.
	Look func(run string)
	// Restarted, when set, goes on with a new helper on what the run has left;
	// where another process than the helper was struck, Led.Again does.
	Restarted func(run string, c *Caller)
}

// The marks of crash points: the recorded call, that one point only is tried, that
// only a sample of the runs is made, a run at a point, a run whose process did not
// start again, files that stayed behind one although the process was started and
// ended in order since, a run after which nothing came to rest, so that those behind
// it were not made, and a run that drifted and so was made once more.
const (
	RecordMark   = "crash-record"
	OnePointMark = "one-crash-point"
	SampleMark   = "crash-points-sampled"
	CrashMark    = "crash-point"
	RestartMark  = "restart-failed"
	StrayMark    = "left-behind"
	RestlessMark = "came-to-no-rest"
	DriftMark    = "crash-point-drifted"
)

// Tried is what the mark of a run holds.
type Tried struct {
	Run          string              `json:"run"`
	At           crashpoint.Run      `json:"at"`
	Standing     crashpoint.Standing `json:"standing"`
	Why          string              `json:"why,omitempty"`
	Outcome      history.Outcome     `json:"outcome"`
	Acknowledged bool                `json:"acknowledged"`
	// Stores says, by the target file's name of a store, how many of the recorded
	// changes to it had been made by then.
	Stores map[string]Made `json:"stores,omitempty"`
}

// EachCrashPoint records the call once under the tracer, and makes it again for
// every crash point of it, struck there, each time on a fresh copy of the stores.
func (w *World) EachCrashPoint(c Crash) {
	if err := crashpoint.Available(); err != nil {
		panic(Stop{Verdict: verdict.NotRun, Reason: err.Error()})
	}
	var first *Caller
	if c.Of == nil {
		if c.Process != "" {
			w.Launch()
		}
		first = w.NewCaller()
	}
	c.Prepare(first)
	w.EndCallers()
	if c.Process != "" {
		w.StopProcess(c.Process)
	}
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
	runs := w.sampled(enumerate(record, c), c.Most)
	for i, run := range runs {
		if w.config.Point != "" && w.config.Point != PointName(run) {
			continue
		}
		name := fmt.Sprintf("r%d", i+1)
		came := w.crash(name, c, base, record, run)
		if came != nowhere {
			w.lookForStrays(name, usual)
		}
		if came == toNoRest {
			// Each run behind it would wait as long, and tell nothing new.
			w.Mark(RestlessMark, map[string]any{"run": name, "not tried": len(runs) - i - 1})
			return
		}
	}
}

// arrival is where what a run has left came to with a new process.
type arrival int

const (
	nowhere  arrival = iota // no new process was started, or it did not start
	toRest                  // it came to rest and was ended in order
	toNoRest                // it was ended in order and had not come to rest
)

// enumerate lists the runs: a kill on both sides of every point that changed
// something, and for each error the calls that can return it.
func enumerate(record crashpoint.Record, c Crash) []crashpoint.Run {
	var runs []crashpoint.Run
	for _, variant := range c.Variants {
		if variant != "" || c.Once {
			runs = append(runs, crashpoint.Enumerate(record, variant)...)
			continue
		}
		for _, m := range crashpoint.Moments(record) {
			runs = append(runs, crashpoint.Run{Moment: m})
		}
	}
	return runs
}

// sampled takes at most so many of the runs, 0 for all, and tells of those that it
// leaves out. One point that is asked for is among all of them.
func (w *World) sampled(runs []crashpoint.Run, most int) []crashpoint.Run {
	if most == 0 || len(runs) <= most || w.config.Point != "" {
		return runs
	}
	sample := crashpoint.Sample(runs, most)
	w.Mark(SampleMark, map[string]any{
		"runs": len(runs), "tried": len(sample), "kinds": crashpoint.Kinds(runs), "kinds tried": crashpoint.Kinds(sample),
	})
	return sample
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

// stateFiles are the files that are there, without those that never count as
// state. The IDs of operations, which are new in every run, do not tell them apart.
func (w *World) stateFiles() (map[string]bool, error) {
	there := map[string]bool{}
	err := w.eachFile(func(rel, _ string) error {
		if (target.State{}).Counts(rel) {
			there[operationID.ReplaceAllString(rel, "wf_*")] = true
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
	traced := w.onCopy(c, base)
	defer traced.close(w)
	if c.Process != "" {
		w.Quiet() // what it still does by itself after its start is not what it is led to
	}
	w.arm(traced.trace, nil)
	if outcome, reason := traced.lead(c, "record"); outcome != history.Done {
		Inconclusive("the call whose crash points are to be found ended %s under the tracer%s", outcome, reason)
	}
	w.done(c)
	w.Quiet() // what is written behind the answer belongs to the call too
	record, err := traced.trace.Disarm(w.ctx)
	if err != nil {
		Broken("recording the call: %v", err)
	}
	traced.end(w)
	usual, err := w.stateFiles()
	if err != nil {
		Broken("listing the files of the stores: %v", err)
	}
	return record, usual
}

// crash makes one run. Where the calls came in another order than recorded it is
// made once more, with the point addressed by its call, file and occurrence.
func (w *World) crash(name string, c Crash, base string, record crashpoint.Record, run crashpoint.Run) arrival {
	tried := w.strike(name, c, base, record, run, run.ByNumber())
	if tried.Standing == crashpoint.Drifted {
		w.Mark(DriftMark, plain(tried))
		if c.Kept {
			w.EndCallers()
		}
		tried = w.strike(name, c, base, record, run, run.ByAddress())
	}
	w.Mark(CrashMark, plain(tried))
	c.Look(name)
	if c.Process != "" || c.Led.Again != nil {
		return w.again(name, c)
	}
	if c.Restarted == nil {
		return nowhere
	}
	again, err := w.newCaller()
	if err != nil {
		if !ownFault(err) {
			w.cannotStart(err)
		}
		w.Mark(RestartMark, map[string]any{"run": name, "error": err.Error()})
		return nowhere
	}
	c.Restarted(name, again)
	again.end()
	return toRest
}

// strike makes the call with a trigger set, and says how it ended.
func (w *World) strike(name string, c Crash, base string, record crashpoint.Record, run crashpoint.Run, trigger *crashpoint.Trigger) Tried {
	traced := w.onCopy(c, base)
	defer traced.close(w)
	trigger.Stays = c.Stays && run.Error != ""
	w.arm(traced.trace, trigger)
	outcome, _ := traced.lead(c, name)
	tried := Tried{Run: name, At: run, Outcome: outcome, Acknowledged: outcome == history.Done, Stores: w.made(record, run.Moment)}
	struck, err := w.struck(traced.trace, c.Led.Over)
	switch {
	case err == nil:
		tried.Standing, tried.Why = crashpoint.Verify(record, run.Moment, traced.trace.Record(), &struck.Point)
	case errors.Is(err, crashpoint.ErrMissed):
		tried.Standing, tried.Why = crashpoint.Verify(record, run.Moment, traced.trace.Record(), nil)
	default:
		Broken("striking at point %s: %v", PointName(run), err)
	}
	if run.Error != "" {
		traced.end(w)
	}
	return tried
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
