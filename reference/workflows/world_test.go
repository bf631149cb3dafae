package workflows

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// childEnv makes the test binary a server process.
const childEnv = "WORKFLOWS_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := serverProcess(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func serverProcess() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	cfg, err := FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	p, err := DefaultPorts(cfg)
	if err != nil {
		return err
	}
	dieAt(&p, os.Getenv(dieEnv))
	return Run(ctx, cfg, p)
}

// world is a chat service and a folder for servers beside it.
type world struct {
	t      *testing.T
	dir    string
	chat   string // base URL
	client *http.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), client: &http.Client{}}
	service, err := chat.Open(filepath.Join(w.dir, "chat.jsonl"), "tok_chat_for_this_test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("chat.token"), []byte("tok_chat_for_this_test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- chat.Serve(ctx, listener, service) }()
	w.chat = "http://" + listener.Addr().String()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, service.Close()); err != nil {
			t.Errorf("the chat service did not leave in order: %v", err)
		}
		w.client.CloseIdleConnections()
	})
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) env() map[string]string {
	return map[string]string{
		"WORKFLOWS_STORE": w.path("operations"), "CHAT_URL": w.chat, "CHAT_TOKEN_FILE": w.path("chat.token"),
	}
}

func (w *world) control(path string, body any) {
	w.t.Helper()
	raw, _ := json.Marshal(body)
	resp, err := w.client.Post(w.chat+path, "application/json", bytes.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(resp.Body)
		w.t.Fatalf("%s: %d %s", path, resp.StatusCode, said)
	}
}

func (w *world) get(path string, into any) {
	w.t.Helper()
	resp, err := w.client.Get(w.chat + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		w.t.Fatal(err)
	}
}

// effects are the contents that the chat service applied, in order.
func (w *world) effects() []string {
	w.t.Helper()
	var log struct{ Entries []chat.Entry }
	w.get(chat.LogPath, &log)
	all := []string{}
	for _, e := range log.Entries {
		all = append(all, strings.Join(e.Content, "|"))
	}
	return all
}

// untilHeld waits until the chat service holds a request.
func (w *world) untilHeld() {
	w.t.Helper()
	w.until("a held request", func() bool {
		var s chat.State
		w.get(chat.StatePath, &s)
		return len(s.Held) == 1
	})
}

// untilLeft waits until the chat service saw that the caller of a held request has
// gone; only then the request is not applied when it is let go.
func (w *world) untilLeft() {
	w.t.Helper()
	w.until("the caller's leaving", func() bool {
		var s chat.State
		w.get(chat.StatePath, &s)
		return len(s.Held) == 0 && s.Left == 1
	})
}

func (w *world) until(what string, fact func() bool) {
	w.t.Helper()
	err := wait.For(w.t.Context(), what, wait.Default().Converge, func(context.Context) (bool, error) { return fact(), nil })
	if err != nil {
		w.t.Fatal(err)
	}
}

// change rewrites the policy.
func (w *world) change(edit func(*ports.Policy)) {
	w.t.Helper()
	p, err := policy.At(w.path("policy.json")).Current(w.t.Context())
	if errors.Is(err, os.ErrNotExist) {
		p, err = policy.Default(), nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	edit(&p)
	if err := policy.Write(w.path("policy.json"), p); err != nil {
		w.t.Fatal(err)
	}
}

// tool changes the policy of one tool.
func (w *world) tool(name string, edit func(*ports.ToolPolicy)) {
	w.change(func(p *ports.Policy) {
		t := p.Tools[name]
		edit(&t)
		p.Tools[name] = t
	})
}

// server is a server process on stdio, spoken to in raw lines.
type server struct {
	*exec.Cmd
	w    *world
	in   io.WriteCloser
	out  *bufio.Scanner
	logs *bytes.Buffer
	next int
}

func (w *world) launch() *server {
	w.t.Helper()
	return w.launchAt("2025-11-25")
}

func (w *world) launchAt(revision string) *server {
	w.t.Helper()
	return w.launchWith(revision)
}

func (w *world) launchWith(revision string, more ...string) *server {
	w.t.Helper()
	s := &server{Cmd: exec.CommandContext(w.t.Context(), os.Args[0]), w: w, logs: &bytes.Buffer{}}
	s.Env = append(append(os.Environ(), childEnv+"=1"), more...)
	for name, value := range w.env() {
		s.Env = append(s.Env, name+"="+value)
	}
	var err error
	if s.in, err = s.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	s.out = bufio.NewScanner(out)
	s.out.Buffer(nil, 4<<20)
	s.Stderr = s.logs
	if err := s.Start(); err != nil {
		w.t.Fatal(err)
	}
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *server) send(line string) {
	s.w.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.w.t.Fatalf("the server does not listen: %v\n%s", err, s.logs)
	}
}

// kill ends the process as it stands, unless it is dead already.
func (s *server) kill() {
	s.w.t.Helper()
	_ = s.Process.Kill()
	_ = s.Wait()
	if strings.Contains(s.logs.String(), "DATA RACE") {
		s.w.t.Error(s.logs.String())
	}
}

// leave ends the process by ending its input.
func (s *server) leave() {
	s.w.t.Helper()
	g := NewWithT(s.w.t)
	g.Expect(s.in.Close()).To(Succeed())
	g.Expect(s.Wait()).To(Succeed(), s.logs.String())
}

// said is any answer of the server.
type said struct {
	Operation string
	Target    string
	State     string
	Steps     map[string]int
	Code      ports.Code
	Ending    ports.Ending
	Result    json.RawMessage
	Total     int
	Done      int
	Hash      string `json:"confirm_hash"`
	ID        string `json:"confirm_id"`
	Expires   string `json:"expires_at"`

	raw     string
	isError bool
}

type arguments map[string]any

// call makes one call and returns its answer.
func (s *server) call(tool string, a arguments) said {
	s.w.t.Helper()
	return s.read(s.ask(tool, a))
}

// ask makes a call and returns its number.
func (s *server) ask(tool string, a arguments) int {
	s.w.t.Helper()
	s.next++
	raw, err := json.Marshal(a)
	if err != nil {
		s.w.t.Fatal(err)
	}
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, s.next, tool, raw))
	return s.next
}

func (s *server) read(id int) said {
	s.w.t.Helper()
	for s.out.Scan() {
		var m struct {
			ID     *int
			Result struct {
				StructuredContent json.RawMessage `json:"structuredContent"`
				IsError           bool            `json:"isError"`
			}
			Error any
		}
		if err := json.Unmarshal(s.out.Bytes(), &m); err != nil {
			s.w.t.Fatalf("stdout holds %q: %v", s.out.Text(), err)
		}
		if m.ID == nil || *m.ID != id {
			continue
		}
		if m.Error != nil {
			s.w.t.Fatalf("call %d: %v", id, m.Error)
		}
		var a said
		if err := json.Unmarshal(m.Result.StructuredContent, &a); err != nil {
			s.w.t.Fatal(err)
		}
		a.raw, a.isError = s.out.Text(), m.Result.IsError
		return a
	}
	s.w.t.Fatalf("the server ended before it answered %d:\n%s", id, s.logs)
	return said{}
}

func bind(a arguments) arguments {
	if a == nil {
		a = arguments{}
	}
	if _, ok := a["profile"]; !ok {
		a["profile"] = "writer"
	}
	if _, ok := a["target"]; !ok {
		a["target"] = "guild-1"
	}
	return a
}

// confirmed previews a write and returns its arguments with the confirmation.
func (s *server) confirmed(tool string, a arguments) arguments {
	s.w.t.Helper()
	full := arguments{}
	for k, v := range a {
		full[k] = v
	}
	p := s.call(tool, bind(full))
	if p.Ending != ports.Previewed {
		s.w.t.Fatalf("no preview of %s: %s", tool, p.raw)
	}
	out := arguments{"__confirm": true, "__confirm_hash": p.Hash, "__confirm_id": p.ID}
	for k, v := range a {
		out[k] = v
	}
	return out
}

// step is one of a definition.
func step(tool string, a arguments) map[string]any {
	return map[string]any{"tool": tool, "arguments": a}
}

func (s *server) start(steps ...map[string]any) said {
	s.w.t.Helper()
	return s.call("workflow_start", bind(arguments{"steps": steps}))
}

func (s *server) about(verb, id string) said {
	s.w.t.Helper()
	return s.call("workflow_"+verb, bind(arguments{"operation": id}))
}

// ends waits until the operation is no longer running, and says how it stands.
func (s *server) ends(id string) said {
	s.w.t.Helper()
	var last said
	s.w.until("the end of "+id, func() bool {
		last = s.about("status", id)
		return last.State != "running"
	})
	return last
}
