package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// OutsideWire is the wire between the server and the outside service that its
// steps change (profile WF).
const OutsideWire = "outside"

// Binding is what a binding of the target file gives: who calls, and where.
func (w *World) Binding(name string) map[string]string {
	binding, there := w.Target.Profiles.Workflows.Bindings[name]
	if !there {
		Inconclusive("the target file has no binding %q in profiles.workflows.bindings", name)
	}
	return maps.Clone(binding)
}

// Step is one entry of a definition, as the target file writes a kind of step.
// Where the kind needs a confirmation the caller asks for it first.
func (c *Caller) Step(kind string, params map[string]string) json.RawMessage {
	c.Confirmation(kind, params)
	return c.w.entry(kind, c.w.stepOf(kind).Step, params)
}

// entry makes a definition's entry out of its template.
func (w *World) entry(kind string, template map[string]any, params map[string]string) json.RawMessage {
	filled, err := w.known(nil).With(params).ExpandAny(template)
	if err != nil {
		Broken("making a step of kind %s: %v", kind, err)
	}
	raw, err := json.Marshal(filled)
	if err != nil {
		Broken("making a step of kind %s: %v", kind, err)
	}
	return raw
}

// outside is the wire to the outside service, as faults see it.
func (w *World) outside() wire.Line {
	w.openWires()
	line, there := w.wires[OutsideWire]
	if !there {
		Inconclusive("the target file has no wire %q from the server to the outside service, so nothing can be placed on the way there", OutsideWire)
	}
	return w.config.Seams.line(line)
}

// carrying matches the outside request that carries a text.
func carrying(text string) wire.Match {
	return wire.Match{Where: func(m wire.Message) bool {
		if m.Request != nil {
			m = *m.Request
		}
		return bytes.Contains(m.Body, []byte(text))
	}}
}

// effect shows that the outside service has applied a text.
func (w *World) effect(text string) faults.Proof {
	return w.proof(Act{Proof: Proof{Probe: "effects", Shows: func(row map[string]any) bool { return row["text"] == text }}})
}

// KilledWhileHeld makes a call that leads to an outside request with a text; the
// server is killed while that request is held on the wire, which it never leaves.
func (c *Caller) KilledWhileHeld(act Act, text string) history.Operation {
	w, victim := c.w, c.answeredFirst()
	return c.outsideFault(faults.KillAtRequest{Line: w.outside(), Match: carrying(text), Victim: victim, Limits: w.config.Limits}.Arm(w.ledger), act, victim)
}

// KilledOnceApplied makes a call that leads to an outside request with a text;
// the server is killed while the answer to that request is held on the wire,
// behind the proven effect.
func (c *Caller) KilledOnceApplied(act Act, text string) history.Operation {
	w, victim := c.w, c.answeredFirst()
	return c.outsideFault(faults.KillAtAnswer{Line: w.outside(), Match: carrying(text), Victim: victim, Proof: w.effect(text), Limits: w.config.Limits}.Arm(w.ledger), act, victim)
}

// answeredFirst is a server that lives until the call which led to its death is
// answered, where that comes soon. A start is answered beside its first step (WF-01):
// whoever was killed before that, by chance, has told nobody the ID of what is to be
// looked at.
type answeredFirst struct {
	process.Victim
	w    *World
	call chan *Flight
}

func (c *Caller) answeredFirst() *answeredFirst {
	return &answeredFirst{Victim: c.w.victim(c.theProcess()), w: c.w, call: make(chan *Flight, 1)}
}

// Kill waits for the answer while what it is held by stands still, and then kills.
func (v *answeredFirst) Kill(ctx context.Context) error {
	select {
	case call := <-v.call:
		v.w.Given(call)
	case <-ctx.Done():
	}
	return v.Victim.Kill(ctx)
}

// LosesOutsideAnswer makes a call that leads to an outside request with a text;
// the answer to that request is lost behind the proven effect, and the server
// lives. Only that connection ends, so that a server which sends the request again
// by itself is seen to.
func (c *Caller) LosesOutsideAnswer(act Act, text string) history.Operation {
	w := c.w
	return c.outsideFault(faults.AnswerLost{Line: w.outside(), Match: carrying(text), Shape: faults.Broken, Proof: w.effect(text), Limits: w.config.Limits}.Arm(w.ledger), act, nil)
}

// LosesOutsideRequest is the twin: the outside request never arrives, and its
// connection is cut.
func (c *Caller) LosesOutsideRequest(act Act, text string) history.Operation {
	w := c.w
	return c.outsideFault(faults.RequestLost{Line: w.outside(), Match: carrying(text), Shape: faults.Broken, Proof: w.effect(text), Limits: w.config.Limits}.Arm(w.ledger), act, nil)
}

// outsideFault makes a call under a fault on the way outside. What the fault
// observes is the end of the outside request: its caller, the server, gets no
// answer, whatever the call itself was answered. killed is the server where it dies of
// it, else nil.
func (c *Caller) outsideFault(fault faults.Fault, act Act, killed *answeredFirst) history.Operation {
	var op history.Operation
	_, err := faults.Around(c.w.ctx, fault, func(context.Context) history.Outcome {
		call := c.Go(act, c.w.config.Limits.Answer)
		if killed != nil {
			killed.call <- call
		}
		op = call.Wait()
		return history.Unknown
	})
	c.w.placed(err)
	if killed != nil {
		c.dead()
	}
	return op
}

// Patience is how long a caller waits for an answer that nothing keeps back.
func (w *World) Patience() time.Duration { return w.config.Limits.Answer }

// Given gives a call the time to be answered although something else is held.
func (w *World) Given(f *Flight) bool {
	select {
	case <-f.Done():
		return true
	case <-time.After(w.config.Limits.Withheld):
		return false
	case <-w.ctx.Done():
		return false
	}
}

// dead waits until the caller's helper is reaped.
func (c *Caller) dead() {
	select {
	case <-c.theProcess().Done():
	case <-c.w.ctx.Done():
		Broken("%s was to be killed and did not end: %v", c.name, c.w.ctx.Err())
	}
}

// HoldOutside holds every outside request with a text from now on, until it is
// released.
func (w *World) HoldOutside(text string) *Hold {
	return w.holdOutside(carrying(text), text)
}

// HoldOutsideAnswer holds every answer to an outside request with a text from now
// on, until it is released.
func (w *World) HoldOutsideAnswer(text string) *Hold {
	match := carrying(text)
	match.Answer = true
	return w.holdOutside(match, text)
}

// HoldOutsideReads holds every outside request that changes nothing from now on,
// until it is released.
func (w *World) HoldOutsideReads() *Hold {
	return w.hold("outside-held", w.outside(), wire.Match{HTTPMethod: http.MethodGet}, "an outside request that changes nothing", faults.Proof{})
}

func (w *World) holdOutside(match wire.Match, text string) *Hold {
	return w.hold("outside-held", w.outside(), match, fmt.Sprintf("an outside %s with the text %q", match.Phase(), text), w.effect(text))
}

// AwaitThough waits for a fact that is to come although something is held. It
// waits less long than a target itself waits for what is held, and does not stop
// the spec when the fact stays away.
func (w *World) AwaitThough(what string, fact func() bool) bool {
	err := wait.For(w.ctx, what, 3*w.config.Limits.Withheld, func(context.Context) (bool, error) { return fact(), nil })
	if err != nil {
		w.Mark("awaited in vain", map[string]any{"what": what})
	}
	return err == nil
}

// LookAtWire records how many outside requests with a text came, and how many of
// them were let through.
func (w *World) LookAtWire(when, text string) { w.LookAtWireIn("", when, text) }

// LookAtWireIn is LookAtWire in a run at one crash point.
func (w *World) LookAtWireIn(run, when, text string) {
	line := w.outside()
	position := carrying(text)
	params := map[string]string{"text": text}
	if run != "" {
		params["run"] = run
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &history.Look{
		Surface: history.SurfaceWire, Probe: OutsideWire, When: when, Params: params,
		Rows: []map[string]any{{"came": line.Count(position), "passed": line.Passed(position)}},
	}})
}
