package history

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	tests := []struct {
		name, in string
		events   int
		err      string
	}{
		{"nothing", "", 0, ""},
		{"two events, and an empty line", `{"seq":1,"kind":"mark","mark":{"name":"a"}}` + "\n\n" + `{"seq":2,"kind":"mark","mark":{"name":"b"}}` + "\n", 2, ""},
		{"no line end behind the last", `{"seq":1,"kind":"mark","mark":{"name":"a"}}`, 1, ""},
		{"a line that was cut off", `{"seq":1,"kind":"mark","mark":{"name":"a"}}` + "\n" + `{"seq":2,"ki`, 0,
			"history line 2: expected one JSON event a line: unexpected end of JSON input"},
		{"no JSON", "\n\nhello\n", 0, "history line 3: expected one JSON event a line: invalid character 'h' looking for beginning of value"},
		{"a field of another type", `{"seq":"one"}`, 0,
			"history line 1: expected one JSON event a line: json: cannot unmarshal string into Go struct field Event.seq of type int64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := Read(strings.NewReader(tt.in))
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("the error is %v, expected %q", err, tt.err)
			}
			if len(h.Events) != tt.events {
				t.Errorf("%d events were read, expected %d", len(h.Events), tt.events)
			}
		})
	}
}

func TestReadTakesLongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	var out strings.Builder
	NewRecorder(&out).Mark(long, nil)
	h, err := Read(strings.NewReader(out.String()))
	if err != nil || h.Events[0].Mark.Name != long {
		t.Errorf("a line of %d bytes was not read back: %v", out.Len(), err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, fmt.Errorf("disk gone") }

func TestReadSaysWhyItCouldNot(t *testing.T) {
	if _, err := Read(broken{}); err == nil || err.Error() != "reading the history: disk gone" {
		t.Errorf("the error is %v", err)
	}
}

func TestCheck(t *testing.T) {
	call := func(seq int64, id string, phase CallPhase) Event {
		return Event{Seq: seq, Kind: KindCall, Call: &Call{ID: id, Phase: phase}}
	}
	tests := []struct {
		name   string
		events []Event
		err    string
	}{
		{"an empty history", nil, ""},
		{"a whole one", []Event{call(1, "c1", Invoked), call(2, "c2", Invoked), call(3, "c1", Returned)}, ""},
		{"two events at one time", []Event{{Seq: 1, At: 5, Kind: KindMark, Mark: &Mark{}}, {Seq: 2, At: 5, Kind: KindMark, Mark: &Mark{}}}, ""},
		{"its beginning is missing", []Event{call(2, "c1", Invoked)}, "the recording has a gap: event 1 carries number 2"},
		{"an event is missing", []Event{call(1, "c1", Invoked), call(3, "c1", Returned)}, "the recording has a gap: event 2 carries number 3"},
		{"an event is there twice", []Event{call(1, "c1", Invoked), call(1, "c1", Invoked)}, "the recording has a gap: event 2 carries number 1"},
		{"the clock ran backwards", []Event{{Seq: 1, At: time.Second, Kind: KindMark, Mark: &Mark{}}, {Seq: 2, At: time.Millisecond, Kind: KindMark, Mark: &Mark{}}},
			"the recorder's clock ran backwards: event 1 at 1s, event 2 at 1ms"},
		{"an event without its payload", []Event{{Seq: 1, Kind: KindLook, Mark: &Mark{}}}, `the recording is damaged: event 1 is of kind "look" and carries nothing of it`},
		{"a kind that nobody knows", []Event{{Seq: 1, Kind: "guess"}}, `the recording is damaged: event 1 is of kind "guess" and carries nothing of it`},
		{"an end without a beginning", []Event{call(1, "c1", Returned)}, "the recording is damaged: event 1 says that call c1 was returned, after it was never invoked"},
		{"two beginnings", []Event{call(1, "c1", Invoked), call(2, "c1", Invoked)}, "the recording is damaged: event 2 says that call c1 was invoked, after it was invoked"},
		{"two ends", []Event{call(1, "c1", Invoked), call(2, "c1", Returned), call(3, "c1", Returned)},
			"the recording is damaged: event 3 says that call c1 was returned, after it was returned"},
		{"a call that is made again", []Event{call(1, "c1", Invoked), call(2, "c1", Returned), call(3, "c1", Invoked)},
			"the recording is damaged: event 3 says that call c1 was invoked, after it was returned"},
	}
	for _, kind := range []Kind{KindProcess, KindMessage, KindCall, KindRequest, KindFault, KindMark} {
		tests = append(tests, struct {
			name   string
			events []Event
			err    string
		}{"nothing of a " + string(kind), []Event{{Seq: 1, Kind: kind}}, fmt.Sprintf("the recording is damaged: event 1 is of kind %q and carries nothing of it", kind)})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := History{Events: tt.events}.Check()
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("the check says %v, expected %q", err, tt.err)
			}
		})
	}
}

func TestEveryKindOfEventPassesTheCheckAndTheFile(t *testing.T) {
	var out strings.Builder
	r := NewRecorder(&out)
	for _, e := range []Event{
		{Kind: KindProcess, Process: &Process{Name: "helper", Instance: 1, PID: 7, State: Exited, Code: 1, Signal: "killed"}},
		{Kind: KindMessage, Message: &Message{Session: "helper.1", Outgoing: true, Raw: "no JSON\u0000", Garbage: "not JSON"}},
		{Kind: KindCall, Call: &Call{ID: "c1", Phase: Invoked, Arguments: json.RawMessage(`{"a":1}`), Params: map[string]string{"key": "k"}}},
		{Kind: KindCall, Call: &Call{ID: "c1", Phase: Returned, Outcome: Done, Fields: map[string]any{"state": "queued", "materialized": false}}},
		{Kind: KindRequest, Request: &Request{Wire: "helper", ID: 3, Method: "tools/call", Tool: "work_note", RPCID: "4", Action: "held"}},
		{Kind: KindLook, Look: &Look{Surface: SurfaceStore, Probe: "intents", When: "converged", Rows: []map[string]any{{"seq": 1}}}},
		{Kind: KindFault, Fault: &Fault{ID: "f1", Name: "answer-lost", Stage: Proven, Proof: "committed", By: "probe intents"}},
		{Kind: KindMark, Mark: &Mark{Name: "deleted", Data: map[string]any{"item_id": "i1"}}},
	} {
		r.Record(e)
	}
	kept, err := r.History()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Read(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Check(); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(kept, read) {
		t.Errorf("kept\n%+v\nread back\n%+v", kept, read)
	}
}

// told is a short history for the questions below.
func told(t *testing.T) History {
	t.Helper()
	r := NewRecorder(nil)
	invoke := func(id, role string) {
		r.Record(Event{Kind: KindCall, Call: &Call{ID: id, Phase: Invoked, Session: "helper.1", Role: role, Params: map[string]string{"key": "k " + id}}})
	}
	end := func(id string, outcome Outcome, fields map[string]any) {
		r.Record(Event{Kind: KindCall, Call: &Call{ID: id, Phase: Returned, Outcome: outcome, Fields: fields}})
	}
	invoke("c1", "note")
	invoke("c2", "start")
	end("c2", Done, map[string]any{"item_id": "i1", "materialized": false, "n": 3})
	end("c1", Refused, nil)
	invoke("c3", "note")
	invoke("c4", "note")
	end("c4", "", nil)
	r.Record(Event{Kind: KindLook, Look: &Look{Probe: "item", When: "early"}})
	r.Record(Event{Kind: KindLook, Look: &Look{Probe: "item", When: "converged", Error: "no"}})
	r.Record(Event{Kind: KindLook, Look: &Look{Probe: "items", When: "converged"}})
	r.Mark("deleted", map[string]any{"item_id": "i1"})
	for _, f := range []Fault{
		{ID: "f1", Name: "race", Position: "p1", Stage: Armed}, {ID: "f2", Name: "kill", Position: "p2", Stage: Armed},
		{ID: "f1", Name: "race", Position: "p1", Stage: Proven, Proof: "absent"},
	} {
		r.Record(Event{Kind: KindFault, Fault: &f})
	}
	h, err := r.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOperations(t *testing.T) {
	h := told(t)
	var got []string
	for _, o := range h.Operations("") {
		ended := int64(0)
		if o.ReturnedAt != nil {
			ended = o.ReturnedAt.Seq
		}
		got = append(got, fmt.Sprintf("%s %s %s %d-%d", o.Invoked.ID, o.Invoked.Role, o.Outcome(), o.InvokedAt.Seq, ended))
	}
	want := []string{"c1 note refused 1-4", "c2 start done 2-3", "c3 note unknown 5-0", "c4 note unknown 6-7"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the operations are %q, expected %q", got, want)
	}
	if n := len(h.Operations("note")); n != 3 {
		t.Errorf("%d notes are told, expected 3", n)
	}
	start := h.Operations("start")[0]
	if start.Text("item_id") != "i1" || start.Field("materialized") != false || start.Text("n") != "" || start.Field("none") != nil || start.Param("key") != "k c2" {
		t.Errorf("the start's fields are read wrongly: %+v", start)
	}
	if open := h.Operations("note")[1]; open.Field("state") != nil || open.Text("state") != "" {
		t.Errorf("a call that never returned has fields: %+v", open)
	}
}

func TestQuestions(t *testing.T) {
	h := told(t)
	for _, tt := range []struct {
		probe, when string
		n           int
	}{{"", "", 3}, {"item", "", 2}, {"", "converged", 2}, {"item", "converged", 1}, {"card", "", 0}} {
		if got := len(h.Looks(tt.probe, tt.when)); got != tt.n {
			t.Errorf("%d looks through %q at %q are told, expected %d", got, tt.probe, tt.when, tt.n)
		}
	}
	if m := h.Marks("deleted"); len(m) != 1 || m[0].Data["item_id"] != "i1" || len(h.Marks("canary")) != 0 {
		t.Errorf("the marks are %v", m)
	}
	faults := h.Faults()
	if len(faults) != 2 || faults[0].ID != "f1" || faults[0].Name != "race" || faults[0].Position != "p1" || len(faults[0].Stages) != 2 || len(faults[1].Stages) != 1 {
		t.Fatalf("the faults are %+v", faults)
	}
	if e, ok := faults[0].Reached(Proven); !ok || e.Fault.Proof != "absent" {
		t.Errorf("f1 reached proven: %t, %+v", ok, e)
	}
	if _, ok := faults[1].Reached(Proven); ok {
		t.Error("f2 never came to proven")
	}
	if got := Stages(); len(got) != 7 || got[0] != Armed || got[6] != Healed {
		t.Errorf("the stages are %v", got)
	}
}
