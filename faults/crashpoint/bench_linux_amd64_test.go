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
