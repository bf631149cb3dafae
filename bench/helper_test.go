package bench

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // a driver of database/sql

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// stage is a private folder with a store, and the history of what is done on it,
// written to a file as that of every spec is.
type stage struct {
	b      *testing.B
	run    *launch.Run
	folder string
	rec    *history.Recorder
	starts int
	notes  int // accepted by the store
	item   string
}

func newStage(b *testing.B, run *launch.Run) *stage {
	b.Helper()
	s := &stage{b: b, run: run}
	var err error
	s.folder, err = run.Scratch("bench")
	s.ok(err)
	log, err := os.Create(filepath.Join(s.folder, "history.jsonl"))
	s.ok(err)
	b.Cleanup(func() { log.Close() })
	s.rec = history.NewRecorder(log)
	return s
}

// newRun owns every process and folder of a benchmark, and ends them with it.
func newRun(b *testing.B) *launch.Run {
	b.Helper()
	run, err := launch.NewRun(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := run.Close(); err != nil {
			b.Error(err)
		}
	})
	return run
}

func (s *stage) ok(err error) {
	s.b.Helper()
	if err != nil {
		s.b.Fatal(err)
	}
}

func (s *stage) sidecar() string { return filepath.Join(s.folder, "sidecar.db") }

// command starts a process of the reference, in the environment that a run gives it.
func (s *stage) command(process string, stdio bool, extra map[string]string) launch.Command {
	s.b.Helper()
	env, err := launch.Private(s.folder, extra)
	s.ok(err)
	return launch.Command{Name: process, Argv: []string{binary, "reference", process}, Env: env, Dir: s.folder, Stdio: stdio}
}

func (s *stage) stdioHelper() launch.Command {
	return s.command("helper", true, map[string]string{"SIDECAR": s.sidecar()})
}

// start starts a process.
func (s *stage) start(c launch.Command) *launch.Process {
	s.b.Helper()
	s.starts++
	p, err := s.run.Start(s.b.Context(), c, s.rec, s.starts)
	s.ok(err)
	return p
}

// serve starts the helper over HTTP and returns its base URL.
func (s *stage) serve() string {
	s.b.Helper()
	port, err := s.run.Ports.Next()
	s.ok(err)
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	p := s.start(s.command("helper", false, map[string]string{
		"SIDECAR": s.sidecar(), "HELPER_TRANSPORT": "http", "PORT": fmt.Sprint(port),
	}))
	s.ok(launch.WaitReady(s.b.Context(), p, target.Ready{HTTP: base + "/healthz"}, wait.Default().Ready))
	return base
}

// wire opens a wire to what serves at base, or to a child's pipes.
func (s *stage) wire(base string, child *launch.Process) *wire.Wire {
	s.b.Helper()
	c := wire.Config{Name: "helper", Callee: base, Recorder: s.rec}
	var w *wire.Wire
	var err error
	if child != nil {
		w, err = wire.OpenStdio(c, child.Stdin, child.Stdout)
	} else {
		w, err = wire.OpenHTTP(c)
	}
	s.ok(err)
	s.b.Cleanup(func() { w.Close() }) // it returns no error
	return w
}

// session shakes hands and makes sure of the item that takes the notes.
func (s *stage) session(dialled *mcp.Session) *mcp.Session {
	s.b.Helper()
	s.b.Cleanup(func() { dialled.Close() }) // the server may be gone already
	_, err := dialled.Handshake(s.b.Context())
	s.ok(err)
	s.begin(dialled)
	return dialled
}

// begin starts the item that takes the notes, where the store has none.
func (s *stage) begin(session *mcp.Session) {
	s.b.Helper()
	if s.item != "" {
		return
	}
	reply, err := session.Call(s.b.Context(), "work_start", map[string]string{"task_key": "bench", "title": "Bench", "idempotency_key": "start"})
	s.ok(err)
	s.item = field(s.b, reply, "item_id")
}

func (s *stage) options() mcp.Options { return mcp.Options{Name: "caller", Recorder: s.rec} }

func (s *stage) overHTTP(base string) *mcp.Session {
	s.b.Helper()
	return s.session(mcp.DialHTTP(base+"/mcp", s.options()))
}

func (s *stage) overPipes(p *launch.Process) *mcp.Session {
	s.b.Helper()
	return s.session(mcp.DialStdio(pipes{p.Stdin, p.Stdout}, s.options()))
}

// overBridge is a session over the loopback bridge of a stdio wire.
func (s *stage) overBridge(w *wire.Wire) *mcp.Session {
	s.b.Helper()
	conn, err := net.Dial("tcp", w.Addr())
	s.ok(err)
	return s.session(mcp.DialStdio(conn, s.options()))
}

// key names the next note.
func (s *stage) key() string {
	s.notes++
	return fmt.Sprintf("note-%06d", s.notes)
}

// note makes one durable change through a session; it must be acknowledged.
func (s *stage) note(ctx context.Context, session *mcp.Session) {
	s.b.Helper()
	reply, err := s.call(ctx, session, s.key())
	s.ok(err)
	if state := field(s.b, reply, "state"); state != "queued" {
		s.b.Fatalf("a note was answered with state %q, expected queued: %s", state, reply.Raw)
	}
}

func (s *stage) call(ctx context.Context, session *mcp.Session, key string) (mcp.Reply, error) {
	return session.Call(ctx, "work_note", map[string]string{"item_id": s.item, "text": "A note of usual length, for " + key, "idempotency_key": key})
}

// stored holds the store to what was done: every note is in it, once each.
func (s *stage) stored() {
	s.b.Helper()
	db, err := sql.Open("sqlite", "file:"+s.sidecar()+"?mode=ro")
	s.ok(err)
	defer db.Close()
	var there int
	s.ok(db.QueryRowContext(s.b.Context(), "select count(*) from intents where kind = 'note'").Scan(&there))
	if there != s.notes {
		s.b.Errorf("%d notes were made and %d are in the store: what was measured is not what was meant", s.notes, there)
	}
}

// pipes are a child's stdin and stdout as one connection.
type pipes struct {
	stdin  io.WriteCloser
	stdout io.ReadCloser
}

func (p pipes) Read(into []byte) (int, error)  { return p.stdout.Read(into) }
func (p pipes) Write(from []byte) (int, error) { return p.stdin.Write(from) }
func (p pipes) Close() error {
	p.stdin.Close() // the child may have ended
	return p.stdout.Close()
}
