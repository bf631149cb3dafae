package judge

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// story is a history under construction. Everything goes through the real
// recorder, so that rules see numbers and texts as a recording holds them.
type story struct {
	rec *history.Recorder
	n   int
}

func newStory() *story { return &story{rec: history.NewRecorder(nil)} }

func (s *story) told() history.History {
	h, err := s.rec.History()
	if err == nil {
		err = h.Check()
	}
	if err != nil {
		panic(err)
	}
	return h
}

// params are the spec's own values behind a call or a look, by turns name and value.
func params(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// row is one row of a look, or the mapped fields of an answer, by turns name and value.
func row(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func list(values ...string) []any {
	out := []any{}
	for _, v := range values {
		out = append(out, v)
	}
	return out
}

// ending is how a call came back.
type ending history.Call

func done(fields ...any) ending { return ending{Outcome: history.Done, Fields: row(fields...)} }
func unknown() ending           { return ending{Outcome: history.Unknown, Reason: "no answer within 15s"} }

func refused(class, code string, fields ...any) ending {
	f := row(fields...)
	if class != "" {
		f["failure_class"] = class
	}
	if code != "" {
		f["failure_code"] = code
	}
	return ending{Outcome: history.Refused, IsError: true, Fields: f, Reason: "refused: " + code, Answer: json.RawMessage(`{"isError":true}`)}
}

// invoke begins a call and returns its ID: c1, c2 …
func (s *story) invoke(role string, p map[string]string) string {
	return s.invokeOn("helper.1", role, p)
}

func (s *story) invokeOn(session, role string, p map[string]string) string {
	s.n++
	id := fmt.Sprintf("c%d", s.n)
	arguments, _ := json.Marshal(p)
	s.rec.Record(history.Event{Kind: history.KindCall, Call: &history.Call{
		ID: id, Phase: history.Invoked, Session: session, Role: role, Tool: "work_" + role, Params: p, Arguments: arguments,
	}})
	return id
}

// end ends a call.
func (s *story) end(id string, e ending) string {
	c := history.Call(e)
	c.ID, c.Phase = id, history.Returned
	s.rec.Record(history.Event{Kind: history.KindCall, Call: &c})
	return id
}

// call is a call that nothing overlaps.
func (s *story) call(role string, p map[string]string, e ending) string {
	return s.end(s.invoke(role, p), e)
}

func (s *story) callOn(session, role string, p map[string]string, e ending) string {
	return s.end(s.invokeOn(session, role, p), e)
}

func (s *story) look(probe, when string, p map[string]string, rows ...map[string]any) {
	s.rec.Record(history.Event{Kind: history.KindLook, Look: &history.Look{Probe: probe, When: when, Params: p, Rows: rows}})
}

func (s *story) mark(name string, pairs ...any) { s.rec.Mark(name, row(pairs...)) }

func (s *story) fault(id, name string, stages ...history.Fault) {
	for _, f := range stages {
		f.ID, f.Name, f.Position = id, name, "helper · work_note · 1st · answer"
		s.rec.Record(history.Event{Kind: history.KindFault, Fault: &f})
	}
}

// hit are the stages of a fault that is proven to have hit.
func hit(proof string) []history.Fault {
	return []history.Fault{
		{Stage: history.Armed}, {Stage: history.Matched}, {Stage: history.Held},
		{Stage: history.Proven, Proof: proof, By: "probe intents"}, {Stage: history.Fired}, {Stage: history.Observed},
	}
}

// and is params with more of them.
func and(p map[string]string, pairs ...string) map[string]string {
	more := maps.Clone(p)
	maps.Copy(more, params(pairs...))
	return more
}
