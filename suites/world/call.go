package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Do makes a call and waits for its end; the deadline is Limits.Answer.
func (c *Caller) Do(act Act) history.Operation {
	return c.Go(act, c.w.config.Limits.Answer).Wait()
}

// Flight is a call on its way.
type Flight struct {
	once  sync.Once
	begun chan struct{} // closed once the call has left, or could not
	call  *mcp.Pending  // nil where it could not
	done  chan struct{}
	op    history.Operation
}

// Wait waits for the call's end.
func (f *Flight) Wait() history.Operation {
	<-f.done
	return f.op
}

// left says, once, that the call has left; nil that it could not, or that it is none
// that can be cancelled.
func (f *Flight) left(call *mcp.Pending) {
	f.once.Do(func() {
		f.call = call
		close(f.begun)
	})
}

// Cancel cancels the call as its caller's revision and transport have it, once it
// has left. What becomes of it is told by Wait.
func (f *Flight) Cancel(ctx context.Context) error {
	<-f.begun
	if f.call == nil {
		return errors.New("the call never left, so that there is nothing to cancel")
	}
	return f.call.Cancel(ctx)
}

// Done is closed at the call's end.
func (f *Flight) Done() <-chan struct{} { return f.done }

// Go makes a call; its caller's patience ends after the given time.
func (c *Caller) Go(act Act, patience time.Duration) *Flight {
	tool := c.tool(act)
	raw := c.arguments(tool, act)
	return c.fly(act, tool.Name, raw, patience, func(ctx context.Context, f *Flight) history.Call {
		reply := mcp.Reply{}
		call, err := c.session.Begin(ctx, tool.Name, raw)
		f.left(call)
		if err == nil {
			reply, err = call.Wait(ctx)
		}
		return c.w.outcome(c.target(), tool, reply, err)
	})
}

// arguments are what a tool is called with.
func (c *Caller) arguments(tool target.Tool, act Act) json.RawMessage {
	arguments, err := c.w.known(c.known).With(target.Scope(act.Params)).ExpandAny(tool.Arguments)
	if err != nil {
		Broken("making the arguments of %s: %v", tool.Name, err)
	}
	if tool.Arguments == nil {
		arguments = map[string]any{}
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		Broken("making the arguments of %s: %v", tool.Name, err)
	}
	return raw
}

// fly records a call and what came of it.
func (c *Caller) fly(act Act, tool string, arguments json.RawMessage, patience time.Duration, ask func(context.Context, *Flight) history.Call) *Flight {
	call := history.Call{
		ID: c.w.nextCall(), Phase: history.Invoked, Session: c.name, Role: act.Role, Tool: tool,
		Arguments: arguments, Params: maps.Clone(act.Params),
	}
	f := &Flight{begun: make(chan struct{}), done: make(chan struct{})}
	f.op.InvokedAt = c.w.config.Recorder.Record(history.Event{Kind: history.KindCall, Call: &call})
	f.op.Invoked = call
	ctx, cancel := context.WithTimeout(c.w.ctx, patience)
	go func() {
		defer close(f.done)
		defer cancel()
		ended := ask(ctx, f)
		f.left(nil)
		ended.ID, ended.Phase, ended.Session, ended.Role, ended.Tool = call.ID, history.Returned, call.Session, call.Role, call.Tool
		e := c.w.config.Recorder.Record(history.Event{Kind: history.KindCall, Call: &ended})
		f.op.Returned, f.op.ReturnedAt = &ended, &e
	}()
	return f
}

// outcome is what a caller can know of a call from its answer alone.
func (w *World) outcome(of *target.File, tool target.Tool, reply mcp.Reply, err error) history.Call {
	if err != nil {
		return unanswered(err)
	}
	ended := history.Call{Answer: reply.Raw, IsError: reply.IsError || reply.Err != nil, Outcome: history.Refused}
	doc := reply.Document()
	fields, accepted, refused, err := of.MapAnswer(tool, doc)
	ended.Fields, ended.Unfound = fields, unfound(tool, fields)
	switch {
	case reply.ResultType == "task" || reply.ResultType == "input_required":
		// An answer, but no result: the call may still take effect.
		ended.Outcome = history.Unknown
		ended.Reason = "the answer is a " + reply.ResultType + " and no result"
	case err != nil:
		ended.Unmapped = true
		ended.Reason = fmt.Sprintf("the target file's mapping does not fit the answer: %v", err)
	case refused:
		ended.Reason = reply.Text()
		if reply.Err != nil {
			ended.Reason = reply.Err.Error()
		}
	case !accepted:
		ended.Reason = "the target file's predicate \"accepted\" is not true of the answer"
	default:
		ended.Outcome = history.Done
		w.capture(tool, doc, &ended)
	}
	return ended
}

// unfound are the fields of a tool's answer that were not found in one.
func unfound(tool target.Tool, fields map[string]any) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(tool.Answer)) {
		if _, there := fields[name]; !there {
			names = append(names, name)
		}
	}
	return names
}

// unanswered is what a caller can know of a call that got no answer of MCP.
func unanswered(err error) history.Call {
	var none *mcp.NoAnswer
	var status *mcp.HTTPStatus
	switch {
	case errors.As(err, &none):
		return history.Call{Outcome: history.Unknown, Reason: none.Error()}
	case errors.As(err, &status):
		// A server that answers 4xx has decided; after 5xx nobody can know.
		outcome := history.Unknown
		if status.Code >= 400 && status.Code < 500 {
			outcome = history.Refused
		}
		return history.Call{Outcome: outcome, IsError: true, Reason: status.Error()}
	}
	return history.Call{Outcome: history.Unknown, Reason: err.Error()}
}

// capture keeps what later calls name of an answer.
func (w *World) capture(tool target.Tool, doc map[string]any, ended *history.Call) {
	if len(tool.Capture) == 0 {
		return
	}
	found, err := w.Target.Captures(tool, doc)
	if err != nil {
		ended.Outcome, ended.Reason = history.Refused, err.Error()
	}
	for name, value := range found {
		w.learn(name, value)
	}
}

// SetUp makes the target file's setup calls of profile durability, once on a
// fresh store.
func (c *Caller) SetUp() {
	for i, tool := range c.w.Target.Profiles.Durability.Setup {
		op := c.Do(Act{Role: "setup", Tool: &tool, Params: map[string]string{"key": c.w.Word(fmt.Sprintf("setup-%d", i+1)), "n": fmt.Sprint(i + 1)}})
		if op.Outcome() != history.Done {
			Inconclusive("setup call %d of the target file (%s) was not accepted: %s", i+1, tool.Name, reasonOf(op))
		}
	}
}

func reasonOf(op history.Operation) string {
	if op.Returned == nil {
		return "no answer"
	}
	return op.Returned.Reason
}

// tool is the target's tool for an act.
func (c *Caller) tool(act Act) target.Tool {
	if act.Tool != nil {
		return *act.Tool
	}
	switch c.w.config.Profile {
	case target.ProfileWorkRecords:
		if tool, there := c.target().Profiles.WorkRecords.Tools[act.Role]; there {
			return tool
		}
	case target.ProfileReceipts:
		if tool, there := c.w.Target.Profiles.Receipts.Tools[act.Role]; there {
			return tool
		}
	case target.ProfileWorkflows:
		if tool, there := c.w.Target.Profiles.Workflows.Tools[act.Role]; there {
			return tool
		}
	case target.ProfileDurability:
		switch d := c.w.Target.Profiles.Durability; act.Role {
		case "write":
			return d.Writes[0]
		case "read":
			return d.Read
		}
	}
	Inconclusive("the target file names no tool for %q in profile %s", act.Role, c.w.config.Profile)
	return target.Tool{}
}

func (w *World) nextCall() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	return fmt.Sprintf("c%d", w.calls)
}
