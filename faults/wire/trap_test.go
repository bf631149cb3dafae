package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

func waitFor(t testing.TB, what string, fact func() bool) {
	t.Helper()
	if err := wait.For(soon(t), what, wait.Default().Proof, func(context.Context) (bool, error) { return fact(), nil }); err != nil {
		t.Fatal(err)
	}
}

func TestOccurrenceIsCountedFromArming(t *testing.T) {
	_, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	ask := func(id int, tool string) {
		w.say(callOf(id, tool, fmt.Sprint("k", id)))
	}
	ask(1, "write")
	w.hear()
	trap := w.Trap(wire.Match{Tool: "write", Occurrence: 2})
	ask(2, "write") // the first since arming
	w.hear()
	ask(3, "read")
	w.hear()
	ask(4, "write")
	held := mustHold(t, trap)
	if held.Message().RPCID != "4" {
		t.Errorf("held the call with id %s, expected 4", held.Message().RPCID)
	}
	held.Release()
	w.hear()
	ask(5, "write") // the trap is spent
	if got := w.hear(); !strings.Contains(got, `"id":5`) {
		t.Errorf("heard %s", got)
	}
}

func TestTwoRequestsAreHeldTogetherAndReleased(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	first := w.Trap(wire.Match{Tool: "start"})
	second := w.Trap(wire.Match{Tool: "start", Occurrence: 2})
	a := w.post(soon(t), "/mcp", callOf(1, "start", "a"))
	b := w.post(soon(t), "/mcp", callOf(2, "start", "b"))
	x, y := mustHold(t, first), mustHold(t, second)
	if s.all() != "" || w.Count(wire.Match{Tool: "start"}) != 2 || w.Passed(wire.Match{Tool: "start"}) != 0 {
		t.Errorf("with both held the callee saw %q", s.all())
	}
	if x.Message().RPCID == y.Message().RPCID {
		t.Errorf("both traps hold call %s", x.Message().RPCID)
	}
	x.Release()
	y.Release()
	if w.await(a).status != 200 || w.await(b).status != 200 || s.times("a") != 1 || s.times("b") != 1 {
		t.Errorf("the callee saw %q", s.all())
	}
}

func TestWhereLooksIntoTheMessage(t *testing.T) {
	_, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	trap := w.Trap(wire.Match{Answer: true, Where: func(m wire.Message) bool {
		return string(m.Arguments()) == `{"key":"two"}` && string(m.Result()) == `{"key":"two"}`
	}})
	for i, key := range []string{"one", "two", "three"} {
		w.say(callOf(i, "write", key))
	}
	if held := mustHold(t, trap); held.Message().RPCID != "1" {
		t.Errorf("held %s", held.Message().Body)
	}
}

func TestTwoTrapsOnOneMessageHoldItInTurn(t *testing.T) {
	_, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	one, two := w.Trap(wire.Match{}), w.Trap(wire.Match{})
	w.say(callOf(1, "write", "a"))
	mustHold(t, one).Release()
	mustHold(t, two).Release()
	w.hear()

	one, two = w.Trap(wire.Match{}), w.Trap(wire.Match{})
	w.say(callOf(2, "write", "b"))
	mustHold(t, one).Drop()
	if _, err := two.Held(soon(t)); err == nil || !strings.Contains(err.Error(), "decided of before") {
		t.Errorf("the second trap holds a message that is lost: %v", err)
	}
}

func TestHeldSaysWhatItWaitedFor(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	trap := w.Trap(wire.Match{Tool: "work_start", Occurrence: 3, Answer: true})
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := trap.Held(over)
	if err == nil || !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "wire helper: waited for work_start · 3rd · answer to be held") ||
		!strings.Contains(err.Error(), "no message came at all") {
		t.Errorf("the error says %v", err)
	}
	w.mustPost("/mcp", callOf(1, "write", "a"))
	if _, err = trap.Held(over); err == nil || !strings.Contains(err.Error(), "since it was armed came 1× write (answer), 1× write (request)") {
		t.Errorf("the error says %v", err)
	}
}

func TestDisarmLetsGo(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	trap := w.Trap(wire.Match{})
	ends := w.post(soon(t), "/mcp", callOf(1, "write", "a"))
	mustHold(t, trap)
	trap.Disarm()
	trap.Disarm()
	if e := w.await(ends); e.status != 200 {
		t.Errorf("the call ended %+v", e)
	}
	never := w.Trap(wire.Match{})
	never.Disarm()
	w.mustPost("/mcp", callOf(2, "write", "b"))
	if _, err := never.Held(soon(t)); err == nil || !strings.Contains(err.Error(), "disarmed") {
		t.Errorf("a disarmed trap says %v", err)
	}
}

func TestGateHoldsAllUntilItIsOpened(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	gate := w.Gate(wire.Match{Path: "/mcp"})
	var ends []<-chan end
	for i := range 3 {
		ends = append(ends, w.post(soon(t), "/mcp", callOf(i, "write", "a")))
	}
	waitFor(t, "three waiting requests", func() bool { return gate.Waiting() == 3 })
	if s.all() != "" {
		t.Errorf("the callee saw %q", s.all())
	}
	gate.Open()
	gate.Open()
	for _, e := range ends {
		if w.await(e).status != 200 {
			t.Error("a request did not come through the opened gate")
		}
	}
	w.mustPost("/mcp", callOf(9, "write", "a"))
	if gate.Waiting() != 0 || s.times("a") != 4 {
		t.Errorf("%d wait, the callee saw %d", gate.Waiting(), s.times("a"))
	}
}

func TestHealReleasesWhatIsHeld(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	w.Gate(wire.Match{Tool: "read"})
	trap := w.Trap(wire.Match{Tool: "write"})
	w.Refuse(5, wire.Match{Tool: "note"})
	a, b := w.post(soon(t), "/mcp", callOf(1, "write", "a")), w.post(soon(t), "/mcp", callOf(2, "read", "b"))
	mustHold(t, trap)
	if err := w.Heal(); err != nil {
		t.Fatal(err)
	}
	if w.await(a).status != 200 || w.await(b).status != 200 || w.mustPost("/mcp", callOf(3, "note", "c")).status != 200 {
		t.Error("a healed wire still held or refused")
	}
}

func TestClosedWire(t *testing.T) {
	for name, open := range map[string]func() (*wire.Wire, func()){
		"http": func() (*wire.Wire, func()) {
			w := newHTTPWire(t, newServer(t).URL)
			trap := w.Trap(wire.Match{})
			ends := w.post(soon(t), "/mcp", callOf(1, "write", "a"))
			held := mustHold(t, trap)
			return w.Wire, func() {
				if e := w.await(ends); e.err == nil {
					t.Errorf("http: the held call was answered: %+v", e)
				}
				held.Release()
				held.Drop()
				held.Replace(200, nil)
				mustClose(t, "the held message's end", held.Settled())
			}
		},
		"stdio": func() (*wire.Wire, func()) {
			c, in, out := newChild(t)
			w := newStdioWire(t, in, out)
			w.say(callOf(1, "write", "a"))
			w.hear()
			return w.Wire, func() { mustClose(t, "the child's end", c.ended) }
		},
		"stdio without a caller": func() (*wire.Wire, func()) {
			c, in, out := newChild(t)
			w, err := wire.OpenStdio(wire.Config{Name: "helper", Recorder: history.NewRecorder(nil)}, in, out)
			if err != nil {
				t.Fatal(err)
			}
			return w, func() { mustClose(t, "the child's end", c.ended) }
		},
	} {
		w, check := open()
		addr := w.Addr()
		w.Close()
		w.Close()
		check()
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			t.Errorf("%s: the port of a closed wire is still open", name)
		}
		if err := w.Cut(wire.Both); err == nil || !strings.Contains(err.Error(), "closed already") {
			t.Errorf("%s: cutting a closed wire: %v", name, err)
		}
		if _, err := w.Trap(wire.Match{}).Held(soon(t)); err == nil || !strings.Contains(err.Error(), "the wire was closed") {
			t.Errorf("%s: a trap on a closed wire: %v", name, err)
		}
		if err := w.Delay(1e6, 0); err == nil {
			t.Errorf("%s: a closed wire took a delay", name)
		}
	}
}

func TestOpenRefusesWhatItCannotBe(t *testing.T) {
	if _, err := wire.OpenHTTP(wire.Config{Name: "x"}); err == nil || !strings.Contains(err.Error(), "set Config.Name and Config.Recorder") {
		t.Errorf("without a recorder: %v", err)
	}
	if _, err := wire.OpenHTTP(wire.Config{Name: "x", Recorder: history.NewRecorder(nil), Callee: "nowhere"}); err == nil || !strings.Contains(err.Error(), `"nowhere" is no base URL`) {
		t.Errorf("without a callee: %v", err)
	}
}

func TestPositionInWords(t *testing.T) {
	for want, m := range map[string]wire.Match{
		"any call · 1st · request":       {},
		"work_start · 2nd · answer":      {Tool: "work_start", Method: "tools/call", Occurrence: 2, Answer: true},
		"initialize · 3rd · request":     {Method: "initialize", Occurrence: 3},
		"POST /session · 11th · request": {HTTPMethod: "POST", Path: "/session", Occurrence: 11},
		"exchange 7 · 23rd · answer":     {Exchange: 7, Occurrence: 23, Answer: true},
	} {
		if m.String() != want {
			t.Errorf("%+v reads %q, expected %q", m, m.String(), want)
		}
	}
}
