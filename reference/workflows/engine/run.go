package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// listening is how often a run looks whether another process wants it cancelled.
const listening = 50 * time.Millisecond

// run is one operation as this process runs it, lock in hand.
type run struct {
	e    *Engine
	id   string
	op   ports.Operation // changes with every checkpoint; only the run's own goroutine looks
	lock ports.Lock

	steps  context.Context // of a tool that honours a cancel
	abort  context.CancelFunc
	wanted atomic.Bool   // a cancel was asked for here
	deaf   atomic.Bool   // the current tool honours none
	ended  chan struct{} // closed when the lock is free
}

// launch runs an operation in the background until it can run no further. It
// belongs to the server, not to the request that began it.
func (e *Engine) launch(o ports.Operation, lock ports.Lock) {
	r := &run{e: e, id: o.ID, op: o, lock: lock, ended: make(chan struct{})}
	r.steps, r.abort = context.WithCancel(e.life)
	e.mu.Lock()
	e.runs[o.ID] = r
	e.running.Add(1)
	e.mu.Unlock()
	e.ports.Background(func() {
		defer e.running.Done()
		r.whole()
	})
}

func (r *run) whole() {
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		r.listen()
	}()
	for r.advance() {
	}
	r.abort()
	<-listened
	r.e.mu.Lock()
	delete(r.e.runs, r.op.ID)
	r.e.mu.Unlock()
	if err := r.lock.Release(); err != nil {
		r.e.ports.Log.Warn("a lock was not released in order", "operation", r.op.ID, "error", err.Error())
	}
	close(r.ended)
	r.lateWish()
}

// lateWish hears a cancel that came as the run was ending.
func (r *run) lateWish() {
	asked, err := r.e.ports.Store.CancelAsked(context.Background(), r.op.ID)
	if err != nil || !asked || r.op.State.Settled() {
		return
	}
	if _, err := r.e.Cancel(context.Background(), r.op.ID, r.op.Binding); err != nil {
		r.e.ports.Log.Warn("a cancel was not stored", "operation", r.op.ID, "code", CodeOf(err))
	}
}

// listen hears a cancel of another process.
func (r *run) listen() {
	ticker := time.NewTicker(listening)
	defer ticker.Stop()
	for {
		select {
		case <-r.steps.Done():
			return
		case <-ticker.C:
			if asked, err := r.e.ports.Store.CancelAsked(r.steps, r.id); err == nil && asked {
				r.wanted.Store(true)
				r.abort()
			}
		}
	}
}

// stop asks the run to stop and waits until it has, unless its current tool cannot
// be aborted or the caller leaves.
func (r *run) stop(ctx context.Context) {
	r.wanted.Store(true)
	r.abort()
	if r.deaf.Load() {
		return
	}
	select {
	case <-r.ended:
	case <-ctx.Done():
	}
}

// asked says whether a cancel is wanted, by whomever.
func (r *run) asked() bool {
	if r.wanted.Load() {
		return true
	}
	asked, err := r.e.ports.Store.CancelAsked(r.e.life, r.op.ID)
	return err == nil && asked
}

// advance takes the next step, or ends the run: false.
func (r *run) advance() bool {
	i := r.op.Next()
	tool := r.policyOf(i)
	r.deaf.Store(!tool.HonoursCancel) // before the look at what is wanted: who asks now is heard or sees this
	switch {
	case r.asked():
		return r.store(cancelled(r.op))
	case r.e.life.Err() != nil:
		o := r.op
		o.State = after(o.State, Stopped)
		return r.store(o)
	}
	again := r.op.Steps[i].State.Doubtful()
	if !r.storeGoingOut(goingOut(r.op, i, tool.Declared)) {
		return false
	}
	out := r.e.ports.Invoke.Invoke(r.during(tool), r.call(i))
	r.e.ports.Log.Info("step", "operation", r.op.ID, "step", i+1, "ending", out.Ending, "code", out.Code)
	next, known := concluded(r.op, i, out, r.circumstances(i, out, again))
	return known && r.store(next)
}

// circumstances looks only at what counts for the outcome.
func (r *run) circumstances(i int, out ports.Outcome, again bool) circumstances {
	if out.Ending != ports.Doubted && out.Ending != ports.Unsent {
		return circumstances{again: again}
	}
	return circumstances{declared: r.policyOf(i).Declared, again: again, asked: r.asked(), stopping: r.e.life.Err() != nil}
}

// policyOf is how the tool of step i is treated now. Where the policy cannot be
// read it makes no claim; the middleware denies the step then.
func (r *run) policyOf(i int) ports.ToolPolicy {
	policy, err := r.e.ports.Policies.Current(r.e.life)
	if err != nil {
		return ports.ToolPolicy{}
	}
	return policy.Tools[r.op.Steps[i].Tool]
}

// during is how long a tool may run: until it is cancelled, if it honours that,
// else until the server leaves.
func (r *run) during(tool ports.ToolPolicy) context.Context {
	if tool.HonoursCancel {
		return r.steps
	}
	return r.e.life
}

// call is step i as the middleware gets it. A step that went out as idempotent has
// a key, the same one in every attempt.
func (r *run) call(i int) ports.Call {
	s := r.op.Steps[i]
	c := ports.Call{Binding: r.op.Binding, Tool: s.Tool, Arguments: s.Arguments, Operation: r.op.ID, Step: i + 1, Attempt: s.Attempts}
	if s.Sent.Idempotent {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", r.op.ID, i+1))
		c.Key = hex.EncodeToString(sum[:16])
	}
	return c
}

// storeGoingOut stores that a step is in_flight. Where that fails the step is not
// invoked (WF-26), and what is kept is that the run stopped before it.
func (r *run) storeGoingOut(next ports.Operation) bool {
	if err := r.e.save(r.e.life, &next); err != nil {
		stopped := r.op
		stopped.State, stopped.Code = after(stopped.State, Stopped), ports.CodeCheckpointNotStored
		r.unstored(stopped, err)
		return false
	}
	r.op = next
	return true
}

// store stores what came of the last step. It says whether the run goes on.
func (r *run) store(next ports.Operation) bool {
	if err := r.e.save(r.e.life, &next); err != nil {
		r.unstored(next, err)
		return false
	}
	r.op = next
	return next.State == ports.Running
}

func (r *run) unstored(o ports.Operation, err error) {
	o.Seq = r.op.Seq + 1
	r.e.keep(o)
	r.e.ports.Log.Error("a checkpoint was not stored; the operation stops", "operation", o.ID, "code", CodeOf(err))
}
