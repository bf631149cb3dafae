// Package executor settles the sidecar's intents: guard, classify, apply through
// the repository, and then tell the sidecar. No count and no clock ends an
// intent (WR-10, WR-21).
package executor

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Config says how often the executor looks.
type Config struct {
	// Poll is the pause between two looks whether the sidecar changed; default 10 ms.
	Poll time.Duration
	// Retry is the pause between two attempts at a transient intent; default 20 ms.
	Retry time.Duration
	// RepairEvery is the pause between two repairs without a cause; default 1 s.
	RepairEvery time.Duration
	// Contract is the version that this app speaks; default sidecar.ContractVersion.
	Contract int
	Log      *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Poll <= 0 {
		c.Poll = 10 * time.Millisecond
	}
	if c.Retry <= 0 {
		c.Retry = 20 * time.Millisecond
	}
	if c.RepairEvery <= 0 {
		c.RepairEvery = time.Second
	}
	if c.Contract == 0 {
		c.Contract = sidecar.ContractVersion
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Executor is one loop. Only Reconsider and Repair may be called from outside it.
type Executor struct {
	Config
	ports.Ports

	lifted atomic.Int64 // how often a person may have lifted a cause
	sick   atomic.Bool  // a repair was asked for
	wake   chan struct{}

	// Of the loop alone:
	bound    int64             // the account generation that the sidecar was bound in
	repaired int64             // the account generation that was repaired last
	checked  time.Time         // when it was
	looked   int64             // the epoch of the last look at the intents
	again    bool              // the last look ended with an error
	accepted int               // the contract version that the sidecar is of
	tried    map[int64]attempt // the last attempt at each unsettled intent
	said     string            // the last error that was logged
}

// attempt is when an intent was turned away, and in which situation.
type attempt struct {
	at      time.Time
	epoch   int64
	blocked bool
}

// New makes an executor over its ports.
func New(c Config, p ports.Ports) *Executor {
	return &Executor{Config: c.withDefaults(), Ports: p, wake: make(chan struct{}, 1), again: true, tried: map[int64]attempt{}}
}

// Reconsider tries blocked intents once more, because a person did something
// that may have lifted their cause (WR-23).
func (e *Executor) Reconsider() {
	e.lifted.Add(1)
	e.nudge()
}

// Repair compares anchors with items at once, because an item was deleted.
func (e *Executor) Repair() {
	e.sick.Store(true)
	e.nudge()
}

func (e *Executor) nudge() {
	select {
	case e.wake <- struct{}{}:
	default: // it is awake
	}
}

// Run settles intents until ctx ends. An attempt that the end interrupts leaves
// its intent as it was.
func (e *Executor) Run(ctx context.Context) {
	ticks, stop := e.Clock.Tick(e.Poll)
	defer stop()
	for {
		changed := e.Account.Changed()
		e.Turn(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		case <-changed:
		case <-e.wake:
		}
	}
}

// Turn does what there is to do now and returns.
func (e *Executor) Turn(ctx context.Context) {
	err := e.turn(ctx)
	e.again = err != nil
	switch {
	case ctx.Err() != nil:
	case err == nil:
		e.said = ""
	case err.Error() != e.said:
		e.said = err.Error()
		e.Log.Warn("the executor goes on after an error", "error", e.said)
	}
}

func (e *Executor) turn(ctx context.Context) error {
	changed, err := e.Changes.Changed(ctx)
	if err != nil {
		return err
	}
	state := e.Account.Current()
	if err := e.bind(ctx, state); err != nil {
		return err
	}
	if err := e.repairIfDue(ctx, state); err != nil {
		return err
	}
	if !changed && !e.again && e.looked == e.epoch() && !e.retryDue() {
		return nil
	}
	for progress := true; progress && ctx.Err() == nil; {
		if progress, err = e.pass(ctx); err != nil {
			return err
		}
	}
	return nil
}

// epoch moves with everything that may lift a blocked intent's cause.
func (e *Executor) epoch() int64 { return e.Account.Current().Generation + e.lifted.Load() }

// bind names the first restored account to the sidecar.
func (e *Executor) bind(ctx context.Context, state session.State) error {
	if state.Phase != session.Restored || e.bound == state.Generation {
		return nil
	}
	if err := e.Sidecar.BindOwner(ctx, state.Account); err != nil {
		return err
	}
	e.bound = state.Generation
	e.again = true // what it owned before has an owner now
	return nil
}

func (e *Executor) retryDue() bool {
	now := e.Clock.Now()
	for _, a := range e.tried {
		if !a.blocked && now.Sub(a.at) >= e.Retry {
			return true
		}
	}
	return false
}

// pass tries each item's next intent once if it is due; true means that one was
// settled, so that the one behind it can be tried.
func (e *Executor) pass(ctx context.Context) (progress bool, err error) {
	epoch := e.epoch()
	if e.accepted, err = e.Records.Contract(ctx); err != nil {
		return false, err
	}
	intents, err := e.Sidecar.Runnable(ctx)
	if err != nil {
		return false, err
	}
	e.looked = epoch
	unsettled := make(map[int64]attempt, len(intents))
	for _, in := range intents {
		last, had := e.tried[in.Seq]
		if had {
			unsettled[in.Seq] = last
		}
		if had && !e.due(last, epoch) {
			continue
		}
		kept, err := e.settle(ctx, in)
		if err != nil {
			return false, err
		}
		if kept == nil {
			delete(unsettled, in.Seq)
			progress = true
			continue
		}
		unsettled[in.Seq] = attempt{at: e.Clock.Now(), epoch: epoch, blocked: kept.Class == sidecar.Blocked}
	}
	e.tried = unsettled
	return progress, nil
}

// due says whether an intent that was turned away is to be tried again: a
// transient one after a pause, a blocked one only in another situation.
func (e *Executor) due(last attempt, epoch int64) bool {
	if last.epoch != epoch {
		return true
	}
	return !last.blocked && e.Clock.Now().Sub(last.at) >= e.Retry
}
