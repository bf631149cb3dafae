package tracer

import "github.com/holdfast-mcp/holdfast/faults/crashpoint/trail"

// advance lets the next ones go. A call on a file runs to its end before the next
// counted call begins, so that what was done before a point is exactly what has a
// smaller number. Pipes and sockets wait for their other end, which may be of the
// same target, so nobody waits for them.
func (l *loop) advance() {
	for l.turn == nil && l.frozen == nil && !l.dying && len(l.queue) > 0 {
		t := l.queue[0]
		l.queue = l.queue[1:]
		if !l.armed {
			t.point = nil
			resume(t.tid, 0, false)
			continue
		}
		l.count(t)
		hit := l.trigger != nil && l.trigger.At.Names(*t.point)
		if hit && l.trigger.Side == trail.Before && l.happens(t, trail.Before) {
			return
		}
		l.letGo(t, hit)
	}
}

func (l *loop) count(t *tracee) {
	if t.round != l.round {
		l.threads++
		t.number, t.points, t.round = l.threads, 0, l.round
	}
	l.n++
	t.points++
	p := t.point
	key := trail.Address{Call: p.Call, Name: p.Name}
	l.seen[key]++
	p.N, p.Thread, p.Index, p.Occurrence = l.n, t.number, t.points, l.seen[key]
}

// letGo lets a thread make its call, or get an error instead.
func (l *loop) letGo(t *tracee, hit bool) {
	fail := l.failing
	if hit && l.trigger.Do == trail.Fail {
		fail = l.trigger
		if fail.Stays {
			l.failing = fail
		}
	} else if fail != nil && !trail.CanFail(*t.point, fail.Error) {
		fail = nil
	}
	if fail != nil {
		t.forced = trail.Number(fail.Error)
		if skip(t.tid, t.forced) == nil {
			t.point.Instead = fail.Error
		}
	}
	if t.point.Kind == trail.State || hit {
		l.turn = t
	}
	t.inside = true
	resume(t.tid, 0, true)
}

// The numbers with which the kernel says to itself that a call is to be made
// again after a signal. The process never sees them.
const restartFirst, restartLast = -516, -512

// left: a thread stands at the end of its call and has not seen it yet.
func (l *loop) left(t *tracee) {
	if !t.inside {
		resume(t.tid, 0, false)
		return
	}
	s, err := look(t.tid)
	if err != nil {
		return // killed; its end comes
	}
	result := s.result()
	if t.forced == 0 && result >= restartFirst && result <= restartLast {
		t.again, t.from, t.point, t.inside = t.point, t.stop, nil, false
		l.pass(t)
		return
	}
	p := t.point
	p.Done, p.Result = true, result
	t.inside, t.forced = false, 0
	if t.round != l.round {
		l.pass(t) // counted before the harness armed anew
		return
	}
	l.tell(trail.Event{What: trail.EventPoint, Point: p})
	if l.trigger != nil && l.trigger.At.Names(*p) {
		if l.trigger.Do == trail.Fail {
			l.tell(trail.Event{What: trail.EventStruck, Point: p, Side: trail.After})
			l.trigger = nil
		} else if l.trigger.Side == trail.After && l.happens(t, trail.After) {
			return
		}
	}
	l.pass(t)
}

// pass lets a thread go on behind its call, and then the next one.
func (l *loop) pass(t *tracee) {
	t.point = nil
	resume(t.tid, 0, false)
	if l.turn == t {
		l.turn = nil
	}
	l.advance()
}

// happens does what the trigger says at this thread's call; true if the thread
// stays where it is.
func (l *loop) happens(t *tracee, side trail.Side) bool {
	switch l.trigger.Do {
	case trail.Kill:
		l.strike(t, side)
	case trail.Hold:
		l.frozen, l.side, l.trigger = t, side, nil
		l.tellAllUnfinished()
		l.tell(trail.Event{What: trail.EventHeld, Point: t.point, Side: side})
	default:
		return false
	}
	return true
}

// tellUnfinished tells of a call that a thread was let go to make and has not come
// to the end of.
func (l *loop) tellUnfinished(t *tracee) {
	for _, p := range []*trail.Point{t.point, t.again} {
		if p != nil && p.N > 0 && !p.Done && p != l.struck && t.round == l.round {
			l.tell(trail.Event{What: trail.EventPoint, Point: p})
		}
	}
}

// tellAllUnfinished: an answer may be read before its writer has come back from
// the kernel, and it must not be missing in the record for that.
func (l *loop) tellAllUnfinished() {
	for _, t := range l.tracees {
		if t != l.frozen {
			l.tellUnfinished(t)
		}
	}
}

// release lets a held thread go on.
func (l *loop) release() {
	t := l.frozen
	l.frozen = nil
	if l.side == trail.Before {
		l.letGo(t, false)
		l.advance()
		return
	}
	l.pass(t)
}

// strike kills the target at this thread's call.
func (l *loop) strike(t *tracee, side trail.Side) {
	l.struck, l.side = t.point, side
	l.killAll()
}
