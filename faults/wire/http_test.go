package wire_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

func TestHTTPCarriesACallAndCountsBothWays(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	got := w.mustPost("/mcp", callOf(1, "write", "a"))
	if got.status != 200 || got.body != string(resultOf([]byte("1"), "a")) {
		t.Errorf("the answer is %d %s", got.status, got.body)
	}
	write := wire.Match{Tool: "write"}
	answer := wire.Match{Tool: "write", Answer: true}
	if w.Count(write) != 1 || w.Passed(write) != 1 || w.Count(answer) != 1 || w.Count(wire.Match{Tool: "read"}) != 0 {
		t.Errorf("counted %d requests, %d passed, %d answers", w.Count(write), w.Passed(write), w.Count(answer))
	}
	wantActions(t, w.rec, "request write forwarded", "answer write forwarded")
	m := w.Messages()
	if len(m) != 2 || m[0].Exchange != m[1].Exchange || m[1].Request == nil || string(m[1].Arguments()) != `{"key":"a"}` ||
		string(m[1].Result()) != `{"key":"a"}` || m[1].Status != 200 || m[0].Path != "/mcp" {
		t.Errorf("the messages are %+v", m)
	}
}

func TestHTTPUsesOneConnectionARequest(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	for i := range 5 {
		w.mustPost("/mcp", callOf(i, "write", "a"))
	}
	if n := s.conns.Load(); n != 5 {
		t.Errorf("5 requests used %d connections to the callee, expected 5", n)
	}
}

func TestHTTPStreamIsHeldEventByEvent(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	trap := w.Trap(wire.Match{Tool: "write", Answer: true})
	ends := w.post(soon(t), "/sse", callOf(7, "write", "a"))
	held := mustHold(t, trap)
	if got := string(held.Message().Body); got != string(resultOf([]byte("7"), "a")) {
		t.Errorf("held %s", got)
	}
	if w.Count(wire.Match{Answer: true}) != 1 {
		t.Error("a notification or a comment was counted as an answer")
	}
	held.Release()
	got := w.await(ends)
	if !strings.Contains(got.body, ": hello\n\n") || !strings.Contains(got.body, "notifications/progress") ||
		!strings.HasSuffix(got.body, "data: "+string(resultOf([]byte("7"), "a"))+"\r\n\r\n") {
		t.Errorf("the stream was changed: %q", got.body)
	}
	wantActions(t, w.rec, "request write forwarded", "answer notifications/progress forwarded", "answer write held", "answer write released")
}

func TestHTTPWithheldAnswerLeavesTheCallerWaiting(t *testing.T) {
	for _, path := range []string{"/mcp", "/sse"} {
		s := newServer(t)
		w := newHTTPWire(t, s.URL)
		trap := w.Trap(wire.Match{Answer: true})
		ctx, leave := context.WithCancel(soon(t))
		ends := w.post(ctx, path, callOf(1, "write", "a"))
		held := mustHold(t, trap)
		held.Drop()
		mustClose(t, "the drop", held.Settled())
		select {
		case e := <-ends:
			t.Errorf("%s: the caller was told something: %+v", path, e)
		default:
		}
		leave()
		if e := w.await(ends); e.err == nil {
			t.Errorf("%s: the lost answer came: %q", path, e.body)
		}
		if got := w.mustPost("/mcp", callOf(2, "write", "b")); got.status != 200 {
			t.Errorf("the wire does not carry the next call: %+v", got)
		}
	}
}

func TestHTTPDroppedRequestNeverReachesTheCallee(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	trap := w.Trap(wire.Match{Tool: "write"})
	ctx, leave := context.WithCancel(soon(t))
	ends := w.post(ctx, "/mcp", callOf(1, "write", "a"))
	held := mustHold(t, trap)
	held.Drop()
	mustClose(t, "the drop", held.Settled())
	leave()
	w.await(ends)
	w.mustPost("/mcp", callOf(2, "read", "fence"))
	if s.times("a") != 0 || w.Passed(wire.Match{Tool: "write"}) != 0 || w.Count(wire.Match{Tool: "write"}) != 1 {
		t.Errorf("the callee saw %q; passed %d", s.all(), w.Passed(wire.Match{Tool: "write"}))
	}
	wantActions(t, w.rec, "request write held", "request write dropped", "request read forwarded", "answer read forwarded")
}

// A broken exchange ends at once for its caller, the callee has answered, and what
// the caller sends again goes through and is counted.
func TestHTTPBrokenExchangeLeavesTheWireWhole(t *testing.T) {
	for _, path := range []string{"/mcp", "/sse"} {
		for _, answer := range []bool{true, false} {
			s := newServer(t)
			w := newHTTPWire(t, s.URL)
			trap := w.Trap(wire.Match{Answer: answer})
			ends := w.post(soon(t), path, callOf(1, "write", "a"))
			held := mustHold(t, trap)
			held.Break()
			mustClose(t, "the break", held.Settled())
			if e := w.await(ends); e.err == nil {
				t.Errorf("%s: the caller was told %+v", path, e)
			}
			if got := w.mustPost("/mcp", callOf(1, "write", "a")); got.status != 200 {
				t.Errorf("the wire does not carry the next call: %+v", got)
			}
			want := map[bool]int{true: 2, false: 1}[answer]
			if s.times("a") != want || w.Count(wire.Match{Tool: "write"}) != 2 {
				t.Errorf("%s: the callee saw %q, expected %d; %d requests were counted", path, s.all(), want, w.Count(wire.Match{Tool: "write"}))
			}
		}
	}
}

// The difference between an answer lost and a caller gone is what the callee sees.
func TestHTTPCutShowsTheCalleeOnlyWhenBothSidesAreCut(t *testing.T) {
	for _, side := range []wire.Side{wire.CallerOnly, wire.Both} {
		s := newServer(t)
		w := newHTTPWire(t, s.URL)
		ends := w.post(soon(t), "/slow", callOf(1, "write", "a"))
		mustEnter(t, s)
		if err := w.Cut(side); err != nil {
			t.Fatal(err)
		}
		if e := w.await(ends); e.err == nil {
			t.Errorf("%v: the caller got %q", side, e.body)
		}
		if side == wire.CallerOnly {
			select {
			case err := <-s.left:
				t.Errorf("%v: the callee saw %v", side, err)
			default:
			}
			close(s.let)
		}
		err := <-s.left
		if gone := err != nil; gone != (side == wire.Both) {
			t.Errorf("%v: the callee's context ended with %v", side, err)
		}
		if side == wire.CallerOnly {
			waitFor(t, "the drained answer", func() bool { return w.Count(wire.Match{Answer: true}) == 1 })
		}
		if err := w.Heal(); err != nil {
			t.Fatal(err)
		}
		if got := w.mustPost("/mcp", callOf(2, "write", "b")); got.status != 200 {
			t.Errorf("%v: after healing: %+v", side, got)
		}
		w.Close()
		if n := w.Passed(wire.Match{Answer: true}); n != 1 {
			t.Errorf("%v: %d answers passed, expected only the one after healing", side, n)
		}
	}
}

func mustEnter(t *testing.T, s *server) {
	t.Helper()
	select {
	case <-s.entered:
	case <-soon(t).Done():
		t.Fatal("the callee did not get the call")
	}
}

func TestHTTPCallerThatLeavesByItself(t *testing.T) {
	for _, keep := range []bool{true, false} {
		s := newServer(t)
		w := newHTTPWire(t, s.URL)
		w.KeepCallee(keep)
		ctx, leave := context.WithCancel(soon(t))
		ends := w.post(ctx, "/slow", callOf(1, "write", "a"))
		mustEnter(t, s)
		leave()
		w.await(ends)
		if keep {
			close(s.let)
		}
		if err := <-s.left; (err == nil) != keep {
			t.Errorf("keep %v: the callee's context ended with %v", keep, err)
		}
	}
}

func TestHTTPRequestsAfterACutAreLost(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	if err := w.Cut(wire.CallerOnly); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if e := w.await(w.post(soon(t), "/mcp", callOf(i, "write", "a"))); e.err == nil {
			t.Errorf("call %d through a cut wire was answered: %+v", i, e)
		}
	}
	if err := w.Heal(); err != nil {
		t.Fatal(err)
	}
	w.mustPost("/mcp", callOf(11, "write", "b"))
	if s.all() != "b" {
		t.Errorf("the callee saw %q, expected only the call after healing", s.all())
	}
}

func TestHTTPDuplicateSendsTwiceAndAnswersOnce(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	trap := w.Trap(wire.Match{Tool: "write"})
	ends := w.post(soon(t), "/mcp", callOf(1, "write", "a"))
	mustHold(t, trap).Duplicate()
	if e := w.await(ends); e.status != 200 {
		t.Errorf("the caller got %+v", e)
	}
	waitFor(t, "the answers to both", func() bool { return w.Count(wire.Match{Answer: true}) == 2 })
	if s.times("a") != 2 || w.Passed(wire.Match{Tool: "write"}) != 2 || w.Count(wire.Match{Tool: "write"}) != 1 {
		t.Errorf("the callee saw %q, passed %d", s.all(), w.Passed(wire.Match{Tool: "write"}))
	}
}

func TestHTTPReplace(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	answer := w.Trap(wire.Match{Answer: true})
	ends := w.post(soon(t), "/mcp", callOf(1, "write", "a"))
	mustHold(t, answer).Replace(418, []byte(`{"other":1}`))
	if e := w.await(ends); e.status != 418 || e.body != `{"other":1}` {
		t.Errorf("replaced answer: %+v", e)
	}
	request := w.Trap(wire.Match{})
	ends = w.post(soon(t), "/mcp", callOf(2, "write", "b"))
	mustHold(t, request).Replace(403, []byte(`{}`))
	if e := w.await(ends); e.status != 403 {
		t.Errorf("replaced request: %+v", e)
	}
	if s.all() != "a" {
		t.Errorf("the callee saw %q", s.all())
	}
	wantActions(t, w.rec, "request write forwarded", "answer write held", "answer write replaced",
		"request write held", "request write replaced", "answer write replaced")
}

func TestHTTPRefusesKTimes(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	refusal := w.Refuse(3, wire.Match{Path: "/mcp"})
	for i := range 4 {
		e := w.mustPost("/mcp", callOf(i, "write", "a"))
		if want := map[bool]int{true: 503, false: 200}[i < 3]; e.status != want {
			t.Errorf("call %d: status %d, expected %d", i+1, e.status, want)
		}
	}
	if refusal.Used() != 3 || s.times("a") != 1 {
		t.Errorf("refused %d, the callee saw %d", refusal.Used(), s.times("a"))
	}
	early := w.Refuse(3, wire.Match{})
	early.Stop()
	if e := w.mustPost("/mcp", callOf(9, "write", "b")); e.status != 200 || early.Used() != 0 {
		t.Errorf("a stopped refusal still refused: %+v", e)
	}
}

func TestHTTPAnswersInsteadOfTheCallee(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	instead := w.Instead(2, wire.Match{Path: "/mcp"}, 404, []byte(`{"code":"none"}`))
	for i, want := range []int{404, 404, 200} {
		e := w.mustPost("/mcp", callOf(i, "write", "a"))
		if e.status != want || want == 404 && !strings.Contains(string(e.body), `{"code":"none"}`) {
			t.Errorf("call %d: %d %s, expected %d", i+1, e.status, e.body, want)
		}
	}
	if instead.Used() != 2 || s.times("a") != 1 || w.Passed(wire.Match{}) != 1 || w.Count(wire.Match{}) != 3 {
		t.Errorf("answered %d, the callee saw %d, %d of %d requests passed", instead.Used(), s.times("a"), w.Passed(wire.Match{}), w.Count(wire.Match{}))
	}
}

func TestHTTPNewCalleeAndNoCallee(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	if err := w.SetCallee("http://" + free.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if e := w.await(w.post(soon(t), "/mcp", callOf(1, "write", "a"))); e.err == nil {
		t.Errorf("with no callee the caller was answered: %+v", e)
	}
	if w.Passed(wire.Match{}) != 0 {
		t.Error("a request that found no callee counts as passed")
	}
	if err := w.SetCallee(s.URL); err != nil {
		t.Fatal(err)
	}
	w.mustPost("/mcp", callOf(2, "write", "b"))
	wantActions(t, w.rec, "request write dropped", "request write forwarded", "answer write forwarded")
	for _, bad := range []string{"", "ftp://x", "127.0.0.1:80", "http://"} {
		if err := w.SetCallee(bad); err == nil || !strings.Contains(err.Error(), "expected http://host:port") {
			t.Errorf("callee %q: %v", bad, err)
		}
	}
}

func TestHTTPHeldRequestOutlivesItsCaller(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	trap := w.Trap(wire.Match{})
	ctx, leave := context.WithCancel(soon(t))
	ends := w.post(ctx, "/mcp", callOf(1, "write", "late"))
	held := mustHold(t, trap)
	leave()
	w.await(ends)
	if s.times("late") != 0 {
		t.Fatal("the held request reached the callee")
	}
	held.Release()
	mustClose(t, "the late request", held.Settled())
	w.await(w.post(soon(t), "/mcp", callOf(2, "write", "fence")))
	answers := wire.Match{Answer: true, Exchange: held.Message().Exchange}
	waitFor(t, "the late request's answer", func() bool { return w.Count(answers) == 1 })
	if s.times("late") != 1 {
		t.Errorf("the callee saw %q", s.all())
	}
}

func TestHTTPDelayIsToxiproxys(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	w.mustPost("/mcp", callOf(1, "write", "a"))
	for range 2 { // set anew on the same connection, too
		if err := w.Delay(0, 30*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		w.mustPost("/mcp", callOf(2, "write", "a"))
		if took := time.Since(began); took < 30*time.Millisecond {
			t.Errorf("with 30 ms of latency a call took %v", took)
		}
		if err := w.Heal(); err != nil {
			t.Fatal(err)
		}
	}
	w.mustPost("/mcp", callOf(3, "write", "a"))
}

func TestHTTPGetStreamEndsWithItsCaller(t *testing.T) {
	open, ended := make(chan struct{}), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /mcp", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		rw.(http.Flusher).Flush()
		close(open)
		<-r.Context().Done()
		close(ended)
	})
	server := &http.Server{Handler: mux}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	w := newHTTPWire(t, "http://"+listener.Addr().String())
	ctx, leave := context.WithCancel(soon(t))
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, w.URL()+"/mcp", nil)
	response, err := w.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	mustClose(t, "the stream", open)
	leave()
	mustClose(t, "the end of the stream at the callee", ended)
}

func TestHTTPHistoryCarriesWhatJudgesCount(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	w.mustPost("/mcp", callOf(5, "write", "a"))
	h, err := w.rec.History()
	if err != nil {
		t.Fatal(err)
	}
	want := []history.Request{
		{Wire: "helper", ID: 1, Method: "tools/call", Path: "/mcp", Tool: "write", RPCID: "5", Bytes: len(callOf(5, "write", "a")), Action: "forwarded"},
		{Wire: "helper", ID: 1, IsAnswer: true, Method: "tools/call", Path: "/mcp", Tool: "write", RPCID: "5", Status: 200, Bytes: len(resultOf([]byte("5"), "a")), Action: "forwarded"},
	}
	for i, e := range h.Events {
		if *e.Request != want[i] {
			t.Errorf("event %d is %+v\nexpected %+v", i+1, *e.Request, want[i])
		}
	}
}

func TestHTTPWireThatIsAwayRefusesConnections(t *testing.T) {
	s := newServer(t)
	w := newHTTPWire(t, s.URL)
	w.mustPost("/mcp", callOf(1, "write", "a"))
	for range 2 {
		w.client.CloseIdleConnections()
		if err := w.Away(true); err != nil {
			t.Fatal(err)
		}
		if _, err := net.Dial("tcp", w.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("a connection to a wire that is away came to %v, expected it to be refused", err)
		}
		if err := w.Away(false); err != nil {
			t.Fatal(err)
		}
		w.mustPost("/mcp", callOf(2, "write", "b"))
	}
	if n := w.Count(wire.Match{Tool: "write"}); n != 3 {
		t.Errorf("%d requests came, expected 3", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Away(true); err == nil || !strings.Contains(err.Error(), "is closed: its address cannot be let go or taken again") {
		t.Errorf("a closed wire that is to be away says %v", err)
	}
}
