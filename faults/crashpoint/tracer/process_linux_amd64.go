package tracer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint/trail"
)

// broken is the exit code of a tracer that could not do its work; the harness is
// told why, and so is stderr.
const broken = 125

// process is the tracer.
type process struct {
	conn  net.Conn
	lines *bufio.Reader
	loop  *loop
	tid   int // of the thread that traces
	inbox chan order
	// unsaid is what the harness has not been told yet.
	unsaid []byte
	over   atomic.Bool // the target has ended, and so the harness may go
}

// order is an order of the harness, and how the loop's thread says that it has it.
type order struct {
	trail.Order
	taken chan struct{}
}

func runTracer(folder string, argv []string) {
	runtime.LockOSThread()
	p := &process{tid: unix.Gettid(), inbox: make(chan order, 1)}
	status, err := p.run(folder, argv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "holdfast tracer:", err)
		if p.conn != nil {
			p.say(trail.Event{What: trail.EventFailed, Reason: err.Error()})
		}
		os.Exit(broken)
	}
	pass(status)
}

func (p *process) run(folder string, argv []string) (unix.WaitStatus, error) {
	plan, err := p.begin(folder)
	if err != nil {
		return 0, err
	}
	d, err := newDescriber(*plan)
	if err != nil {
		return 0, err
	}
	p.loop = &loop{describer: d, tell: p.say, tracees: map[int]*tracee{}, blinds: map[trail.Blind]bool{}}
	d.threads = func() []int { return slices.Collect(maps.Keys(p.loop.tracees)) }
	if plan.Armed {
		p.loop.arm(plan.Trigger)
	}
	heedSignals()
	why, err := p.start(argv)
	if err != nil {
		return 0, err
	}
	go p.listen()
	p.loop.run(p.obey)
	p.finish(why)
	return p.loop.status, nil
}

// begin calls the harness and reads its plan. The socket is reached through its
// folder's descriptor, because the path of a socket may only be short.
func (p *process) begin(folder string) (*trail.Plan, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, fmt.Errorf("calling the harness: %w", err)
	}
	defer dir.Close()
	p.conn, err = net.Dial("unix", filepath.Join(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()), Socket))
	if err != nil {
		return nil, fmt.Errorf("calling the harness: %w; a tracer is started by holdfast only", err)
	}
	p.lines = bufio.NewReader(p.conn)
	o, err := p.read()
	if err != nil {
		return nil, fmt.Errorf("waiting for the plan: %w", err)
	}
	if o.Do != trail.OrderBegin || o.Plan == nil {
		return nil, fmt.Errorf("waiting for the plan: got the order %q", o.Do)
	}
	return o.Plan, nil
}

func (p *process) read() (trail.Order, error) {
	var o trail.Order
	line, err := p.lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	return o, err
}

// enough is how many bytes of points are gathered before they are told: to tell
// each one would cost more than to trace it.
const enough = 16 << 10

// say tells the harness. Points of files wait for what comes next: for enough of
// them, an acknowledgement, or anything else.
func (p *process) say(e trail.Event) {
	line, err := json.Marshal(e)
	if err == nil {
		p.unsaid = append(append(p.unsaid, line...), '\n')
		if e.What == trail.EventPoint && e.Point.Kind == trail.State && len(p.unsaid) < enough {
			return
		}
		// Where the harness is gone there is nothing left to trace for, and the
		// target ends with this process.
		_, err = p.conn.Write(p.unsaid)
		p.unsaid = p.unsaid[:0]
	}
	if err != nil && !p.over.Load() {
		os.Exit(broken)
	}
}

// listen hands the harness's orders to the loop.
func (p *process) listen() {
	for {
		o, err := p.read()
		if err != nil {
			if !p.over.Load() {
				os.Exit(broken) // the harness is gone, and the target goes with this process
			}
			return
		}
		in := order{Order: o, taken: make(chan struct{})}
		p.inbox <- in
		p.knock(in.taken)
	}
}

// knock ends the loop's wait. A knock between its look into the inbox and its
// wait is lost, hence another one until the order is taken.
func (p *process) knock(taken <-chan struct{}) {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		unix.Tgkill(os.Getpid(), p.tid, unix.SIGUSR1)
		select {
		case <-taken:
			return
		case <-again.C:
		}
	}
}

// obey carries out what has been ordered.
func (p *process) obey() {
	for {
		select {
		case o := <-p.inbox:
			answer := trail.Event{What: trail.EventAnswer, Seq: o.Seq}
			if err := p.loop.carryOut(o.Order); err != nil {
				answer.Refused = err.Error()
			}
			answer.N = p.loop.n
			p.say(answer)
			close(o.taken)
		default:
			return
		}
	}
}

func (l *loop) carryOut(o trail.Order) error {
	switch o.Do {
	case trail.OrderArm:
		if l.frozen != nil {
			return errors.New("it is held at a point; release or kill it first")
		}
		l.arm(o.Trigger)
	case trail.OrderDisarm:
		l.armed, l.trigger, l.failing = false, nil, nil
		l.tellAllUnfinished()
	case trail.OrderRelease:
		if l.frozen == nil {
			return errors.New("it is not held at any point")
		}
		l.release()
	case trail.OrderKill:
		if l.frozen != nil {
			l.struck = l.frozen.point
		}
		l.killAll()
	default:
		return fmt.Errorf("there is no order %q", o.Do)
	}
	return nil
}

// finish tells how it ended.
func (p *process) finish(why *os.File) {
	p.over.Store(true)
	l := p.loop
	if !l.started {
		reason := "the target did not start"
		if text, _ := io.ReadAll(why); len(text) > 0 && text[0] == saysError {
			reason = string(text[1:])
		} else if len(text) > 0 {
			reason = string(text)
		}
		fmt.Fprintln(os.Stderr, "holdfast tracer:", reason)
		p.say(trail.Event{What: trail.EventFailed, Reason: reason})
	}
	if l.struck != nil {
		p.say(trail.Event{What: trail.EventStruck, Point: l.struck, Side: l.side})
	}
	end := trail.Event{What: trail.EventEnded, N: l.n, Code: -1, Orphans: l.orphans}
	if l.status.Signaled() {
		end.Signal = unix.SignalName(l.status.Signal())
	} else {
		end.Code = l.status.ExitStatus()
	}
	p.say(end)
}

// pass ends this process as the target has ended.
func pass(status unix.WaitStatus) {
	if !status.Signaled() {
		os.Exit(status.ExitStatus())
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	deadly(status.Signal())
	unix.Tgkill(os.Getpid(), unix.Gettid(), status.Signal())
	os.Exit(128 + int(status.Signal())) // a signal that kills nobody by itself
}
