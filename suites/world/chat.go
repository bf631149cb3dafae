package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// OutsideAnswer is an answer that the outside service was told to give to one
// request, in place of its own.
type OutsideAnswer struct {
	w     *World
	text  string
	fault *faults.Placement
	came  int
	count func(chat.State) int // of answers of that kind so far
	given int
}

// RefuseOutside lets the outside service refuse the next request with a text, with
// an HTTP status and its word that nothing was applied.
func (w *World) RefuseOutside(text string, status int) *OutsideAnswer {
	return w.answerOutside("outside-refused", text, fmt.Sprintf("refused with %d", status), chat.RefusePath,
		chat.Refusal{Which: chat.Which{Content: text}, Status: status}, func(s chat.State) int { return s.Refused })
}

// EchoOutside is RefuseOutside with an answer that repeats the text.
func (w *World) EchoOutside(text string, status int) *OutsideAnswer {
	return w.answerOutside("outside-refused", text, fmt.Sprintf("refused with %d, and repeated", status), chat.RefusePath,
		chat.Refusal{Which: chat.Which{Content: text}, Status: status, Echo: true}, func(s chat.State) int { return s.Refused })
}

// Echoed makes sure that the answer which was given has the text.
func (a *OutsideAnswer) Echoed() {
	a.Given()
	if a.w.outside().Passed(wire.Match{Answer: true, Where: func(m wire.Message) bool { return bytes.Contains(m.Body, []byte(a.text)) }}) == 0 {
		Inconclusive("no answer of the outside service had the text %q in it, so that its server had nothing to keep to itself", a.text)
	}
}

// DeliverOutside lets the outside service say of the next delivery with a text
// that it was partial or could not be verified.
func (w *World) DeliverOutside(text, delivery string) *OutsideAnswer {
	return w.answerOutside("outside-receipt", text, "delivery "+delivery, chat.DeliverPath,
		chat.Delivering{Which: chat.Which{Content: text}, Delivery: chat.Delivery(delivery)}, func(s chat.State) int { return -len(s.Deliveries) })
}

func (w *World) answerOutside(name, text, position, path string, wish any, count func(chat.State) int) *OutsideAnswer {
	a := &OutsideAnswer{w: w, text: text, count: count, came: w.outside().Count(carrying(text))}
	a.fault = w.ledger.Arm(name, "wire "+OutsideWire+" · the next request with the text of the step · "+position)
	raw, err := json.Marshal(wish)
	if err != nil {
		Broken("telling the outside service how to answer: %v", err)
	}
	if err := w.request(w.ctx, http.MethodPost, w.chatURL()+path, string(raw)); err != nil {
		Broken("telling the outside service how to answer: %v", err)
	}
	a.given = count(w.chatState())
	return a
}

// Given makes sure that the answer was given, behind the request that got it.
func (a *OutsideAnswer) Given() {
	came := a.w.outside().Count(carrying(a.text)) - a.came
	if came == 0 {
		Inconclusive("no outside request with the text %q came, so that it could not be answered on purpose", a.text)
	}
	a.fault.Reach(history.Matched, map[string]any{"came": came})
	given := a.count(a.w.chatState()) - a.given
	if given != 1 {
		Inconclusive("the outside service was to answer one request with the text %q on purpose, and has answered %d so", a.text, given)
	}
	a.fault.Reach(history.Held, map[string]any{"answered on purpose": given})
	applied := 0
	for _, row := range a.w.Peek("effects", nil) {
		if row["text"] == a.text {
			applied++
		}
	}
	proof := map[bool]string{true: faults.Absent, false: faults.Committed}[applied == 0]
	a.fault.Prove(proof, "the outside service's own count and log", map[string]any{"answered on purpose": given, "applied": applied})
	a.fault.Reach(history.Fired, nil)
	a.fault.Reach(history.Observed, map[string]any{"passed": a.w.outside().Passed(carrying(a.text))})
}

// chatURL is the outside service, past the wire. Only that of holdfast can be told
// how to answer.
func (w *World) chatURL() string {
	to := w.Target.Wires[OutsideWire].To
	if w.Target.Processes[to].Fixture != "chat" {
		Inconclusive("the wire %q does not lead to the fixture chat, so that the outside service cannot be told how to answer", OutsideWire)
	}
	w.openWires()
	return w.known(nil)[to+".url"]
}

func (w *World) chatState() (state chat.State) {
	said, err := w.ask(w.ctx, http.MethodGet, w.chatURL()+chat.StatePath, "")
	if err == nil {
		err = json.Unmarshal(said, &state)
	}
	if err != nil {
		Broken("asking the outside service for its state: %v", err)
	}
	return state
}

// OutsideAway makes the outside service unreachable until it is released:
// connections to it are refused, so that no request leaves.
func (w *World) OutsideAway() *Trouble {
	w.outside()
	return w.away("outside-away", w.wires[OutsideWire])
}

// LookAtChanges records how many outside requests that change something came, and
// how many of them carry one of some texts.
func (w *World) LookAtChanges(when string, texts ...string) {
	change := func(m wire.Message) bool { return m.HTTPMethod != http.MethodGet && m.HTTPMethod != http.MethodHead }
	names := func(m wire.Message) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(m.Body, []byte(text)) })
	}
	line := w.outside()
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &history.Look{
		Surface: history.SurfaceWire, Probe: "changes", When: when,
		Rows: []map[string]any{{
			"came":  line.Count(wire.Match{Where: change}),
			"named": line.Count(wire.Match{Where: func(m wire.Message) bool { return change(m) && names(m) }}),
		}},
	}})
}
