// Package wait is the one way to wait: for a fact, with a deadline, never for a
// time. Every time-out of the product stands in Limits, with what it bounds.
package wait

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Limits are the time-outs of the product. They bound how long a missing fact
// is waited for; no verdict depends on how fast a fact came.
type Limits struct {
	Ready    time.Duration // a started process becomes ready, or shakes hands
	Answer   time.Duration // a caller waits for one answer before it gives up
	Withheld time.Duration // the caller's shorter patience where a spec withholds its answer on purpose
	Proof    time.Duration // a probe shows the commit of a held answer
	Converge time.Duration // a healed world reaches its final state
	Stop     time.Duration // a process leaves after its input ended, then after TERM
	Reap     time.Duration // a killed process is reaped
	Spec     time.Duration // one whole spec
	Digest   time.Duration // pause between two digests of a state that is to come to rest
	Poll     time.Duration // pause between two looks at a fact that cannot announce itself
}

// minScale and maxScale bound HOLDFAST_TIME_SCALE, so that no limit runs over, or
// is too short for anything to come.
const (
	minScale = 0.1
	maxScale = 1000
)

// ScaleVariable names the environment variable that stretches all limits.
const ScaleVariable = "HOLDFAST_TIME_SCALE"

// Scale reads HOLDFAST_TIME_SCALE, a factor from 0.1 to 1000; 1 where it is not set,
// and with the error. A program that starts something asks it first, so that a
// factor that is none is not passed over.
func Scale() (float64, error) {
	text := os.Getenv(ScaleVariable)
	if text == "" {
		return 1, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= minScale && f <= maxScale) { // NaN is neither
		return 1, fmt.Errorf("%s is %q; expected a factor from %v to %v, such as 2 on a slow machine, or none", ScaleVariable, text, minScale, maxScale)
	}
	return f, nil
}

// Default limits on an idle machine; the factor of Scale stretches them all but
// Poll for slow ones.
func Default() Limits {
	l := Limits{
		Ready:    20 * time.Second,
		Answer:   15 * time.Second,
		Withheld: 1500 * time.Millisecond,
		Proof:    10 * time.Second,
		Converge: 30 * time.Second,
		Stop:     2 * time.Second,
		Reap:     5 * time.Second,
		Spec:     300 * time.Second,
		Digest:   25 * time.Millisecond,
		Poll:     2 * time.Millisecond,
	}
	f, err := Scale()
	if err != nil {
		return l
	}
	for _, d := range []*time.Duration{&l.Ready, &l.Answer, &l.Withheld, &l.Proof, &l.Converge, &l.Stop, &l.Reap, &l.Spec, &l.Digest} {
		*d = time.Duration(float64(*d) * f)
	}
	return l
}

// For waits until fact returns true, ctx ends, or limit has passed. what names
// the fact in the error ("the helper's answer"). An error of fact ends the wait.
func For(ctx context.Context, what string, limit time.Duration, fact func(context.Context) (bool, error)) error {
	return look(ctx, what, limit, 0, fact)
}

// Soon is For for a fact that mostly comes within moments and is noticed at once
// then: in the first 200 ms the pauses between looks are 5 ms at most.
func Soon(ctx context.Context, what string, limit time.Duration, fact func(context.Context) (bool, error)) error {
	return look(ctx, what, limit, 200*time.Millisecond, fact)
}

// look looks until the fact is there; for as long as soon, looks stay close.
func look(ctx context.Context, what string, limit, soon time.Duration, fact func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begun := time.Now()
	pause := Default().Poll
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		ok, err := fact(ctx)
		if ok {
			return nil
		}
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %v for %s, which did not come: %w", limit, what, ctx.Err())
		case <-timer.C:
		}
		pause = nextPause(pause, time.Since(begun), soon)
	}
}

// nextPause is longer than the last: looks get rarer, so that a slow fact does
// not eat the machine.
func nextPause(pause, passed, soon time.Duration) time.Duration {
	if pause < 64*time.Millisecond {
		pause += pause / 2
	}
	if passed < soon {
		return min(pause, 5*time.Millisecond)
	}
	return pause
}
