package crashpoint_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
)

// The bounds of what tracing costs, as ratios of medians.
const (
	// atMostUntraced bounds a loop of system calls that do not count, ÷ bare.
	atMostUntraced = 1.6
	// atLeastPoints bounds crash points a second ÷ bare runs a second, from below.
	atLeastPoints = 0.25
)

// atATime is how many pairs are taken at least.
const atATime = 31

// BenchmarkUntracedCalls measures a program that makes nothing but system calls
// that do not count, under the tracer and bare, in turns, and reports the ratio of
// the medians. Most of what it costs is that the kernel looks at the filter.
func BenchmarkUntracedCalls(b *testing.B) {
	r := newRun(b)
	bare, traced := inTurns(b, func() {
		<-(&bench{t: b, run: r, dir: b.TempDir()}).start([]string{self(b)}, roleVariable+"=getpid").Done()
	}, func() {
		role(b, r, b.TempDir(), crashpoint.Plan{Armed: true}, "getpid").ended()
	})
	if got := ratio(b, traced, bare, "traced/bare"); got > atMostUntraced {
		b.Errorf("untraced calls cost %.2f of what they cost bare, expected at most %.2f", got, atMostUntraced)
	}
}

// BenchmarkOrdinaryCall measures one request to the store (five calls that count),
// under the tracer, counted and not, against bare, in turns, and reports the ratios
// of the medians.
func BenchmarkOrdinaryCall(b *testing.B) {
	r := newRun(b)
	bare := (&bench{t: b, run: r, dir: b.TempDir()}).read([]string{self(b)}, roleVariable+"=store")
	traced := role(b, r, b.TempDir(), crashpoint.Plan{}, "store")
	counted := role(b, r, b.TempDir(), crashpoint.Plan{Armed: true}, "store")
	stores := []*bench{bare, traced, counted}
	times := make([][]time.Duration, len(stores))
	for _, s := range stores {
		s.line()
	}
	for b.Loop() {
		for i, s := range stores {
			times[i] = append(times[i], once(b, func() { s.say("x"); s.line() }))
		}
	}
	ratio(b, times[1], times[0], "traced/bare")
	ratio(b, times[2], times[0], "counted/bare")
	bare.proc.Stdin.Close()
	<-bare.proc.Done()
}

// BenchmarkCrashPoints measures a whole run of an operation that is killed at its
// rename (start the store, store twice, kill, see everybody gone) against the same
// operation left alone and bare, in turns, and reports runs a second as a ratio.
func BenchmarkCrashPoints(b *testing.B) {
	r := newRun(b)
	at := &crashpoint.Trigger{At: crashpoint.Address{N: 4}, Side: crashpoint.Before, Do: crashpoint.Kill}
	bare, killed := inTurns(b, func() {
		s := (&bench{t: b, run: r, dir: b.TempDir()}).read([]string{self(b)}, roleVariable+"=store")
		s.line()
		for _, text := range []string{"first", "second"} {
			s.say(text)
			s.line()
		}
		s.proc.Stdin.Close()
		<-s.proc.Done()
	}, func() {
		if _, err := storing(b, r, at).trace.Struck(within(b)); err != nil {
			b.Fatal(err)
		}
	})
	if got := ratio(b, bare, killed, "points/runs"); got < atLeastPoints {
		b.Errorf("%.2f crash points are made in the time of a bare run, expected at least %.2f", got, atLeastPoints)
	}
}

// inTurns measures two things as often as the benchmark asks for. Which goes first
// changes every time, so that what one leaves behind falls on both alike.
func inTurns(b *testing.B, bare, ours func()) (bareTook, oursTook []time.Duration) {
	b.Helper()
	for b.Loop() {
		for i := range atATime {
			if i%2 == 0 {
				bareTook = append(bareTook, once(b, bare))
			}
			oursTook = append(oursTook, once(b, ours))
			if i%2 == 1 {
				bareTook = append(bareTook, once(b, bare))
			}
		}
	}
	return bareTook, oursTook
}

func once(b *testing.B, do func()) time.Duration {
	b.Helper()
	began := time.Now()
	do()
	return time.Since(began)
}

// ratio reports the ratio of two medians.
func ratio(b *testing.B, over, under []time.Duration, name string) float64 {
	b.Helper()
	slices.Sort(over)
	slices.Sort(under)
	value := float64(over[len(over)/2]) / float64(under[len(under)/2])
	b.ReportMetric(value, name)
	b.ReportMetric(0, "ns/op")
	return value
}
