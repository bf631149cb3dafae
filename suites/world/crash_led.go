package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Led is how a process that is no helper is led through its writes. While these
// are counted it is looked at through its files alone, because a request to it
// would make it answer, which adds to what is counted.
type Led struct {
	// Ready brings the world to where the process has nothing left to do by
	// itself, and starts the helper that is to call. Nothing is counted yet.
	Ready func()
	// Act is a call, or what a person does, and says how that ended.
	Act func(run string) history.Outcome
	// Over says that the process has done everything that Act led it to.
	Over func() bool
	// Again goes on with the process started again on what a run has left, and
	// says whether it came to rest. Where a helper was struck it starts one itself.
	Again func(run string) bool
}

// Made is how many of the recorded changes to a store had been made.
type Made struct {
	Made int `json:"made"`
	Of   int `json:"of"`
}

// made counts the recorded changes to each store of the target up to a moment.
func (w *World) made(record crashpoint.Record, at crashpoint.Moment) map[string]Made {
	if w.Target.Profiles.WorkRecords == nil {
		return nil
	}
	all := map[string]Made{}
	for _, m := range crashpoint.Moments(record) {
		store := w.storeOf(m.Point.Path)
		if m.Side != crashpoint.After || m.Point.Kind != crashpoint.State || store == "" {
			continue
		}
		n := all[store]
		n.Of++
		if m.Point.N < at.Point.N || m.Point.N == at.Point.N && at.Side == crashpoint.After {
			n.Made++
		}
		all[store] = n
	}
	return all
}

// storeOf is the target file's name of the store that a file belongs to, "" for none.
func (w *World) storeOf(rel string) string {
	for name, globs := range w.Target.Profiles.WorkRecords.Stores {
		for _, glob := range globs {
			if target.MatchGlob(glob, rel) {
				return name
			}
		}
	}
	return ""
}

// Acts does what a person would do, by an action of the target file, and says how
// it ended: where its process is killed meanwhile nobody is told.
func (w *World) Acts(name string, params map[string]string) history.Outcome {
	outcome, data := history.Done, map[string]any{"action": name}
	if err := w.act(w.ctx, name, params); err != nil {
		outcome, data["error"] = history.Unknown, err.Error()
	}
	for key, value := range params {
		data[key] = value
	}
	data["outcome"] = string(outcome)
	w.Mark("person", data)
	return outcome
}

// Answers says whether a look through a probe works now, whatever it shows.
func (w *World) Answers(name string, params map[string]string) bool {
	_, err := w.rows(name, params)
	return err == nil
}

// startAs starts an instance of a process in a manner of its own.
func (w *World) startAs(p *member, as manner) error {
	p.instance++
	running, err := w.spawn(p.name, p.spec, p.instance, nil, as)
	if err == nil {
		p.running = running
	}
	return err
}

// done waits until the recorded process has done what it was led to.
func (w *World) done(c Crash) {
	if c.Led.Over != nil && !w.Await("process "+c.Process+" to do what it was led to", c.Led.Over) {
		Inconclusive("process %s, whose crash points are to be found, did not come to the end of what it was led to within %v", c.Process, w.config.Limits.Converge)
	}
}

// struck waits until the trigger has done its work. Once the process has done all
// that it was led to, or where a call has ended, nothing but a late write can
// still lead there.
func (w *World) struck(trace *crashpoint.Trace, over func() bool) (m crashpoint.Moment, err error) {
	ctx, cancel := context.WithTimeout(w.ctx, w.config.Limits.Converge+w.config.Limits.Stop)
	defer cancel()
	came := make(chan struct{})
	go func() {
		defer close(came)
		m, err = trace.Struck(ctx)
	}()
	// That it does not come is told by the trace, which waits on.
	_ = wait.For(ctx, "the trigger, or the end of what leads there", w.config.Limits.Converge, func(context.Context) (bool, error) {
		select {
		case <-came:
			return true, nil
		default:
			return over == nil || over(), nil
		}
	})
	late := time.AfterFunc(w.config.Limits.Stop, cancel)
	defer late.Stop()
	<-came
	if ctx.Err() != nil && w.ctx.Err() == nil && errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%w in time: %w", crashpoint.ErrMissed, err)
	}
	return m, err
}

// again goes on with a new instance of the struck process, and ends it in order.
func (w *World) again(run string, c Crash) arrival {
	if c.Process != "" {
		if err := w.startAs(w.process(c.Process), manner{}); err != nil {
			if !ownFault(err) {
				w.cannotStart(err)
			}
			w.Mark(RestartMark, map[string]any{"run": run, "error": err.Error()})
			w.EndCallers()
			return nowhere
		}
	}
	came := toNoRest
	if c.Led.Again(run) {
		came = toRest
	}
	w.EndCallers()
	if c.Process != "" {
		w.StopProcess(c.Process)
	}
	return came
}
