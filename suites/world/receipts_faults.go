package world

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// LosesServerAnswer makes a call that leads to a mutation; the server's answer to it
// is lost behind the proven receipt.
func (c *Caller) LosesServerAnswer(act Act) history.Operation {
	w := c.w
	return c.serverFault(faults.AnswerLost{Line: w.server(), Match: w.toServer(asked(act.Role), act.Params), Shape: faults.Broken, Proof: w.receipt(act), Limits: w.config.Limits}.Arm(w.ledger), act)
}

// LosesServerRequest is the twin: the mutation's request never arrives, and its
// connection is cut.
func (c *Caller) LosesServerRequest(act Act) history.Operation {
	w := c.w
	return c.serverFault(faults.RequestLost{Line: w.server(), Match: w.toServer(asked(act.Role), act.Params), Shape: faults.Broken, Proof: w.receipt(act), Limits: w.config.Limits}.Arm(w.ledger), act)
}

// DuplicatesServerRequest makes a call whose mutation the network delivers twice;
// the editor gets one of the answers.
func (c *Caller) DuplicatesServerRequest(act Act) history.Operation {
	w := c.w
	return c.serverFault(faults.Duplicate{Line: w.server(), Match: w.toServer(asked(act.Role), act.Params), Limits: w.config.Limits}.Arm(w.ledger), act)
}

// ServerKilledAtAnswer makes a call that leads to a mutation; the server is killed
// behind the proven receipt while its answer is held, and the answer is lost.
func (c *Caller) ServerKilledAtAnswer(act Act) history.Operation {
	w := c.w
	op := c.serverFault(faults.KillAtAnswer{Line: w.server(), Match: w.toServer(asked(act.Role), act.Params), Victim: w.serverVictim(), Proof: w.receipt(act), Limits: w.config.Limits}.Arm(w.ledger), act)
	w.serverProcess().running = nil
	return op
}

// ServerKilledAtRequest makes a call that leads to a mutation; the server is killed
// while the request is held, which it never gets.
func (c *Caller) ServerKilledAtRequest(act Act) history.Operation {
	w := c.w
	op := c.serverFault(faults.KillAtRequest{Line: w.server(), Match: w.toServer(asked(act.Role), act.Params), Victim: w.serverVictim(), Limits: w.config.Limits}.Arm(w.ledger), act)
	w.serverProcess().running = nil
	return op
}

func (w *World) serverProcess() *member { return w.process(w.Target.Wires[ServerWire].To) }

func (w *World) serverVictim() process.Victim {
	p := w.serverProcess()
	if p.running == nil {
		Broken("process %s is to be killed and does not run", p.name)
	}
	return w.victim(p.running)
}

// serverFault makes a call under a fault between the editor and its server. What
// the fault observes is that the editor got no answer, whatever the call itself was
// answered with.
func (c *Caller) serverFault(fault faults.Fault, act Act) history.Operation {
	var op history.Operation
	_, err := faults.Around(c.w.ctx, fault, func(context.Context) history.Outcome {
		op = c.Go(act, c.w.config.Limits.Answer).Wait()
		return history.Unknown
	})
	c.w.placed(err)
	return op
}

// HoldToServer holds every request of a name about a draft until it is released.
func (w *World) HoldToServer(name, draft string) *Hold {
	match := w.toServer(name, map[string]string{"draft": draft})
	return w.hold("server-held", w.server(), match, fmt.Sprintf("a request %q of the editor", name), faults.Proof{})
}

// HoldFromServer holds every answer to a request of a name about a draft until it
// is released. Where it answers a mutation, act says of which receipt it tells.
func (w *World) HoldFromServer(name string, act Act) *Hold {
	match := w.toServer(name, map[string]string{"draft": act.Params["draft"]})
	match.Answer = true
	proof := faults.Proof{}
	if name == "update" || name == "submit" {
		proof = w.receipt(act)
	}
	return w.hold("server-held", w.server(), match, fmt.Sprintf("an answer to a request %q of the editor", name), proof)
}

// Instead is what the wire answers in place of the server, until it is released.
type Instead struct {
	*Trouble
	w       *World
	name    string
	match   wire.Match
	line    wire.Line
	refusal wire.Refusal
	fault   *faults.Placement
	passed  int
}

// ServerAnswers lets the wire answer every request of a name about a draft with an
// HTTP status and {"code": code} in place of the server, which sees none of them,
// until it is released.
func (w *World) ServerAnswers(name, draft string, status int, code string) *Instead {
	body, err := json.Marshal(map[string]string{"code": code, "reason": "answered on the way"})
	if err != nil {
		Broken("writing an answer in place of the server's: %v", err)
	}
	i := &Instead{w: w, name: name, line: w.server(), match: w.toServer(name, map[string]string{"draft": draft})}
	i.passed = i.line.Passed(i.match)
	i.fault = w.ledger.Arm("server-answered-for", fmt.Sprintf("wire %s · every request %q · answered with %d", i.line.Name(), name, status))
	i.refusal = i.line.Instead(math.MaxInt, i.match, status, body)
	i.Trouble = w.trouble(func() {
		i.given()
		i.refusal.Stop()
		i.fault.Reach(history.Healed, map[string]any{"wire": "as before"})
	}, i.refusal.Stop)
	return i
}

// given makes sure that such an answer was given, and that the server saw none of
// the requests.
func (i *Instead) given() {
	used := i.refusal.Used()
	if used == 0 {
		Inconclusive("no request %q came to wire %s, so that none was answered in place of the server", i.name, i.line.Name())
	}
	passed := i.line.Passed(i.match) - i.passed
	if passed != 0 {
		Inconclusive("%d requests %q passed wire %s although all were to be answered there", passed, i.name, i.line.Name())
	}
	i.fault.Reach(history.Matched, map[string]any{"answered": used})
	i.fault.Reach(history.Held, map[string]any{"held": "nothing; they are answered on the wire"})
	i.fault.Prove(faults.Absent, "the wire, which answered them itself", map[string]any{"answered": used, "passed": passed})
	i.fault.Reach(history.Fired, map[string]any{"answered": used})
	i.fault.Reach(history.Observed, map[string]any{"passed": passed})
}

// Answered is how many requests were answered in place of the server so far.
func (i *Instead) Answered() int { return i.refusal.Used() }

// ServerAway makes the server unreachable until it is released.
func (w *World) ServerAway() *Trouble {
	w.server()
	return w.away("server-away", w.wires[ServerWire])
}

// ServerLanded waits until whatever the editors have sent to their server by now
// has come through, and was answered or lost.
func (w *World) ServerLanded() {
	if err := w.server().Landed(w.ctx); err != nil {
		Inconclusive("what was on its way to the server has not come to rest: %v", err)
	}
}
