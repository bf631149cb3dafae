package crashpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint/trail"
)

// Started waits until the target's own program runs, and returns its process number.
func (t *Trace) Started(ctx context.Context) (pid int, err error) {
	err = t.until(ctx, "the target's start", func() bool { pid = t.pid; return pid != 0 })
	return pid, err
}

// Arm begins a new counting: when it returns, every call that the target begins is
// counted, from 1, and the trigger, if any, is set. What was noted down before is
// forgotten, but for the blind spots.
func (t *Trace) Arm(ctx context.Context, trigger *Trigger) error {
	if trigger != nil {
		if err := trigger.Check(); err != nil {
			return err
		}
	}
	_, err := t.order(ctx, trail.Order{Do: trail.OrderArm, Trigger: trigger})
	return err
}

// Disarm ends the counting and the trigger, and returns what was noted down. Of
// calls that have not come to their end it says so (Point.Done).
func (t *Trace) Disarm(ctx context.Context) (Record, error) {
	if _, err := t.order(ctx, trail.Order{Do: trail.OrderDisarm}); err != nil {
		return Record{}, err
	}
	return t.Record(), nil
}

// Release lets a held target go on.
func (t *Trace) Release(ctx context.Context) error {
	t.change(func() { t.held = nil })
	_, err := t.order(ctx, trail.Order{Do: trail.OrderRelease})
	return err
}

// Kill kills the target wherever it is; at a held point, it is struck there.
func (t *Trace) Kill(ctx context.Context) error {
	_, err := t.order(ctx, trail.Order{Do: trail.OrderKill})
	return err
}

// Held waits until the target is held where the trigger says.
func (t *Trace) Held(ctx context.Context) (m Moment, err error) {
	err = t.until(ctx, "the target to be held", func() bool { return got(t.held, &m) })
	return m, err
}

// Struck waits until the trigger has done its work: the target is killed and all
// its processes are gone, or it has got its error. If the target ends first, the
// error is ErrMissed.
func (t *Trace) Struck(ctx context.Context) (m Moment, err error) {
	err = t.until(ctx, "the trigger", func() bool { return got(t.struck, &m) })
	return m, err
}

// Ended waits until nobody of the target lives. The record is complete then.
func (t *Trace) Ended(ctx context.Context) (e End, err error) {
	err = t.until(ctx, "the target's end", func() bool { return got(t.end, &e) })
	return e, err
}

// Counted waits until it is known that at least n calls have come to their end.
// What is known may lag behind by some calls on files.
func (t *Trace) Counted(ctx context.Context, n int) error {
	return t.until(ctx, fmt.Sprintf("%d counted calls", n), func() bool { return len(t.points) >= n })
}

// Record is what is known so far. It is complete after Disarm, Held, Struck and
// Ended; in between the last calls on files may be missing.
func (t *Trace) Record() Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := Record{Blind: slices.Clone(t.blind), Points: slices.Collect(maps.Values(t.points))}
	r.Points = r.inOrder()
	return r
}

func got[T any](from, to *T) bool {
	if from == nil {
		return false
	}
	*to = *from
	return true
}

func (t *Trace) order(ctx context.Context, o trail.Order) (trail.Event, error) {
	t.ordering.Lock()
	defer t.ordering.Unlock()
	t.mu.Lock()
	t.seq++
	o.Seq = t.seq
	if o.Do == trail.OrderArm {
		t.arming = o.Seq
	}
	t.mu.Unlock()
	if err := t.send(o); err != nil {
		return trail.Event{}, fmt.Errorf("ordering the tracer to %s: %w: %w", o.Do, ErrLost, err)
	}
	var answer trail.Event
	err := t.until(ctx, "the answer to "+o.Do, func() (ok bool) { answer, ok = t.answers[o.Seq]; delete(t.answers, o.Seq); return ok })
	if err == nil && answer.Refused != "" {
		err = fmt.Errorf("ordering the tracer to %s: %s", o.Do, answer.Refused)
	}
	return answer, err
}

// unavailable gives the tracer's own word for a machine without ptrace its error back.
func unavailable(err error) error {
	if rest, ok := strings.CutPrefix(err.Error(), ErrUnavailable.Error()); ok {
		return fmt.Errorf("%w%s", ErrUnavailable, rest)
	}
	return err
}
