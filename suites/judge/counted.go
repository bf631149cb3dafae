package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// helperWire is the wire between a caller and the helper, in the target file's word.
const helperWire = "helper"

// Counted is the control of the wire's counter, for every spec: the tools/call
// requests that the harness's proxy counted on the helper's wire are those that
// the sessions recorded as sent, by tool and JSON-RPC id. What the proxy
// duplicated counts once. A message that was sent when the wire was cut, or its
// helper gone, may be missing on the counter, but only if its caller never
// learned the outcome. A disagreement is the harness's own and so a doubt.
func Counted(h history.History) Ruling {
	var r Ruling
	messages := sentCalls(h)
	if len(messages) == 0 && len(h.Operations("")) > 0 {
		r.doubted("calls were made, and the sessions recorded no tools/call that was sent")
	}
	r.unsentAnswers(h, messages)
	said, counted := map[position]int{}, countedCalls(h)
	excused, budget := map[position]int{}, excuses(h)
	for _, m := range messages {
		said[m.position]++
		if said[m.position] > counted[m.position].most && budget[m.group] > 0 {
			budget[m.group]--
			excused[m.position]++
		}
	}
	tools := map[string]*disagreement{}
	for _, at := range positions(said, counted) {
		d := tools[at.tool]
		if d == nil {
			d = &disagreement{}
			tools[at.tool] = d
		}
		d.sent, d.counted = d.sent+said[at], d.counted+counted[at].least
		if counted[at].least > said[at] || counted[at].most < said[at]-excused[at] {
			d.where = append(d.where, "id "+at.id)
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		if d := tools[tool]; len(d.where) > 0 {
			r.doubted("the wire's counter and the sessions disagree about tools/call %s: %d sent by the sessions, %d counted on the wire %s; first at %s",
				tool, d.sent, d.counted, helperWire, d.where[0])
		}
	}
	return r
}

// position is what both sides know of a request. Sessions number from 1 each, so
// two of them may share one.
type position struct{ tool, id string }

type disagreement struct {
	sent, counted int
	where         []string
}

func positions(said map[position]int, counted map[position]span) []position {
	all := maps.Clone(counted)
	for at := range said {
		all[at] = counted[at]
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b position) int {
		if c := compareText(a.tool, b.tool); c != 0 {
			return c
		}
		if len(a.id) != len(b.id) { // numbers in the order of numbers
			return len(a.id) - len(b.id)
		}
		return compareText(a.id, b.id)
	})
}

func compareText(a, b string) int { return bytes.Compare([]byte(a), []byte(b)) }

// sentCall is one tools/call as a session recorded it; group is what tells the
// call that it belongs to.
type sentCall struct {
	position
	group string
}

func sentCalls(h history.History) []sentCall {
	var all []sentCall
	for _, e := range h.Events {
		if e.Kind != history.KindMessage || !e.Message.Outgoing {
			continue
		}
		if id, call, ok := firstCall([]byte(e.Message.Raw)); ok {
			all = append(all, sentCall{
				position: position{tool: call.Name, id: id},
				group:    groupOf(e.Message.Session, call.Name, call.Arguments),
			})
		}
	}
	return all
}

// envelope is what is read of a JSON-RPC message.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// named are the parameters of a tools/call.
type named struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// firstCall reads a message as the proxy does: a batch is known by its first
// part, and what is no JSON-RPC is no call.
func firstCall(raw []byte) (id string, call named, ok bool) {
	var parts []envelope
	if json.Unmarshal(raw, &parts) != nil {
		var one envelope
		if json.Unmarshal(raw, &one) != nil {
			return "", named{}, false
		}
		parts = []envelope{one}
	}
	for _, part := range parts {
		if part.JSONRPC != "2.0" {
			continue
		}
		if json.Unmarshal(part.Params, &call) != nil {
			call = named{} // parameters of another shape name no tool
		}
		return string(part.ID), call, part.Method == "tools/call"
	}
	return "", named{}, false
}

// groupOf names the calls of one session with the same tool and arguments.
func groupOf(session, tool string, arguments json.RawMessage) string {
	var value any
	if json.Unmarshal(arguments, &value) == nil {
		if canonical, err := json.Marshal(value); err == nil {
			arguments = canonical
		}
	}
	return session + "\x00" + tool + "\x00" + string(arguments)
}

// span is how often a request was counted. The proxies of two helpers number
// their exchanges alike, so a loss may be a message's end or a message of its own.
type span struct{ least, most int }

func countedCalls(h history.History) map[position]span {
	counted := map[position]span{}
	alone := sessionsOf(h) < 2
	open := map[position]map[int64]int{} // messages of an exchange that may still be dropped or replaced
	for _, e := range h.Events {
		q := e.Request
		if e.Kind != history.KindRequest || q.Wire != helperWire || q.IsAnswer || q.Method != "tools/call" {
			continue
		}
		at := position{tool: q.Tool, id: q.RPCID}
		if open[at] == nil {
			open[at] = map[int64]int{}
		}
		n := counted[at]
		switch q.Action {
		case "forwarded", "held":
			n.least, n.most = n.least+1, n.most+1
			open[at][q.ID]++
		case "dropped", "replaced":
			n.most++
			if open[at][q.ID] == 0 {
				n.least++
			} else {
				open[at][q.ID]--
				if alone {
					n.most-- // nobody else could have sent it
				}
			}
		}
		counted[at] = n
	}
	return counted
}

func sessionsOf(h history.History) int {
	names := map[string]bool{}
	for _, e := range h.Events {
		if e.Kind == history.KindMessage {
			names[e.Message.Session] = true
		}
	}
	return len(names)
}

// excuses counts, by group, the calls whose message may have been lost before it
// came to the counter: their outcome is unknown, and something had cut them off.
func excuses(h history.History) map[string]int {
	budget := map[string]int{}
	for _, o := range h.Operations("") {
		if o.Outcome() == history.Unknown && cutOff(h, o) {
			budget[groupOf(o.Invoked.Session, o.Invoked.Tool, o.Invoked.Arguments)]++
		}
	}
	return budget
}

// cutOff says whether before the call's end a fault was armed that fired, or the
// helper of its session ended.
func cutOff(h history.History, o history.Operation) bool {
	before := func(e history.Event) bool { return o.ReturnedAt == nil || e.Seq < o.ReturnedAt.Seq }
	for _, f := range h.Faults() {
		armed, wasArmed := f.Reached(history.Armed)
		if _, fired := f.Reached(history.Fired); fired && wasArmed && before(armed) {
			return true
		}
	}
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		if e.Kind != history.KindProcess || !before(e) {
			return false
		}
		ended := e.Process.State == history.Killed || e.Process.State == history.Stopped || e.Process.State == history.Exited
		return ended && fmt.Sprintf("%s.%d", e.Process.Name, e.Process.Instance) == o.Invoked.Session
	})
}

// unsentAnswers doubts the sessions' own recording: what was answered was sent.
func (r *Ruling) unsentAnswers(h history.History, messages []sentCall) {
	sent := map[string]int{}
	for _, m := range messages {
		sent[m.group]++
	}
	for _, o := range h.Operations("") {
		if o.Outcome() == history.Unknown {
			continue
		}
		group := groupOf(o.Invoked.Session, o.Invoked.Tool, o.Invoked.Arguments)
		if sent[group]--; sent[group] < 0 && len(messages) > 0 {
			r.doubted("call %s (%s) was answered, and no session recorded that it was sent", o.Invoked.ID, o.Invoked.Tool)
		}
	}
}
