package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
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

// edit is one defect, put into a correct history.
type edit func(events []history.Event) []history.Event

// with tells a history again with edits, numbered anew.
func with(h history.History, edits ...edit) history.History {
	events := slices.Clone(h.Events)
	for i, e := range events { // a deep copy, so that cases share nothing
		line, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		events[i] = history.Event{}
		if err := json.Unmarshal(line, &events[i]); err != nil {
			panic(err)
		}
	}
	for _, change := range edits {
		events = change(events)
	}
	rec := history.NewRecorder(nil)
	for _, e := range events {
		rec.Record(e)
	}
	again, err := rec.History()
	if err != nil {
		panic(err)
	}
	return again
}

// each edits what fits; a defect that hits nothing is a mistake in the test.
func each(what string, fits func(history.Event) bool, change func(*history.Event)) edit {
	return func(events []history.Event) []history.Event {
		hits := 0
		for i := range events {
			if fits(events[i]) {
				hits++
				change(&events[i])
			}
		}
		if hits == 0 {
			panic("the edit hit nothing: " + what)
		}
		return events
	}
}

func removed(what string, fits func(history.Event) bool) edit {
	return func(events []history.Event) []history.Event {
		kept := slices.DeleteFunc(slices.Clone(events), fits)
		if len(kept) == len(events) {
			panic("the edit hit nothing: " + what)
		}
		return kept
	}
}

func isLook(probe, when string) func(history.Event) bool {
	return func(e history.Event) bool {
		return e.Kind == history.KindLook && e.Look.Probe == probe && e.Look.When == when
	}
}

func isCall(id string, phase history.CallPhase) func(history.Event) bool {
	return func(e history.Event) bool {
		return e.Kind == history.KindCall && e.Call.ID == id && (phase == "" || e.Call.Phase == phase)
	}
}

// noLook: the look was never taken.
func noLook(probe, when string) edit { return removed("look "+probe, isLook(probe, when)) }

// lookFails: the look was taken and failed by itself.
func lookFails(probe, when string) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows, e.Look.Error = nil, "the look itself failed" })
}

// shows replaces what a look showed.
func shows(probe, when string, rows ...map[string]any) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows = rows })
}

// cell changes one cell of what a look showed.
func cell(probe, when string, n int, column string, value any) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows[n][column] = value })
}

// lookOf changes the looks at one item.
func lookOf(id, probe, when string, change func(*history.Look)) edit {
	return each("look "+probe+" of "+id, func(e history.Event) bool { return isLook(probe, when)(e) && e.Look.Params["item_id"] == id },
		func(e *history.Event) { change(e.Look) })
}

// noLookOf: one item was never looked at.
func noLookOf(id, probe, when string) edit {
	return removed("look "+probe+" of "+id, func(e history.Event) bool { return isLook(probe, when)(e) && e.Look.Params["item_id"] == id })
}

// noColumn: the probe does not show a column.
func noColumn(probe, when, column string) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) {
		for _, r := range e.Look.Rows {
			delete(r, column)
		}
	})
}

// rowsLater adds rows to what a look showed.
func rowsLater(probe, when string, rows ...map[string]any) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows = append(e.Look.Rows, rows...) })
}

// noRow takes one row away.
func noRow(probe, when string, n int) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows = slices.Delete(e.Look.Rows, n, n+1) })
}

// ends replaces how a call came back.
func ends(id string, with ending) edit {
	return each("call "+id, isCall(id, history.Returned), func(e *history.Event) {
		c := history.Call(with)
		c.ID, c.Phase = id, history.Returned
		e.Call = &c
	})
}

// field changes one mapped field of an answer.
func field(id, name string, value any) edit {
	return each("call "+id, isCall(id, history.Returned), func(e *history.Event) { e.Call.Fields[name] = value })
}

// noField: the answer does not have a field.
func noField(id, name string) edit {
	return each("call "+id, isCall(id, history.Returned), func(e *history.Event) { delete(e.Call.Fields, name) })
}

// param changes one of the spec's values behind a call.
func param(id, name, value string) edit {
	return each("call "+id, isCall(id, history.Invoked), func(e *history.Event) { e.Call.Params[name] = value })
}

// neverReturned: the recording ends while the call is out.
func neverReturned(id string) edit { return removed("call "+id, isCall(id, history.Returned)) }

// noCall: the call was never made.
func noCall(ids ...string) edit {
	return removed("calls", func(e history.Event) bool { return e.Kind == history.KindCall && slices.Contains(ids, e.Call.ID) })
}

// noMark: the spec never said so.
func noMark(name string) edit {
	return removed("mark "+name, func(e history.Event) bool { return e.Kind == history.KindMark && e.Mark.Name == name })
}

func markData(name, key string, value any) edit {
	return each("mark "+name, func(e history.Event) bool { return e.Kind == history.KindMark && e.Mark.Name == name },
		func(e *history.Event) { e.Mark.Data[key] = value })
}

// endedLate moves the end of a call behind everything else.
func endedLate(id string) edit {
	return func(events []history.Event) []history.Event {
		n := slices.IndexFunc(events, isCall(id, history.Returned))
		late := events[n]
		return append(slices.Delete(events, n, n+1), late)
	}
}

// variant is one case of a rule: a correct history with edits, and exactly what
// the rule says of it. No finding and no doubt means that it holds.
type variant struct {
	name   string
	edits  []edit
	finds  []reports.Finding
	doubts []string
}

func edits(e ...edit) []edit { return e }

func finds(f ...reports.Finding) []reports.Finding { return f }

// broken is the finding that is expected.
func broken(clause, summary string, facts ...string) reports.Finding {
	return reports.Finding{Clause: clause, Summary: summary, Facts: facts}
}

// rules judges every variant of a correct history, which itself must hold.
func rules(t *testing.T, rule Rule, correct history.History, variants ...variant) {
	t.Helper()
	t.Run("a correct world", func(t *testing.T) {
		t.Helper()
		expectRuling(t, rule, correct, nil, nil)
	})
	names := map[string]bool{}
	for _, v := range variants {
		if names[v.name] {
			t.Fatalf("two variants are called %q", v.name)
		}
		names[v.name] = true
		t.Run(v.name, func(t *testing.T) {
			t.Helper()
			expectRuling(t, rule, with(correct, v.edits...), v.finds, v.doubts)
		})
	}
}

func expectRuling(t *testing.T, rule Rule, h history.History, findings []reports.Finding, doubts []string) {
	t.Helper()
	before, _ := json.Marshal(h)
	got := rule(h)
	if wants, have := told(findings), told(got.Findings); wants != have {
		t.Errorf("findings\n%s\nexpected\n%s", have, wants)
	}
	if !slices.Equal(got.Doubts, doubts) {
		t.Errorf("doubts\n%q\nexpected\n%q", got.Doubts, doubts)
	}
	if again := rule(h); told(again.Findings) != told(got.Findings) || !slices.Equal(again.Doubts, got.Doubts) {
		t.Errorf("judging the same history twice gave %v and %v", got, again)
	}
	if after, _ := json.Marshal(h); string(before) != string(after) {
		t.Error("the rule changed the history that it judged")
	}
}

func told(findings []reports.Finding) string {
	text := ""
	for _, f := range findings {
		text += fmt.Sprintf("  %s: %s\n", f.Clause, f.Summary)
		for _, fact := range f.Facts {
			text += fmt.Sprintf("     - %s\n", fact)
		}
	}
	if text == "" {
		return "  nothing\n"
	}
	return text
}

// and is params with more of them.
func and(p map[string]string, pairs ...string) map[string]string {
	more := maps.Clone(p)
	maps.Copy(more, params(pairs...))
	return more
}
