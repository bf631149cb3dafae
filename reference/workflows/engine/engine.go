// Package engine runs durable workflows: it stores what it is about to do before
// it does it, and what came of it before it goes on. A step in doubt is reviewed,
// never replayed.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Ports are what the engine stands on.
type Ports struct {
	Clock    ports.Clock
	IDs      ports.IDs
	Admit    ports.Admitting
	Store    ports.Store
	Policies ports.Policies
	Invoke   ports.Invoking
	// Background lets what it is given run beside whoever asked for it (WF-01,
	// WF-30); nil is a goroutine of its own.
	Background func(run func())
	Log        *slog.Logger // gets references and codes only
}

// Engine runs operations. Nothing runs by itself: an operation of an earlier
// process waits for an explicit resume (WF-15).
type Engine struct {
	ports Ports
	life  context.Context // ends as the server leaves
	leave context.CancelFunc

	mu      sync.Mutex
	leaving bool
	runs    map[string]*run
	// kept are checkpoints that could not be stored, by operation: what this
	// process has seen, and the store does not say.
	kept    map[string]ports.Operation
	running sync.WaitGroup
}

// New makes an engine that runs nothing yet. It must be closed.
func New(p Ports) *Engine {
	if p.Background == nil {
		p.Background = func(run func()) { go run() }
	}
	life, leave := context.WithCancel(context.Background())
	return &Engine{ports: p, life: life, leave: leave, runs: map[string]*run{}, kept: map[string]ports.Operation{}}
}

// Close stops every operation before its next step, aborts the current ones, and
// returns when none runs here any more.
func (e *Engine) Close() {
	e.mu.Lock()
	e.leaving = true
	e.mu.Unlock()
	e.leave()
	e.running.Wait()
}

// StepCall is one step of a definition.
type StepCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// Start stores a definition and runs it. It returns once the first checkpoint is
// stored; the steps run whether the caller stays or not (WF-01, WF-30).
func (e *Engine) Start(ctx context.Context, b ports.Binding, calls []StepCall) (ports.Operation, error) {
	now := e.ports.Clock.Now().UTC()
	o := ports.Operation{ID: e.ports.IDs.NewOperation(), Binding: b, Seq: 1, State: after("", Started), Created: now, Updated: now}
	for _, c := range calls {
		o.Steps = append(o.Steps, ports.Step{Tool: c.Tool, Arguments: c.Arguments, State: ports.Pending})
	}
	if code := e.ports.Admit.Admit(o.Steps); code != "" {
		return o, &AdmissionError{code}
	}
	if e.isLeaving() {
		return o, ErrStopping
	}
	lock, err := e.ports.Store.Create(ctx, o)
	if err != nil {
		return o, notStored(err)
	}
	e.launch(o, lock)
	return o, nil
}

func notStored(err error) error {
	if errors.Is(err, ports.ErrNotPrivate) {
		return err
	}
	return &NotStoredError{err}
}

func (e *Engine) isLeaving() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leaving
}

// find reads one operation of the binding. Whether another binding has one is
// told to nobody (WF-03).
func (e *Engine) find(ctx context.Context, id string, b ports.Binding) (ports.Operation, error) {
	o, err := e.ports.Store.Load(ctx, id)
	if errors.Is(err, ports.ErrNotPrivate) && o.Binding == (ports.Binding{}) {
		return o, err // the store as a whole: that says nothing of any operation
	}
	if err == nil || !errors.Is(err, ports.ErrNoSuch) {
		if o.Binding != b {
			return o, ports.ErrNoSuch
		}
	}
	return o, err
}

// Status says where an operation stands, and writes nothing.
func (e *Engine) Status(ctx context.Context, id string, b ports.Binding) (ports.Operation, error) {
	o, err := e.find(ctx, id, b)
	if err != nil || o.State.Settled() {
		return o, err
	}
	// The lock is looked at before the checkpoint is read again: whoever ends in
	// between has stored how.
	held, err := e.ports.Store.Held(ctx, id)
	if err == nil {
		o, err = e.find(ctx, id, b)
	}
	if err == nil && !held && o.State == ports.Running {
		held, err = e.ports.Store.Held(ctx, id) // somebody may have resumed it just now
	}
	if err != nil || o.State.Settled() {
		return o, err
	}
	if held {
		o.State, o.Code = ports.Running, "" // interrupted is what nobody runs: a resume would be busy
		return o, nil
	}
	if _, ok := e.unstored(o); ok {
		o.Code = ports.CodeCheckpointNotStored
	}
	return orphaned(o), nil
}

// List is how the operations of a binding stand, in the order of their IDs: at most
// most of those behind the one of the given ID, and whether there are more. One
// that cannot be read is left out: Status says why.
func (e *Engine) List(ctx context.Context, b ports.Binding, behind string, most int) (page []ports.Operation, more bool, err error) {
	ids, err := e.ports.Store.List(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, id := range ids {
		if id <= behind {
			continue
		}
		o, err := e.Status(ctx, id, b)
		if err != nil {
			continue
		}
		if len(page) == most {
			return page, true, nil
		}
		page = append(page, o)
	}
	return page, false, nil
}

// Resume goes on with an operation that nobody runs, if that may be (WF-14 to
// WF-17). What is settled stays as it is.
func (e *Engine) Resume(ctx context.Context, id string, b ports.Binding) (ports.Operation, error) {
	if e.isLeaving() {
		return ports.Operation{}, ErrStopping
	}
	o, lock, err := e.claim(ctx, id, b)
	if err != nil || lock == nil {
		return o, err
	}
	next, runs, err := e.resuming(ctx, o)
	if err == nil {
		err = e.save(ctx, &next)
	}
	if err != nil || !runs {
		return next, errors.Join(err, lock.Release())
	}
	e.launch(next, lock)
	return next, nil
}

// resuming decides what a resume makes of an operation.
func (e *Engine) resuming(ctx context.Context, o ports.Operation) (ports.Operation, bool, error) {
	asked, err := e.ports.Store.CancelAsked(ctx, o.ID)
	if err != nil {
		return o, false, err
	}
	if asked {
		return cancelled(o), false, nil // its holder died before it heard
	}
	policy, err := e.ports.Policies.Current(ctx)
	if err != nil && o.Steps[o.Next()].State.Doubtful() {
		return o, false, fmt.Errorf("resume operation %s: %w", o.ID, err) // nobody knows what its policy declares
	}
	next, runs := resumed(o, policy.Tools[o.Steps[o.Next()].Tool].Declared)
	return next, runs, nil
}

// Cancel stops an operation before its next step and aborts the current one where
// its tool honours that. It returns how the operation stands then; running, if its
// current tool cannot be aborted.
func (e *Engine) Cancel(ctx context.Context, id string, b ports.Binding) (ports.Operation, error) {
	o, lock, err := e.claim(ctx, id, b)
	if errors.Is(err, ports.ErrBusy) {
		if err := e.askHolder(ctx, id); err != nil {
			return o, err
		}
		o, lock, err = e.claim(ctx, id, b) // it may have ended without hearing
	}
	switch {
	case errors.Is(err, ports.ErrBusy):
		return e.Status(ctx, id, b)
	case err != nil || lock == nil:
		return o, err
	}
	next := cancelled(o)
	err = e.save(ctx, &next)
	return next, errors.Join(err, lock.Release())
}

// askHolder asks whoever runs the operation to stop, here or in another process.
func (e *Engine) askHolder(ctx context.Context, id string) error {
	err := e.ports.Store.AskCancel(ctx, id)
	e.mu.Lock()
	r := e.runs[id]
	e.mu.Unlock()
	if r != nil {
		r.stop(ctx)
		return nil // heard, whether the wish is stored or not
	}
	if err != nil {
		return notStored(err)
	}
	return nil
}

// claim takes the lock of an operation that can still change, and reads it under
// the lock. No lock and no error: it is settled.
func (e *Engine) claim(ctx context.Context, id string, b ports.Binding) (ports.Operation, ports.Lock, error) {
	o, err := e.find(ctx, id, b)
	if err != nil || o.State.Settled() {
		return o, nil, err
	}
	lock, err := e.ports.Store.Acquire(ctx, id)
	if err != nil {
		return o, nil, err
	}
	o, err = e.find(ctx, id, b)
	if err == nil {
		o, err = e.storeKept(ctx, o)
	}
	if err != nil || o.State.Settled() {
		return o, nil, errors.Join(err, lock.Release())
	}
	return orphaned(o), lock, nil
}

// save stores the next checkpoint of an operation, whose lock is held here.
func (e *Engine) save(ctx context.Context, o *ports.Operation) error {
	o.Seq++
	o.Updated = e.ports.Clock.Now().UTC()
	if err := e.ports.Store.Save(context.WithoutCancel(ctx), *o); err != nil {
		return notStored(err)
	}
	return nil
}

// keep remembers a checkpoint that could not be stored.
func (e *Engine) keep(o ports.Operation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kept[o.ID] = o
}

// unstored is what is kept of an operation, if it follows what is stored.
func (e *Engine) unstored(stored ports.Operation) (ports.Operation, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k, ok := e.kept[stored.ID]
	return k, ok && k.Seq == stored.Seq+1
}

// storeKept stores what could not be stored before: what a surviving process has
// seen is no doubt.
func (e *Engine) storeKept(ctx context.Context, stored ports.Operation) (ports.Operation, error) {
	k, ok := e.unstored(stored)
	if !ok {
		return stored, nil
	}
	if err := e.ports.Store.Save(context.WithoutCancel(ctx), k); err != nil {
		return stored, notStored(err)
	}
	e.mu.Lock()
	delete(e.kept, k.ID)
	e.mu.Unlock()
	return k, nil
}
