package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// wired is a story that also tells what the sessions sent and the wire counted.
type wired struct {
	*story
	ids map[string]int // the next JSON-RPC id, by session
	x   int64          // the proxy's next exchange
}

func newWired() *wired { return &wired{story: newStory(), ids: map[string]int{}} }

// sends begins a call whose message leaves; actions are what the wire did with it.
func (w *wired) sends(session, text string, actions ...string) string {
	id := w.invokeOn(session, "note", params("text", text))
	w.ids[session]++
	w.message(session, w.ids[session], text)
	w.x++
	for _, action := range actions {
		w.counts(w.x, w.ids[session], action)
	}
	return id
}

func (w *wired) message(session string, id int, text string) {
	w.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: session, Outgoing: true,
		Raw: fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"arguments":{"text":%q},"name":"work_note"}}`, id, text)}})
}

func (w *wired) counts(exchange int64, id int, action string) {
	w.request(history.Request{Wire: "helper", ID: exchange, Method: "tools/call", Tool: "work_note", RPCID: fmt.Sprint(id), Action: action})
}

func (w *wired) request(r history.Request) {
	w.rec.Record(history.Event{Kind: history.KindRequest, Request: &r})
}

func (w *wired) answers(id string) {
	w.request(history.Request{Wire: "helper", ID: w.x, IsAnswer: true, Method: "tools/call", Tool: "work_note", RPCID: "1", Action: "forwarded"})
	w.end(id, done("state", "queued"))
}

func (w *wired) exits(name string, instance int) {
	w.rec.Record(history.Event{Kind: history.KindProcess, Process: &history.Process{Name: name, Instance: instance, State: history.Exited}})
}

func TestCounted(t *testing.T) {
	const disagree = "the wire's counter and the sessions disagree about tools/call work_note: "
	tests := []struct {
		name   string
		tell   func(*wired)
		doubts []string
	}{
		{"nothing was called", func(w *wired) {}, nil},
		{"every call is counted", func(w *wired) {
			w.answers(w.sends("helper.1", "one", "forwarded"))
			w.answers(w.sends("helper.1", "two", "held", "released"))
		}, nil},
		{"the counter is stuck at zero", func(w *wired) {
			w.answers(w.sends("helper.1", "one"))
			w.answers(w.sends("helper.1", "two"))
		}, []string{disagree + "2 sent by the sessions, 0 counted on the wire helper; first at id 1"}},
		{"the counter missed one", func(w *wired) {
			w.answers(w.sends("helper.1", "one", "forwarded"))
			w.answers(w.sends("helper.1", "two"))
		}, []string{disagree + "2 sent by the sessions, 1 counted on the wire helper; first at id 2"}},
		{"the counter counted one that nobody sent", func(w *wired) {
			w.answers(w.sends("helper.1", "one", "forwarded"))
			w.counts(7, 9, "forwarded")
		}, []string{disagree + "1 sent by the sessions, 2 counted on the wire helper; first at id 9"}},
		{"a message was counted twice", func(w *wired) {
			w.answers(w.sends("helper.1", "one", "forwarded", "forwarded"))
		}, []string{disagree + "1 sent by the sessions, 2 counted on the wire helper; first at id 1"}},
		{"the number agrees and the tool does not", func(w *wired) {
			id := w.sends("helper.1", "one")
			w.request(history.Request{Wire: "helper", ID: 1, Method: "tools/call", Tool: "work_get", RPCID: "1", Action: "forwarded"})
			w.answers(id)
		}, []string{
			"the wire's counter and the sessions disagree about tools/call work_get: 0 sent by the sessions, 1 counted on the wire helper; first at id 1",
			disagree + "1 sent by the sessions, 0 counted on the wire helper; first at id 1",
		}},
		{"the number agrees and the ids do not", func(w *wired) {
			id := w.sends("helper.1", "one")
			w.counts(1, 2, "forwarded")
			w.answers(id)
		}, []string{disagree + "1 sent by the sessions, 1 counted on the wire helper; first at id 1"}},
		{"the proxy's own duplicate", func(w *wired) {
			w.answers(w.sends("helper.1", "one", "held", "released", "released"))
		}, nil},
		{"dropped, replaced and failed messages came once", func(w *wired) {
			w.end(w.sends("helper.1", "lost on purpose", "held", "dropped"), unknown())
			w.end(w.sends("helper.1", "refused on the wire", "replaced"), refused("transient", "busy"))
			w.end(w.sends("helper.1", "after the cut", "dropped"), unknown())
			w.end(w.sends("helper.1", "its helper was gone", "forwarded", "dropped"), unknown())
		}, nil},
		{"two helpers number alike", func(w *wired) {
			first := w.sends("helper.1", "one", "forwarded")
			w.x-- // the second wire counts its own exchanges
			second := w.sends("helper.2", "one", "dropped")
			w.answers(first)
			w.end(second, unknown())
		}, nil},
		{"other wires, other methods and answers do not count", func(w *wired) {
			w.answers(w.sends("helper.1", "one", "forwarded"))
			w.request(history.Request{Wire: "account", ID: 1, Method: "POST", Action: "forwarded"})
			w.request(history.Request{Wire: "helper", ID: 9, Method: "tools/list", RPCID: "8", Action: "forwarded"})
			w.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Outgoing: true, Raw: "no JSON at all", Garbage: "not JSON"}})
			w.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Raw: `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`}})
		}, nil},
		{"a batch is known by its first part, on both sides", func(w *wired) {
			w.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Outgoing: true,
				Raw: `[{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"work_note"}},{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"work_note"}}]`}})
			w.counts(1, 5, "forwarded")
		}, nil},
		{"a request about a task", func(w *wired) {
			w.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Outgoing: true,
				Raw: `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"wf_1"}}`}})
			w.request(history.Request{Wire: "helper", ID: 1, Method: "tasks/get", RPCID: "1", Action: "forwarded"})
		}, nil},
		{"a request about a task that the wire did not count", func(w *wired) {
			w.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Outgoing: true,
				Raw: `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"wf_1"}}`}})
		}, []string{"the wire's counter and the sessions disagree about tools/call tasks/get: 1 sent by the sessions, 0 counted on the wire helper; first at id 1"}},
		{"a call without a tool", func(w *wired) {
			w.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Outgoing: true,
				Raw: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"none"}`}})
			w.request(history.Request{Wire: "helper", ID: 1, Method: "tools/call", RPCID: "1", Action: "forwarded"})
		}, nil},
		{"sent into a cut wire, its outcome unknown", func(w *wired) {
			w.fault("f1", "answer-lost", hit("committed")...)
			w.end(w.sends("helper.1", "into the cut"), unknown())
		}, nil},
		{"sent into a cut wire, never returned", func(w *wired) {
			w.fault("f1", "answer-lost", hit("committed")...)
			w.sends("helper.1", "into the cut")
		}, nil},
		{"sent into a cut wire, and yet it was answered", func(w *wired) {
			w.fault("f1", "answer-lost", hit("committed")...)
			w.answers(w.sends("helper.1", "into the cut"))
		}, []string{disagree + "1 sent by the sessions, 0 counted on the wire helper; first at id 1"}},
		{"its outcome is unknown and nothing was cut", func(w *wired) {
			w.answers(w.sends("helper.1", "one", "forwarded"))
			w.end(w.sends("helper.1", "two"), unknown())
		}, []string{disagree + "2 sent by the sessions, 1 counted on the wire helper; first at id 2"}},
		{"its outcome is unknown and the cut came later", func(w *wired) {
			w.end(w.sends("helper.1", "one"), unknown())
			w.fault("f1", "answer-lost", hit("committed")...)
		}, []string{disagree + "1 sent by the sessions, 0 counted on the wire helper; first at id 1"}},
		{"its own helper was gone", func(w *wired) {
			id := w.sends("helper.1", "one")
			w.exits("helper", 1)
			w.end(id, unknown())
		}, nil},
		{"another helper was gone", func(w *wired) {
			id := w.sends("helper.1", "one")
			w.exits("helper", 2)
			w.end(id, unknown())
		}, []string{disagree + "1 sent by the sessions, 0 counted on the wire helper; first at id 1"}},
		{"one helper was cut off, the other's equal number was counted", func(w *wired) {
			first := w.sends("helper.1", "one")
			w.exits("helper", 1)
			w.end(first, unknown())
			w.answers(w.sends("helper.2", "two", "forwarded"))
		}, nil},
		{"one helper was cut off, and the other's call is missing too", func(w *wired) {
			first := w.sends("helper.1", "one")
			w.exits("helper", 1)
			w.end(first, unknown())
			w.answers(w.sends("helper.2", "two"))
		}, []string{disagree + "2 sent by the sessions, 0 counted on the wire helper; first at id 1"}},
		{"an equal call that was counted does not excuse the loss of an answered one", func(w *wired) {
			w.fault("f1", "answer-lost", hit("committed")...)
			w.end(w.sends("helper.1", "same", "held", "dropped"), unknown())
			w.answers(w.sends("helper.1", "same"))
		}, []string{disagree + "2 sent by the sessions, 1 counted on the wire helper; first at id 2"}},
		{"one unknown call excuses one loss", func(w *wired) {
			w.fault("f1", "answer-lost", hit("committed")...)
			w.end(w.sends("helper.1", "same"), unknown())
			w.answers(w.sends("helper.1", "same"))
		}, []string{disagree + "2 sent by the sessions, 0 counted on the wire helper; first at id 2"}},
		{"the sessions recorded nothing", func(w *wired) {
			w.call("note", params("text", "one"), done())
		}, []string{"calls were made, and the sessions recorded no tools/call that was sent"}},
		{"an answered call was not recorded as sent", func(w *wired) {
			w.answers(w.sends("helper.1", "one", "forwarded"))
			w.call("note", params("text", "two"), done())
		}, []string{"call c2 (work_note) was answered, and no session recorded that it was sent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWired()
			tt.tell(w)
			expectRuling(t, Counted, w.told(), nil, tt.doubts)
		})
	}
}
