package world

import (
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// HeldMark says at which place of a write a server was to be held, whether it was,
// and whether the write of a second server was answered before it went on.
const HeldMark = "held-in-a-write"

// HoldInWrites holds one server after another in the middle of a write, at so many
// places of it at most, and gives a second server on the same store a write of its own
// meanwhile. That one may have to wait for the first, so the first goes on after a
// while. The two writes at a place are of the round that is numbered as it.
func (w *World) HoldInWrites(places int, write func() Act) {
	if err := crashpoint.Available(); err != nil {
		panic(Stop{Verdict: verdict.NotRun, Reason: err.Error()})
	}
	folder, err := w.config.Run.Scratch(folderName(w.config.Name) + "-trace")
	if err != nil {
		Broken("making the tracer's folder: %v", err)
	}
	record := w.recordWrite(write(), folder)
	moments := slices.DeleteFunc(crashpoint.Moments(record), func(m crashpoint.Moment) bool {
		return m.Side != crashpoint.Before || m.Point.Kind != crashpoint.State
	})
	if len(moments) == 0 {
		seesNothing()
	}
	for i, at := range spread(moments, places) {
		w.holdInWrite(folder, i+1, at, write)
	}
}

// recordWrite makes one write under the tracer, unharmed; folder takes what that needs.
func (w *World) recordWrite(write Act, folder string) crashpoint.Record {
	c := Crash{Act: write}
	traced := w.underTrace(c, folder)
	defer traced.close(w)
	w.arm(traced.trace, nil)
	if outcome, reason := traced.lead(c, "record"); outcome != history.Done {
		Inconclusive("the write within which servers are to be struck ended %s under the tracer%s", outcome, reason)
	}
	w.Quiet()
	record, err := traced.trace.Disarm(w.ctx)
	if err != nil {
		Broken("recording the write: %v", err)
	}
	traced.end(w)
	w.Mark(RecordMark, plain(record))
	if len(crashpoint.Moments(record)) == 0 {
		seesNothing()
	}
	return record
}

func seesNothing() {
	Inconclusive("a write changed nothing below {{dir}} that the tracer sees, so that no server can be struck within it; keep the store below {{dir}}")
}

// holdInWrite holds a server at one place of a write.
func (w *World) holdInWrite(folder string, place int, at crashpoint.Moment, write func() Act) {
	act := func() Act { return write().With("round", fmt.Sprint(place)) }
	first := w.underTrace(Crash{}, folder)
	defer first.close(w)
	second := w.NewCallerBeside()
	trigger := crashpoint.Run{Moment: at}.ByNumber()
	trigger.Do = crashpoint.Hold
	w.arm(first.trace, trigger)
	one := first.caller.Go(act(), w.config.Limits.Answer)
	held := w.heldIn(first.trace, one)
	other := second.Go(act(), w.config.Limits.Answer)
	answered := held && w.Given(other)
	if err := first.trace.Release(w.ctx); err != nil {
		Broken("letting a server go on that was held in a write: %v", err)
	}
	if _, err := first.trace.Disarm(w.ctx); err != nil {
		Broken("ending the tracer's counting: %v", err)
	}
	w.Mark(HeldMark, map[string]any{
		"place": place, "n": at.Point.N, "call": at.Point.Call, "path": at.Point.Path, "held": held, "answered": answered,
		"first": string(one.Wait().Outcome()), "second": string(other.Wait().Outcome()),
	})
	second.end()
	first.end(w)
}

// heldIn waits until a server is held within a call, and says whether it was before
// the call came to its end.
func (w *World) heldIn(trace *crashpoint.Trace, call *Flight) bool {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	go func() {
		select {
		case <-call.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	m, err := trace.Held(ctx)
	return err == nil && m.Point.Kind == crashpoint.State
}
