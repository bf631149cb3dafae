package world

import (
	"bytes"
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// AppWire is the wire between the helper and the app.
const AppWire = "app"

// StillOnceAsked makes a call for which the helper asks the app about an item.
// Once the app has answered that, it stands still until the call has come back,
// so that only the helper can act on what was answered; meanwhile is done in
// between, and behind once the call has come back and the app still stands. Where
// the helper asks nothing the app goes on, and the fault is not proven. A helper
// that asks more than the app can answer then cannot be judged.
func (c *Caller) StillOnceAsked(act Act, item string, meanwhile func(), behind func(history.Operation)) history.Operation {
	w := c.w
	line, there := w.wires[AppWire]
	if !there {
		Inconclusive("the target file has no wire %q from the helper to the app, so it cannot be seen when the app was asked", AppWire)
	}
	app := w.process("app")
	if app.running == nil {
		Broken("process %s is to stand still and does not run", app.name)
	}
	answered := wire.Match{Answer: true, Where: func(m wire.Message) bool { return names(*m.Request, item) }}
	before := line.Passed(answered)
	// A question of before that the app was too slow to answer is none of this call's.
	unanswered := func() int { return line.Count(wire.Match{}) - line.Passed(wire.Match{Answer: true}) }
	left := unanswered()
	fault := w.ledger.Arm("app-still", "app · its answer to the helper · "+c.tool(act).Name)
	flight := c.Go(act, w.config.Limits.Answer)
	// A helper that believes its own anchor asks nobody; it is not waited for long.
	if !w.asked(flight, w.config.Limits.Withheld, func() bool { return line.Passed(answered) > before }) {
		w.Mark("app not asked", map[string]any{"call": flight.op.Invoked.ID})
		meanwhile()
		op := flight.Wait()
		behind(op)
		return op
	}
	fault.Reach(history.Matched, map[string]any{"answers": line.Passed(answered) - before})
	evidence, err := process.Pause(w.ctx, app.running, w.config.Limits)
	if err != nil {
		Inconclusive("%v", err)
	}
	fault.Reach(history.Held, evidence)
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
	if n := unanswered() - left; n > 0 {
		Inconclusive("the helper asked the app again while it stood still, and was not answered %d times", n)
	}
	behind(op)
	fault.Reach(history.Observed, map[string]any{"outcome": string(op.Outcome())})
	still.Release()
	return op
}

// names says that a request is about an item.
func names(request wire.Message, item string) bool {
	return strings.Contains(request.Path, item) || strings.Contains(request.Path, url.PathEscape(item)) || bytes.Contains(request.Body, []byte(item))
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
