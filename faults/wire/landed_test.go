package wire_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/wire"
)

// sendAndLeave writes a whole request and closes the connection at once, as the
// kernel does for a caller that is killed.
func sendAndLeave(t *testing.T, addr, path string, body []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body); err != nil {
		t.Fatal(err)
	}
}

// A caller that was killed behind its last write has sent a request that may still
// be under way; once everything has landed it was counted, passed and applied.
func TestWhatACallerHasSentHasLanded(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	for n := 1; n <= 300; n++ {
		key := fmt.Sprintf("k%d", n)
		sendAndLeave(t, w.Addr(), "/mcp", callOf(n, "write", key))
		if err := w.Landed(soon(t)); err != nil {
			t.Fatal(err)
		}
		if s.times(key) != 1 {
			t.Fatalf("after %d requests the callee saw %q", n, s.all())
		}
		if came, passed, answered := w.Count(wire.Match{}), w.Passed(wire.Match{}), w.Count(wire.Match{Answer: true}); came != n || passed != n || answered != n {
			t.Fatalf("%d came, %d passed and %d were answered, expected %d each: the fence itself is no message", came, passed, answered, n)
		}
	}
}

func TestLandingWaitsForTheEndOfAnExchange(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	sendAndLeave(t, w.Addr(), "/slow", callOf(1, "write", "slow"))
	short, end := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer end()
	if err := w.Landed(short); err == nil || !strings.Contains(err.Error(), "the end of what was under way on wire") {
		t.Fatalf("it has landed with %v while the callee still works on it", err)
	}
	s.let <- struct{}{}
	if err := w.Landed(soon(t)); err != nil {
		t.Fatal(err)
	}
	if w.Count(wire.Match{Answer: true}) != 1 {
		t.Error("it has landed, and the answer was not counted")
	}
}

// A connection that is kept open and idle has nothing under way.
func TestLandingPassesOverIdleConnections(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	client := &http.Client{}
	defer client.CloseIdleConnections()
	for range 3 {
		answer, err := client.Post(w.URL()+"/mcp", "application/json", strings.NewReader(string(callOf(1, "write", "kept"))))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	if err := w.Landed(soon(t)); err != nil {
		t.Fatal(err)
	}
}

func TestNothingLandsOnAWireThatIsCut(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	if err := w.Cut(wire.CallerOnly); err != nil {
		t.Fatal(err)
	}
	if err := w.Landed(soon(t)); err == nil || !strings.Contains(err.Error(), "a wire that is cut or away lets nothing through") {
		t.Errorf("on a cut wire the error is %v", err)
	}
}

// Whoever sends the header without the wire's own word for it is a caller.
func TestAFenceCannotBeForged(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	ask, err := http.NewRequestWithContext(soon(t), http.MethodPost, w.URL()+"/mcp", strings.NewReader(string(callOf(1, "write", "forged"))))
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Holdfast-Fence", "")
	ask.Close = true
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if s.times("forged") != 1 || w.Count(wire.Match{}) != 1 {
		t.Errorf("the callee saw %q, and %d requests were counted", s.all(), w.Count(wire.Match{}))
	}
}
