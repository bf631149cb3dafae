package tracer

import (
	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint/trail"
)

// tracee is one thread of the target.
type tracee struct {
	tid   int
	point *trail.Point // the counted call that it waits for or makes
	stop  *stop        // how it stood there
	// inside: it was let go and has not come to the end of its call.
	inside bool
	// forced is the number of the error that it gets instead of its call.
	forced int64
	// again is a call that the kernel broke off for a signal and will make again.
	again *trail.Point
	from  *stop
	// number, points and round: which thread it is in this counting, and its points.
	number, points, round int
}

// loop traces one target. Everything in it belongs to one locked thread: the
// kernel knows one thread as the tracer.
type loop struct {
	*describer
	tell    func(trail.Event)
	root    int
	started bool
	tracees map[int]*tracee

	queue  []*tracee // wait to be let go, in the order in which they came
	turn   *tracee   // makes the one call that excludes all others
	frozen *tracee   // stands where it is held
	side   trail.Side

	armed   bool
	trigger *trail.Trigger
	failing *trail.Trigger // has fired and stays
	round   int            // of counting
	n       int
	threads int
	seen    map[trail.Address]int
	blinds  map[trail.Blind]bool

	dying   bool
	struck  *trail.Point // what the target was killed at
	status  unix.WaitStatus
	orphans int
}

// arm begins a new counting.
func (l *loop) arm(t *trail.Trigger) {
	l.armed, l.trigger, l.failing = true, t, nil
	l.round++
	l.n, l.threads, l.seen = 0, 0, map[trail.Address]int{}
}

// run traces until nobody of the target lives. between is called before each wait.
func (l *loop) run(between func()) {
	for {
		between()
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return // ECHILD: they have all ended
		}
		if status.Stopped() {
			l.stopped(tid, status)
		} else {
			l.ended(tid, status)
		}
	}
}

func (l *loop) know(tid int) *tracee {
	t := l.tracees[tid]
	if t == nil {
		t = &tracee{tid: tid}
		l.tracees[tid] = t
		if l.dying {
			unix.Kill(tid, unix.SIGKILL)
		}
	}
	return t
}

func (l *loop) stopped(tid int, status unix.WaitStatus) {
	t := l.know(tid)
	if l.dying {
		return // it was sent SIGKILL, which ends every stop
	}
	signal := status.StopSignal()
	switch event := int(status) >> 16; {
	case event == unix.PTRACE_EVENT_SECCOMP:
		l.entered(t)
	case signal == unix.SIGTRAP|0x80:
		l.left(t)
	case event == unix.PTRACE_EVENT_EXEC:
		l.executed(t)
		resume(tid, 0, false)
	case event == unix.PTRACE_EVENT_STOP && signal != unix.SIGTRAP:
		listen(tid)
	case event != 0: // a new thread or process, here or there; the end of a stop
		resume(tid, 0, t.inside)
	default:
		resume(tid, int(signal), t.inside)
	}
}

// executed: all other threads of its process are gone, and it has the number of
// the first one.
func (l *loop) executed(t *tracee) {
	if former := message(t.tid); former != t.tid {
		l.forget(former)
	}
	t.point, t.inside, t.again, t.forced = nil, false, nil, 0
	if t.tid == l.root && !l.started {
		l.started = true
		l.tell(trail.Event{What: trail.EventStarted, PID: l.root})
	}
}

// entered: a thread stands before a call that the filter lets nobody make.
func (l *loop) entered(t *tracee) {
	s, err := look(t.tid)
	if err != nil || !l.started {
		resume(t.tid, 0, false)
		return
	}
	if s.foreign() || s.nr == unix.SYS_MMAP || s.nr == unix.SYS_IO_URING_SETUP {
		l.unseen(t, s)
		return
	}
	if !l.armed {
		resume(t.tid, 0, false)
		return
	}
	if t.again != nil && s.nr == t.from.nr && s.args == t.from.args && s.ip == t.from.ip {
		t.point, t.stop, t.again, t.inside = t.again, s, nil, true
		resume(t.tid, 0, true)
		return
	}
	point := l.point(t.tid, s)
	if point == nil {
		resume(t.tid, 0, false)
		return
	}
	t.point, t.stop = point, s
	l.queue = append(l.queue, t)
	l.advance()
}

func (l *loop) unseen(t *tracee, s *stop) {
	if b := l.blind(t.tid, s); b != nil && !l.blinds[*b] {
		l.blinds[*b] = true
		l.tell(trail.Event{What: trail.EventBlind, Blind: b})
	}
	if s.nr == unix.SYS_IO_URING_SETUP && !s.foreign() && l.plan.NoRings {
		skip(t.tid, trail.Number("ENOSYS"))
	}
	resume(t.tid, 0, false)
}

// killAll sends SIGKILL to everybody. Nobody is let go any more, so that no
// counted call begins while they die one after the other.
func (l *loop) killAll() {
	l.dying = true
	for _, t := range l.tracees {
		unix.Kill(t.tid, unix.SIGKILL) // to the whole process, by any thread's number
	}
}

// ended: a thread has ended, or the last one of a process.
func (l *loop) ended(tid int, status unix.WaitStatus) {
	l.forget(tid)
	if tid != l.root {
		return
	}
	l.status = status
	if !l.dying && len(l.tracees) > 0 {
		l.orphans = len(l.tracees)
		l.killAll()
	}
}

func (l *loop) forget(tid int) {
	t := l.tracees[tid]
	if t == nil {
		return
	}
	delete(l.tracees, tid)
	for i, waiting := range l.queue {
		if waiting == t {
			l.queue = append(l.queue[:i:i], l.queue[i+1:]...)
			break
		}
	}
	l.tellUnfinished(t)
	if l.frozen == t {
		l.frozen = nil
	}
	if l.turn == t {
		l.turn = nil
	}
	l.advance()
}
