package faults_test

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
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"go.uber.org/goleak"
)

// asHelper makes this test binary a stdio helper instead: see helper.
const asHelper = "HOLDFAST_FAULTS_TEST_STORE"

func TestMain(m *testing.M) {
	if store := os.Getenv(asHelper); store != "" {
		helper(store)
		return
	}
	goleak.VerifyTestMain(m)
}

// helper appends every call's key to its store, synced, and then answers. A call
// of "forgetful" is answered and never stored; "quiet" is stored and not answered.
func helper(store string) {
	f, err := os.OpenFile(store, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c rpcCall
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			continue
		}
		if c.Params.Name != "forgetful" {
			fmt.Fprintln(f, c.Params.Arguments["key"])
			f.Sync()
		}
		if c.Params.Name != "quiet" {
			fmt.Printf("%s\n", resultOf(c.ID, c.Params.Arguments["key"]))
		}
	}
}

type rpcCall struct {
	ID     json.RawMessage `json:"id"`
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

func keyOf(m wire.Message) string {
	var a struct{ Key string }
	json.Unmarshal(m.Arguments(), &a)
	return a.Key
}

// limits bound what must come; a busy machine may take its time.
func limits() wait.Limits {
	l := wait.Default()
	l.Answer, l.Proof, l.Reap, l.Converge = 30*time.Second, 30*time.Second, 30*time.Second, 30*time.Second
	return l
}

// noAnswer, noProof, noDeath and noFact are short about what is not to come.
func noAnswer() wait.Limits { l := limits(); l.Answer = time.Second; return l }
func noProof() wait.Limits  { l := limits(); l.Proof = 50 * time.Millisecond; return l }
func noDeath() wait.Limits  { l := limits(); l.Reap = 50 * time.Millisecond; return l }
func noFact() wait.Limits   { l := limits(); l.Converge = 50 * time.Millisecond; return l }

func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// stage is a target with its recorder: what most tests act on.
type stage struct {
	t      testing.TB
	rec    *history.Recorder
	ledger *faults.Ledger
	line   wire.Line
	// call makes one call and says how it ended; patience bounds it.
	call     func(ctx context.Context, tool, key string) history.Outcome
	stored   func(key string) bool
	victim   *child
	patience time.Duration

	mu   sync.Mutex
	left chan error // over HTTP: how /slow ended
}

func (s *stage) act(tool, key string) func(context.Context) history.Outcome {
	return func(ctx context.Context) history.Outcome { return s.call(ctx, tool, key) }
}

// proof looks into the store itself.
func (s *stage) proof() faults.Proof {
	return faults.Proof{By: "the store", Shows: func(_ context.Context, m wire.Message) (map[string]any, bool, error) {
		there := s.stored(keyOf(m))
		return map[string]any{"key": keyOf(m), "there": there}, there, nil
	}}
}

// httpStage is an HTTP callee that commits and answers; the tool "slow" waits
// behind its commit until its caller has left.
func httpStage(t testing.TB) *stage {
	s := &stage{t: t, rec: history.NewRecorder(nil), patience: 30 * time.Second, left: make(chan error, 4)}
	s.ledger = faults.NewLedger(s.rec)
	keys := map[string]bool{}
	callee := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var c rpcCall
		body, _ := io.ReadAll(r.Body)
		json.Unmarshal(body, &c)
		key := c.Params.Arguments["key"]
		s.mu.Lock()
		keys[key] = true
		s.mu.Unlock()
		if c.Params.Name == "slow" {
			<-r.Context().Done()
			s.left <- r.Context().Err()
			return
		}
		rw.Write(resultOf(c.ID, key))
	}))
	w, err := wire.OpenHTTP(wire.Config{Name: "helper", Callee: callee.URL, Recorder: s.rec})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); w.Close(); callee.Close() })
	client := &http.Client{Transport: transport}
	s.line = w
	s.stored = func(key string) bool { s.mu.Lock(); defer s.mu.Unlock(); return keys[key] }
	s.call = func(ctx context.Context, tool, key string) history.Outcome {
		ctx, cancel := context.WithTimeout(ctx, s.patience)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.URL()+"/mcp", bytes.NewReader(callOf(1, tool, key)))
		response, err := client.Do(r)
		if err != nil {
			return history.Unknown
		}
		defer response.Body.Close()
		if _, err := io.ReadAll(response.Body); err != nil {
			return history.Unknown
		}
		return history.Done
	}
	return s
}

// child is the helper as a process of its own.
type child struct {
	cmd  *exec.Cmd
	dead chan struct{}
}

func (c *child) Name() string { return "helper" }
func (c *child) PID() int     { return c.cmd.Process.Pid }
func (c *child) Kill(context.Context) error {
	err := c.cmd.Process.Kill()
	<-c.dead
	return err
}

// stdioStage is the helper behind a stdio wire.
func stdioStage(t testing.TB) *stage {
	s := &stage{t: t, rec: history.NewRecorder(nil), patience: 30 * time.Second}
	s.ledger = faults.NewLedger(s.rec)
	store := filepath.Join(t.TempDir(), "store")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asHelper+"="+store, "GORACE=atexit_sleep_ms=0") // else its end takes a second
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	stdout.Close()
	s.victim = &child{cmd: cmd, dead: make(chan struct{})}
	go func() { defer close(s.victim.dead); cmd.Wait() }()
	w, err := wire.OpenStdio(wire.Config{Name: "helper", Recorder: s.rec}, in, out)
	if err != nil {
		t.Fatal(err)
	}
	s.line = w
	conn, err := net.Dial("tcp", w.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); w.Close(); <-s.victim.dead })
	s.stored = func(key string) bool {
		text, _ := os.ReadFile(store)
		return slices.Contains(strings.Fields(string(text)), key)
	}
	s.call = sessionOver(s, conn)
	if o := s.call(soon(t), "hello", "hello"); o != history.Done {
		t.Fatalf("the helper does not answer: %s", o)
	}
	return s
}

// sessionOver makes calls over one connection, several at a time.
func sessionOver(s *stage, conn net.Conn) func(context.Context, string, string) history.Outcome {
	var mu sync.Mutex
	waiting := map[int]chan struct{}{}
	over := make(chan struct{})
	next := 0
	go func() {
		defer close(over)
		lines := bufio.NewScanner(conn)
		for lines.Scan() {
			var answer struct{ ID int }
			json.Unmarshal(lines.Bytes(), &answer)
			mu.Lock()
			if c := waiting[answer.ID]; c != nil {
				close(c)
				delete(waiting, answer.ID)
			}
			mu.Unlock()
		}
	}()
	return func(ctx context.Context, tool, key string) history.Outcome {
		ctx, cancel := context.WithTimeout(ctx, s.patience)
		defer cancel()
		mu.Lock()
		next++
		id, answered := next, make(chan struct{})
		waiting[id] = answered
		_, err := conn.Write(append(callOf(id, tool, key), '\n'))
		mu.Unlock()
		if err != nil {
			return history.Unknown
		}
		select {
		case <-answered:
			return history.Done
		case <-ctx.Done():
			return history.Unknown
		case <-over:
		}
		select {
		case <-answered: // it came just before the end
			return history.Done
		default:
			return history.Unknown
		}
	}
}

// trace is the only fault of the history.
func (s *stage) trace() history.FaultTrace {
	s.t.Helper()
	h, err := s.rec.History()
	if err != nil {
		s.t.Fatal(err)
	}
	all := h.Faults()
	if len(all) == 0 {
		s.t.Fatal("no fault is recorded")
	}
	return all[len(all)-1]
}

func stagesOf(f history.FaultTrace) string {
	var all []string
	for _, e := range f.Stages {
		all = append(all, string(e.Fault.Stage))
	}
	return strings.Join(all, " ")
}

const whole = "armed matched held proven fired observed healed"

// wantWhole checks that a fault went through every stage, and how it was proven.
func (s *stage) wantWhole(proof string) {
	s.t.Helper()
	f := s.trace()
	if got := stagesOf(f); got != whole {
		s.t.Errorf("%s (%s) came to %q, expected %q", f.Name, f.Position, got, whole)
	}
	if e, ok := f.Reached(history.Proven); !ok || e.Fault.Proof != proof || e.Fault.By == "" {
		s.t.Errorf("%s is proven %+v, expected %q by somebody", f.Name, e.Fault, proof)
	}
}

// wantMissed checks how far a fault came and why no further.
func (s *stage) wantMissed(err error, at history.Stage, why error) {
	s.t.Helper()
	var missed *faults.Missed
	if !errors.As(err, &missed) {
		s.t.Errorf("expected a *faults.Missed, got %v", err)
		return
	}
	if missed.Stage != at || !errors.Is(err, why) {
		s.t.Errorf("missed at %s: %v\nexpected at %s: %v", missed.Stage, err, at, why)
	}
	if _, ok := s.trace().Reached(at); ok {
		s.t.Errorf("stage %s is recorded although it was missed", at)
	}
	if missed.Fault == "" || missed.Position == "" || !strings.Contains(err.Error(), missed.Fault) {
		s.t.Errorf("the error does not say which fault was missed: %v", err)
	}
}

var _ process.Victim = (*child)(nil)
