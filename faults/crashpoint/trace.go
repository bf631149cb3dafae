package crashpoint

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint/tracer"
	"github.com/holdfast-mcp/holdfast/faults/crashpoint/trail"
)

// ErrLost is in an error when the tracer ended before its target did, for example
// because the harness killed both.
var ErrLost = errors.New("the tracer is gone")

// ErrMissed is in an error when the target ended without coming to the trigger's
// point.
var ErrMissed = errors.New("the target did not come to that point")

// End is how a traced target ended.
type End struct {
	// Code is its exit code, -1 if Signal ended it ("SIGKILL").
	Code   int
	Signal string
	// Orphans are the threads that were still there, and killed, when its first
	// process had ended.
	Orphans int
}

// Trace is one target under a tracer, seen from the harness. It is safe for
// concurrent use.
type Trace struct {
	folder   string
	dir      *os.File
	listener net.Listener
	plan     Plan
	over     chan struct{} // the reading has ended
	watching sync.WaitGroup

	ordering sync.Mutex // one order at a time
	mu       sync.Mutex
	changed  chan struct{} // closed with every change, and made anew
	conn     net.Conn
	closed   bool
	seq      int
	answers  map[int]trail.Event
	arming   int // the order that begins a new counting
	pid      int
	points   map[int]Point // by number
	blind    []Blind
	held     *Moment
	struck   *Moment
	end      *End
	failed   error
	lost     bool
}

// Prepare makes ready for one target; folder is private to this run. The files
// that the plan names as roots must be there.
func Prepare(folder string, plan Plan) (*Trace, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	if _, err := plan.Check(); err != nil {
		return nil, err
	}
	if plan.Trigger != nil {
		if err := plan.Trigger.Check(); err != nil {
			return nil, err
		}
	}
	folder, err := filepath.Abs(folder)
	if err == nil {
		folder, err = os.MkdirTemp(folder, "tracer-")
	}
	if err != nil {
		return nil, fmt.Errorf("making the tracer's folder: %w", err)
	}
	t := &Trace{folder: folder, plan: plan, over: make(chan struct{}), changed: make(chan struct{}), answers: map[int]trail.Event{}, points: map[int]Point{}}
	if err := t.listen(); err != nil {
		os.RemoveAll(folder)
		return nil, fmt.Errorf("listening for the tracer: %w", err)
	}
	go t.read()
	return t, nil
}

// listen reaches the socket through its folder's descriptor, because the path of
// a socket may only be short.
func (t *Trace) listen() (err error) {
	if t.dir, err = os.Open(t.folder); err != nil {
		return err
	}
	if t.listener, err = net.Listen("unix", t.address()); err != nil {
		t.dir.Close()
	}
	return err
}

func (t *Trace) address() string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", t.dir.Fd(), tracer.Socket)
}

// Argv is the command that runs a command under the tracer. It is started like
// any other process: its streams are the target's, it ends as the target ends, and
// whoever kills it kills the target.
func (t *Trace) Argv(argv []string) []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return append([]string{self, tracer.Verb, t.folder, "--"}, argv...)
}

// Watch tells the trace when the started process is done, so that waits end also
// where it ended before it could call. It returns at once.
func (t *Trace) Watch(done <-chan struct{}) {
	t.watching.Go(func() {
		select {
		case <-done:
			// An empty call, which comes behind that of the tracer, if there was one.
			if call, err := net.Dial("unix", t.address()); err == nil {
				call.Close()
			}
		case <-t.over:
		}
	})
}

// Close ends the trace; a target that still runs is killed.
func (t *Trace) Close() error {
	t.mu.Lock()
	t.closed = true
	if t.conn != nil {
		t.conn.Close()
	}
	t.mu.Unlock()
	t.listener.Close()
	<-t.over
	t.watching.Wait()
	t.dir.Close()
	if err := os.RemoveAll(t.folder); err != nil {
		return fmt.Errorf("removing the tracer's folder: %w", err)
	}
	return nil
}

// read takes in what the tracer tells.
func (t *Trace) read() {
	defer close(t.over)
	conn, err := t.listener.Accept()
	if err != nil {
		t.change(func() { t.lost = true })
		return
	}
	defer conn.Close()
	t.change(func() {
		t.conn = conn
		if t.closed {
			conn.Close()
		}
	})
	if err := t.send(trail.Order{Do: trail.OrderBegin, Plan: &t.plan}); err == nil {
		lines := bufio.NewReader(conn)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				break
			}
			var e trail.Event
			if err := json.Unmarshal(line, &e); err != nil {
				t.change(func() { t.failed = fmt.Errorf("the tracer said %q: %w", line, err) })
				break
			}
			t.change(func() { t.take(e) })
		}
	}
	t.change(func() { t.lost = true })
}

// change changes what is known and wakes who waits for it.
func (t *Trace) change(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do()
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *Trace) take(e trail.Event) {
	switch e.What {
	case trail.EventStarted:
		t.pid = e.PID
	case trail.EventPoint:
		t.points[e.Point.N] = *e.Point // for the second time, if it has come to its end meanwhile
	case trail.EventBlind:
		t.blind = append(t.blind, *e.Blind)
	case trail.EventAnswer:
		t.answers[e.Seq] = e
		if e.Seq == t.arming && e.Refused == "" {
			t.held, t.struck = nil, nil
			clear(t.points)
		}
	case trail.EventHeld:
		t.held = &Moment{*e.Point, e.Side}
	case trail.EventStruck:
		t.struck = &Moment{*e.Point, e.Side}
	case trail.EventEnded:
		t.end = &End{Code: e.Code, Signal: e.Signal, Orphans: e.Orphans}
	case trail.EventFailed:
		t.failed = errors.New(e.Reason)
	}
}

func (t *Trace) send(o trail.Order) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	t.mu.Lock()
	conn := t.conn
	t.mu.Unlock()
	if conn == nil {
		return errors.New("no tracer has called yet")
	}
	_, err = conn.Write(append(line, '\n'))
	return err
}

// until waits for a fact. What ends the target or the tracer ends the wait too.
func (t *Trace) until(ctx context.Context, what string, fact func() bool) error {
	for {
		t.mu.Lock()
		ok, ended, lost, failed, changed := fact(), t.end != nil, t.lost, t.failed, t.changed
		t.mu.Unlock()
		switch {
		case ok:
			return nil
		case failed != nil:
			return fmt.Errorf("tracing, waiting for %s: %w", what, unavailable(failed))
		case ended:
			return fmt.Errorf("tracing, waiting for %s: %w: it has ended", what, ErrMissed)
		case lost:
			return fmt.Errorf("tracing, waiting for %s: %w", what, ErrLost)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("tracing, waiting for %s: %w", what, ctx.Err())
		}
	}
}
