package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon bounds every wait of these tests; nothing is judged by it.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// ledger is the callee's store: what was committed, in order.
type ledger struct {
	mu   sync.Mutex
	keys []string
}

func (l *ledger) commit(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys = append(l.keys, key)
}

func (l *ledger) times(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, k := range l.keys {
		if k == key {
			n++
		}
	}
	return n
}

func (l *ledger) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.keys, " ")
}

type rpcCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	} `json:"params"`
}

func callOf(id int, tool, key string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"key":%q}}}`, id, tool, key)
}

func resultOf(id json.RawMessage, key string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"key":%q}}`, id, key)
}

// server is an HTTP callee. Paths: /mcp answers JSON, /sse a stream with a
// notification before the answer, /slow commits and then waits for its caller to
// leave or for let.
type server struct {
	*httptest.Server
	ledger
	conns   atomic.Int64
	left    chan error // of /slow: the context's error, or nil when it was let go
	let     chan struct{}
	entered chan struct{}
}

func newServer(t testing.TB) *server {
	s := &server{left: make(chan error, 8), let: make(chan struct{}), entered: make(chan struct{}, 8)}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(rw http.ResponseWriter, r *http.Request) {
		c := s.take(r)
		rw.Header().Set("Content-Type", "application/json")
		rw.Write(resultOf(c.ID, c.Params.Arguments["key"]))
	})
	mux.HandleFunc("/sse", func(rw http.ResponseWriter, r *http.Request) {
		c := s.take(r)
		rw.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(rw, ": hello\n\nid: 1\ndata:\n\n")
		fmt.Fprintf(rw, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
		rw.(http.Flusher).Flush()
		fmt.Fprintf(rw, "event: message\r\ndata: %s\r\n\r\n", resultOf(c.ID, c.Params.Arguments["key"]))
	})
	mux.HandleFunc("/slow", func(rw http.ResponseWriter, r *http.Request) {
		c := s.take(r)
		s.entered <- struct{}{}
		select {
		case <-r.Context().Done():
			s.left <- r.Context().Err()
		case <-s.let:
			rw.Write(resultOf(c.ID, c.Params.Arguments["key"]))
			s.left <- nil
		}
	})
	s.Server = httptest.NewUnstartedServer(mux)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *server) take(r *http.Request) rpcCall {
	var c rpcCall
	body, _ := io.ReadAll(r.Body)
	json.Unmarshal(body, &c)
	s.commit(c.Params.Arguments["key"])
	return c
}

// httpWire is a wire to a server, with a caller of its own.
type httpWire struct {
	*wire.Wire
	t      testing.TB
	rec    *history.Recorder
	client *http.Client
}

func newHTTPWire(t testing.TB, callee string) *httpWire {
	t.Helper()
	rec := history.NewRecorder(nil)
	w, err := wire.OpenHTTP(wire.Config{Name: "helper", Callee: callee, Recorder: rec, Limits: wait.Default()})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); w.Close() })
	return &httpWire{Wire: w, t: t, rec: rec, client: &http.Client{Transport: transport}}
}

// end is how a call ended for its caller.
type end struct {
	status int
	body   string
	err    error
}

// post calls through the wire and returns its end on a channel.
func (w *httpWire) post(ctx context.Context, path string, body []byte) <-chan end {
	ends := make(chan end, 1)
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL()+path, bytes.NewReader(body))
		if err != nil {
			ends <- end{err: err}
			return
		}
		// With this header net/http would send a POST again by itself.
		r.Header.Set("Idempotency-Key", "k")
		response, err := w.client.Do(r)
		if err != nil {
			ends <- end{err: err}
			return
		}
		defer response.Body.Close()
		all, err := io.ReadAll(response.Body)
		ends <- end{status: response.StatusCode, body: string(all), err: err}
	}()
	return ends
}

func (w *httpWire) mustPost(path string, body []byte) end {
	w.t.Helper()
	e := w.await(w.post(soon(w.t), path, body))
	if e.err != nil {
		w.t.Fatalf("POST %s: %v", path, e.err)
	}
	return e
}

func (w *httpWire) await(ends <-chan end) end {
	w.t.Helper()
	select {
	case e := <-ends:
		return e
	case <-soon(w.t).Done():
		w.t.Fatal("the call did not end")
		return end{}
	}
}

func mustHold(t testing.TB, trap wire.Trap) wire.Held {
	t.Helper()
	held, err := trap.Held(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// actions lists what the history says of a wire: "request tool action" in order.
func actions(t testing.TB, rec *history.Recorder) []string {
	t.Helper()
	h, err := rec.History()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range h.Events {
		if e.Kind != history.KindRequest {
			continue
		}
		phase := "request"
		if e.Request.IsAnswer {
			phase = "answer"
		}
		name := e.Request.Tool
		if name == "" {
			name = e.Request.Method
		}
		all = append(all, strings.TrimSpace(phase+" "+name)+" "+e.Request.Action)
	}
	return all
}

func wantActions(t testing.TB, rec *history.Recorder, want ...string) {
	t.Helper()
	if got := actions(t, rec); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the history of the wire is\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// child stands for a helper on pipes: it commits and answers every tools/call,
// prints garbage when it is told to, and ends when its stdin does.
type child struct {
	ledger
	stdin  *os.File // the child's end
	stdout *os.File
	ended  chan struct{}
}

func newChild(t testing.TB) (c *child, in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c = &child{stdin: stdin, stdout: stdout, ended: make(chan struct{})}
	go c.live()
	return c, in, out
}

func (c *child) live() {
	defer close(c.ended)
	defer c.stdin.Close()
	defer c.stdout.Close()
	lines := bufio.NewScanner(c.stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var call rpcCall
		if json.Unmarshal(lines.Bytes(), &call) != nil {
			fmt.Fprintf(c.stdout, "no JSON: %s\n", lines.Text())
			continue
		}
		key := call.Params.Arguments["key"]
		c.commit(key)
		switch call.Params.Name {
		case "die":
			fmt.Fprintf(c.stdout, "%s\nlast words, no newline", resultOf(call.ID, key))
			return
		default:
			if _, err := c.stdout.Write(append(resultOf(call.ID, key), '\n')); err != nil {
				return
			}
		}
	}
}

// stdioWire is a wire to a child with its caller's connection.
type stdioWire struct {
	*wire.Wire
	t     testing.TB
	rec   *history.Recorder
	conn  net.Conn
	lines *bufio.Reader
}

func newStdioWire(t testing.TB, in io.WriteCloser, out io.ReadCloser) *stdioWire {
	t.Helper()
	rec := history.NewRecorder(nil)
	w, err := wire.OpenStdio(wire.Config{Name: "helper", Recorder: rec}, in, out)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", w.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); w.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	return &stdioWire{Wire: w, t: t, rec: rec, conn: conn, lines: bufio.NewReader(conn)}
}

func (w *stdioWire) say(line []byte) {
	w.t.Helper()
	if _, err := w.conn.Write(append(line, '\n')); err != nil {
		w.t.Fatal(err)
	}
}

func (w *stdioWire) hear() string {
	w.t.Helper()
	line, err := w.lines.ReadString('\n')
	if err != nil {
		w.t.Fatalf("reading an answer: %v (got %q)", err, line)
	}
	return strings.TrimSpace(line)
}

func mustClose(t testing.TB, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-soon(t).Done():
		t.Fatalf("waited for %s, which did not come", what)
	}
}
