package world

import (
	"context"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// AppWire is the wire between the helper and the app.
const AppWire = "app"

// StillOnceAsked makes a call about which the helper asks the app. Once the app
// has answered the helper it stands still until the call has come back, so that
// only the helper can act on what was answered; meanwhile is done in between.
// Where the helper asks nothing the app goes on, and the fault is not proven.
func (c *Caller) StillOnceAsked(act Act, meanwhile func()) history.Operation {
	w := c.w
	line, there := w.wires[AppWire]
	if !there {
		Inconclusive("the target file has no wire %q from the helper to the app, so it cannot be seen when the app was asked", AppWire)
	}
	app := w.process("app")
	if app.running == nil {
		Broken("process %s is to stand still and does not run", app.name)
	}
	answered := wire.Match{Answer: true}
	before := line.Passed(answered)
	fault := w.ledger.Arm("app-still", "app · its answer to the helper · "+c.tool(act).Name)
	flight := c.Go(act, w.config.Limits.Answer)
	// A helper that believes its own anchor asks nobody; it is not waited for long.
	if !w.asked(flight, w.config.Limits.Withheld, func() bool { return line.Passed(answered) > before }) {
		w.Mark("app not asked", map[string]any{"call": flight.op.Invoked.ID})
		meanwhile()
		return flight.Wait()
	}
	fault.Reach(history.Matched, map[string]any{"answers": line.Passed(answered) - before})
	fault.Reach(history.Held, map[string]any{"answer": "it came through, and the app is stopped behind it"})
	evidence, err := process.Pause(w.ctx, app.running, w.config.Limits)
	if err != nil {
		Inconclusive("%v", err)
	}
	still := w.trouble(func() {
		if err := process.Resume(w.ctx, app.running, w.config.Limits); err != nil {
			Broken("%v", err)
		}
		fault.Reach(history.Healed, nil)
	}, func() { _ = app.running.Resume(context.WithoutCancel(w.ctx)) })
	fault.Prove(faults.Stopped, "the kernel's word on the process", evidence)
	fault.Reach(history.Fired, nil)
	meanwhile()
	op := flight.Wait()
	fault.Reach(history.Observed, map[string]any{"outcome": string(op.Outcome())})
	still.Release()
	return op
}

// asked waits for a fact until a call has come back or its time is over.
func (w *World) asked(f *Flight, limit time.Duration, fact func() bool) bool {
	seen := false
	_ = wait.For(w.ctx, "the app to be asked", limit, func(context.Context) (bool, error) {
		seen = fact()
		select {
		case <-f.Done():
			return true, nil
		default:
			return seen, nil
		}
	})
	return seen
}
