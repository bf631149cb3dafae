package editor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
	waiting "github.com/holdfast-mcp/holdfast/reports/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a trips server and one editor on it.
type world struct {
	t      *testing.T
	trips  *trips
	person string // base URL of the person's surface
	mcp    string // endpoint, of HTTP
	client *http.Client
	logs   *logs

	in  io.WriteCloser // of stdio
	mu  sync.Mutex
	got map[int]chan reply
	id  int
}

// logs are written by the editor and read by the test.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// reply is what a tool answered.
type reply struct {
	ports.Answer
	Revision          int
	Status            string
	State             ports.State
	Saved             ports.Fields
	HasUnsavedChanges bool
	Unresolved        *ports.Attached
	IsError           bool `json:"-"`
	raw               string
	content           json.RawMessage
}

// args are a call's arguments.
type args = map[string]any

// start runs an editor over stdio, or over HTTP, in this process.
func start(t *testing.T, transport string, change ...func(*Config, *Ports)) *world {
	t.Helper()
	w := &world{t: t, trips: newTrips(t), client: &http.Client{Transport: &http.Transport{}}, logs: &logs{}, got: map[int]chan reply{}}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("pw-ada\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TRIPS_URL": w.trips.URL, "EDITOR_USER": "ada", "EDITOR_TOKEN_FILE": token, "EDITOR_PORT": "0", "PORT": "0", "EDITOR_TRANSPORT": transport}
	cfg, err := FromEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	p, err := DefaultPorts(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(&cfg, &p)
	}
	in, input := io.Pipe()
	output, out := io.Pipe()
	cfg.Stdin, cfg.Stdout, cfg.Stderr = in, out, w.logs
	seated, serving := make(chan string, 1), make(chan string, 1)
	cfg.Seated, cfg.Serving = func(url string) { seated <- url }, func(url string) { serving <- url }
	ctx, cancel := context.WithCancel(context.Background())
	ended, drained := make(chan error, 1), make(chan struct{})
	go func() {
		err := Run(ctx, cfg, p)
		out.Close()
		ended <- err
	}()
	go w.readAll(output, drained)
	t.Cleanup(func() {
		input.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		<-drained
		w.client.CloseIdleConnections()
	})
	select {
	case w.person = <-seated:
	case err := <-ended:
		t.Fatalf("the editor did not start: %v", err)
	}
	w.in = input
	if transport == "http" {
		w.mcp = <-serving
		return w
	}
	w.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	<-w.expect(0)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *world) expect(id int) chan reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.got[id] == nil {
		w.got[id] = make(chan reply, 1)
	}
	return w.got[id]
}

// readAll hands every answer on to who waits for it.
func (w *world) readAll(from io.Reader, drained chan<- struct{}) {
	defer close(drained)
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     *int
			Result struct {
				StructuredContent json.RawMessage
				IsError           bool
			}
			Error any
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.ID == nil {
			continue
		}
		r := reply{IsError: m.Result.IsError, raw: lines.Text(), content: m.Result.StructuredContent}
		_ = json.Unmarshal(m.Result.StructuredContent, &r)
		w.expect(*m.ID) <- r
	}
}

func (w *world) send(line string) {
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Error(err)
	}
}

// calls sends a call and does not wait for its answer.
func (w *world) calls(tool string, a args) (id int, answer <-chan reply) {
	w.t.Helper()
	w.mu.Lock()
	w.id++
	id = w.id
	w.mu.Unlock()
	raw, err := json.Marshal(args{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": args{"name": tool, "arguments": a}})
	if err != nil {
		w.t.Fatal(err)
	}
	answer = w.expect(id)
	w.send(string(raw))
	return id, answer
}

func (w *world) call(tool string, a args) reply {
	w.t.Helper()
	_, answer := w.calls(tool, a)
	return <-answer
}

// cancel is MCP's cancellation of a call.
func (w *world) cancel(id int) {
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
}

func (w *world) get(draft string) reply { return w.call(ports.GetDraft, args{"draftId": draft}) }

func update(command string, revision int, patch args) args {
	return args{"draftId": "trip-1", "expectedRevision": revision, "commandId": command, "patch": patch}
}

func submit(command string, revision int) args {
	return args{"draftId": "trip-1", "expectedRevision": revision, "commandId": command}
}

func about(command string) args { return args{"draftId": "trip-1", "commandId": command} }

// shown is what the person sees.
type shown struct {
	Draft      string
	User       string
	Fields     ports.Fields
	Revision   int
	Status     string
	State      ports.State
	Unresolved *ports.Attached
	Code       ports.Code
	HTTP       int `json:"-"`
}

// person asks the person's surface.
func (w *world) asks(method, path string, body any) shown {
	w.t.Helper()
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		reader = strings.NewReader(string(raw))
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.person+path, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	s := shown{HTTP: resp.StatusCode}
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) sees(draft string) shown {
	w.t.Helper()
	return w.asks(http.MethodGet, "/editor/"+draft, nil)
}

func (w *world) types(field, text string) shown {
	w.t.Helper()
	return w.asks(http.MethodPost, "/editor/trip-1/type", args{"field": field, "text": text})
}

func (w *world) reload() shown {
	w.t.Helper()
	return w.asks(http.MethodPost, "/editor/trip-1/reload", nil)
}

func (w *world) signIn(user string) shown {
	w.t.Helper()
	return w.asks(http.MethodPost, "/session", args{"user": user, "password": "pw-" + user})
}

func (w *world) until(what string, fact func() bool) {
	w.t.Helper()
	err := waiting.For(w.t.Context(), what, waiting.Default().Converge, func(context.Context) (bool, error) { return fact(), nil })
	if err != nil {
		w.t.Fatal(err)
	}
}
