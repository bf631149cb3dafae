package judge

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// helperWire is the wire between a caller and the helper, in the target file's word.
const helperWire = "helper"

// Counted is the control of the wire's counter, for every spec: the tools/call
// requests, and those about tasks, that the harness's proxy counted on the helper's
// wire are those that the sessions recorded as sent, by tool and JSON-RPC id. What the proxy
// duplicated counts once. A message that was sent when the wire was cut, or its
// helper gone, may be missing on the counter, but only if its caller never
// learned the outcome. Sessions with a page have no such wire. A disagreement is the harness's own and so a doubt.
func Counted(h history.History) Ruling {
	var r Ruling
	messages := sentCalls(h)
	if len(messages) == 0 && len(h.Operations("")) > 0 {
		r.doubted("calls were made, and the sessions recorded no tools/call that was sent")
	}
	r.unsentAnswers(h, messages)
	messages = overTheWire(h, messages)
	said, counted := map[position]int{}, countedCalls(h)
	excused, excuses := map[position]int{}, excusesOf(h)
	for _, m := range messages {
		said[m.position]++
	}
	for _, m := range messages {
		if counted[m.position].most+excused[m.position] < said[m.position] && excuses.take(m) {
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

// overTheWire are the calls of sessions that have a wire.
func overTheWire(h history.History, all []sentCall) []sentCall {
	pages := map[string]bool{}
	for _, m := range h.Marks("page opened") {
		if name, ok := m.Data["session"].(string); ok {
			pages[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c sentCall) bool { return pages[c.session] })
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

// span is how often a request was counted. The proxies of two helpers number
// their exchanges alike, so a loss may be a message's end or a message of its own.
type span struct{ least, most int }

func countedCalls(h history.History) map[position]span {
	counted := map[position]span{}
	alone := sessionsOf(h) < 2
	open := map[position]map[int64]int{} // messages of an exchange that may still be dropped or replaced
	for _, e := range h.Events {
		q := e.Request
		if e.Kind != history.KindRequest || q.Wire != helperWire || q.IsAnswer || !isCounted(q.Method) {
			continue
		}
		at := position{tool: q.Tool, id: q.RPCID}
		if aboutTasks(q.Method) {
			at.tool = q.Method
		}
		if open[at] == nil {
			open[at] = map[int64]int{}
		}
		n := counted[at]
		switch q.Action {
		case "forwarded", "held":
			n.least, n.most = n.least+1, n.most+1
			open[at][q.ID]++
		case "dropped", "replaced":
			switch {
			case open[at][q.ID] == 0: // it was lost as it came
				n.least, n.most = n.least+1, n.most+1
			case alone: // nobody else could have sent it
				open[at][q.ID]--
			default:
				open[at][q.ID]--
				n.most++
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

// excuse is a call whose message may have been lost before it came to the
// counter: its outcome is unknown, and something had cut it off.
type excuse struct {
	group      string
	since, end int64 // the message was recorded in between
	used       bool
}

type excuseList []*excuse

func excusesOf(h history.History) excuseList {
	var all excuseList
	for _, o := range h.Operations("") {
		if o.Outcome() == history.Unknown && cutOff(h, o) {
			x := &excuse{group: groupOf(o.Invoked.Session, o.Invoked.Tool, o.Invoked.Arguments), since: o.InvokedAt.Seq, end: never}
			if o.ReturnedAt != nil {
				x.end = o.ReturnedAt.Seq
			}
			all = append(all, x)
		}
	}
	return all
}

// take uses the excuse of a message, if it has one that is not used yet.
func (all excuseList) take(m sentCall) bool {
	for _, x := range all {
		if !x.used && x.group == m.group && x.since < m.seq && m.seq < x.end {
			x.used = true
			return true
		}
	}
	return false
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
