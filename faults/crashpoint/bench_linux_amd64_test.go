package crashpoint_test

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
)

// BenchmarkUntracedCalls measures a program that makes nothing but system calls
// that do not count, under the tracer and bare, in turns, and reports the ratio of
// the medians. Most of what it costs is that the kernel looks at the filter.
func BenchmarkUntracedCalls(b *testing.B) {
	r := newRun(b)
	var traced, bare []time.Duration
	for b.Loop() {
		bare = append(bare, once(b, func() {
			<-(&bench{t: b, run: r, dir: b.TempDir()}).start([]string{self(b)}, roleVariable+"=getpid").Done()
		}))
		traced = append(traced, once(b, func() {
			role(b, r, b.TempDir(), crashpoint.Plan{Armed: true}, "getpid").ended()
		}))
	}
	ratio(b, traced, bare, "traced/bare")
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
	var killed, bare []time.Duration
	at := &crashpoint.Trigger{At: crashpoint.Address{N: 4}, Side: crashpoint.Before, Do: crashpoint.Kill}
	for b.Loop() {
		bare = append(bare, once(b, func() {
			s := (&bench{t: b, run: r, dir: b.TempDir()}).read([]string{self(b)}, roleVariable+"=store")
			s.line()
			for _, text := range []string{"first", "second"} {
				s.say(text)
				s.line()
			}
			s.proc.Stdin.Close()
			<-s.proc.Done()
		}))
		killed = append(killed, once(b, func() {
			if _, err := storing(b, r, at).trace.Struck(within(b)); err != nil {
				b.Fatal(err)
			}
		}))
	}
	ratio(b, bare, killed, "points/runs")
}

func once(b *testing.B, do func()) time.Duration {
	b.Helper()
	began := time.Now()
	do()
	return time.Since(began)
}

// ratio reports the ratio of two medians.
func ratio(b *testing.B, over, under []time.Duration, name string) {
	b.Helper()
	slices.Sort(over)
	slices.Sort(under)
	b.ReportMetric(float64(over[len(over)/2])/float64(under[len(under)/2]), name)
	b.ReportMetric(0, "ns/op")
}
