package wire_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/faults/wire"
)

func TestStdioCarriesCallsAndGarbageUnharmed(t *testing.T) {
	c, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	w.say(callOf(1, "write", "a"))
	if got := w.hear(); got != string(resultOf([]byte("1"), "a")) {
		t.Errorf("heard %s", got)
	}
	w.say([]byte("{garbage \x00\xff"))
	if got := w.hear(); got != "no JSON: {garbage \x00\xff" {
		t.Errorf("garbage came back as %q", got)
	}
	long := strings.Repeat("x", 300<<10)
	w.say(callOf(2, "write", long))
	if got := w.hear(); got != string(resultOf([]byte("2"), long)) {
		t.Errorf("a line of 300 kB came back with %d bytes", len(got))
	}
	if c.times("a") != 1 || w.Count(wire.Match{Tool: "write"}) != 2 || w.Count(wire.Match{Tool: "write", Answer: true}) != 2 {
		t.Errorf("counted %d requests, %d answers", w.Count(wire.Match{Tool: "write"}), w.Count(wire.Match{Tool: "write", Answer: true}))
	}
}

func TestStdioEndOfTheCallerEndsTheChildsInput(t *testing.T) {
	c, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	w.say(callOf(1, "write", "a"))
	w.hear()
	w.conn.Close()
	mustClose(t, "the child's end", c.ended)
}

func TestStdioKeepCalleeDrainsTheChild(t *testing.T) {
	c, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	w.KeepCallee(true)
	w.say(callOf(1, "write", "a"))
	w.hear()
	w.conn.Close()
	// What a child goes on saying must not block it, or be lost for the count.
	for range 2000 {
		fmt.Fprintf(c.stdout, "%s\n", strings.Repeat("y", 100))
	}
	select {
	case <-c.ended:
		t.Error("the child's input ended although it was to be kept open")
	default:
	}
	w.Close()
	mustClose(t, "the child's end at the wire's", c.ended)
}

func TestStdioLastWordsAreFlushedBeforeTheEnd(t *testing.T) {
	_, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	trap := w.Trap(wire.Match{Tool: "write", Answer: true})
	w.say(callOf(1, "write", "held"))
	held := mustHold(t, trap)
	w.say(callOf(2, "die", "b"))
	if got := w.hear(); got != string(resultOf([]byte("2"), "b")) {
		t.Errorf("heard %s", got)
	}
	// The child is dead; the answer that it left behind can still be delivered.
	held.Release()
	rest, err := io.ReadAll(w.lines)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"last words, no newline", string(resultOf([]byte("1"), "held"))} {
		if !strings.Contains(string(rest), want) {
			t.Errorf("%q is missing in what came before the end: %q", want, rest)
		}
	}
}

func TestStdioWithheldAnswerLeavesTheSessionUsable(t *testing.T) {
	c, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	trap := w.Trap(wire.Match{Tool: "write", Answer: true, Occurrence: 2})
	for i := 1; i <= 3; i++ {
		w.say(callOf(i, "write", fmt.Sprint("k", i)))
	}
	mustHold(t, trap).Drop()
	for _, want := range []string{"1", "3"} {
		if got := w.hear(); !strings.Contains(got, `"id":`+want) {
			t.Errorf("heard %s, expected the answer to %s", got, want)
		}
	}
	w.say(callOf(4, "write", "k4"))
	if got := w.hear(); !strings.Contains(got, `"id":4`) {
		t.Errorf("heard %s", got)
	}
	if c.all() != "k1 k2 k3 k4" {
		t.Errorf("the child saw %q", c.all())
	}
}

func TestStdioCut(t *testing.T) {
	for _, side := range []wire.Side{wire.CallerOnly, wire.Both} {
		c, in, out := newChild(t)
		w := newStdioWire(t, in, out)
		trap := w.Trap(wire.Match{Answer: true})
		w.say(callOf(1, "write", "a"))
		held := mustHold(t, trap)
		if err := w.Cut(side); err != nil {
			t.Fatal(err)
		}
		held.Release()
		mustClose(t, "the lost answer", held.Settled())
		if _, err := w.lines.ReadString('\n'); err == nil {
			t.Errorf("%v: the lost answer came", side)
		}
		if side == wire.Both {
			mustClose(t, "the child's end", c.ended)
		} else {
			select {
			case <-c.ended:
				t.Errorf("%v: the child saw the cut", side)
			default:
			}
		}
		if err := w.Heal(); !errors.Is(err, wire.ErrSevered) {
			t.Errorf("%v: healing a cut stdio wire: %v", side, err)
		}
		if w.Passed(wire.Match{Answer: true}) != 0 {
			t.Errorf("%v: the lost answer counts as passed", side)
		}
		w.Close()
		mustClose(t, "the child's end at the wire's", c.ended)
	}
}

func TestStdioDuplicateReplaceRefuse(t *testing.T) {
	c, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	trap := w.Trap(wire.Match{Tool: "write"})
	w.say(callOf(1, "write", "twice"))
	mustHold(t, trap).Duplicate()
	if got := w.hear(); got != string(resultOf([]byte("1"), "twice")) {
		t.Errorf("heard %s", got)
	}
	w.Refuse(1, wire.Match{Tool: "write"})
	w.say(callOf(2, "write", "refused"))
	if got := w.hear(); !strings.Contains(got, `"id":2,"error"`) {
		t.Errorf("a refused call is answered %s", got)
	}
	answer := w.Trap(wire.Match{Tool: "write", Answer: true})
	w.say(callOf(3, "write", "b"))
	mustHold(t, answer).Replace(0, []byte("{\n \"other\": 1\n}"))
	if got := w.hear(); got != `{"other":1}` {
		t.Errorf("a replaced answer is %s", got)
	}
	if c.all() != "twice twice b" {
		t.Errorf("the child saw %q", c.all())
	}
	if n := w.Passed(wire.Match{Tool: "write", Answer: true}); n != 1 {
		t.Errorf("%d answers passed, expected 1: of the duplicate one is dropped, the others are made by the wire", n)
	}
}

func TestStdioTakesOneCaller(t *testing.T) {
	_, in, out := newChild(t)
	w := newStdioWire(t, in, out)
	w.say(callOf(1, "write", "a"))
	w.hear()
	second, err := net.Dial("tcp", w.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if n, err := second.Read(make([]byte, 1)); err == nil {
		t.Errorf("a second caller read %d bytes, expected an end", n)
	}
	if err := w.SetCallee("http://127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "needs a new wire") {
		t.Errorf("a stdio wire took a base URL: %v", err)
	}
}
