package bench

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
)

// BenchmarkTracedCall: an ordinary call to the reference's helper under the tracer
// against the same call without it, in turns, each with a helper and a store of its
// own. Before and behind the one call of a spec whose crash points are looked for
// nothing is counted: that has a bound. While something is counted every
// state-changing system call stops its thread: that is told, without a bound.
func BenchmarkTracedCall(b *testing.B) {
	b.Run("traced", func(b *testing.B) {
		compareTraced(b, "call under the tracer ÷ bare, stdio", false, 1.5)
	})
	b.Run("counted", func(b *testing.B) {
		compareTraced(b, "call under the tracer, counting (no bound) ÷ bare, stdio", true, 0)
	})
}

func compareTraced(b *testing.B, name string, counting bool, bound float64) {
	if err := crashpoint.Available(); errors.Is(err, crashpoint.ErrUnavailable) {
		b.Skip(err)
	}
	run := newRun(b)
	bare, under := newStage(b, run), newStage(b, run)
	direct := bare.overPipes(bare.start(bare.stdioHelper()))
	p, trace := under.traced(counting)
	traced := under.overPipes(p)
	var all pairs
	for b.Loop() {
		for range batch {
			all.take(
				func() time.Duration { return timed(func() { bare.note(b.Context(), direct) }) },
				func() time.Duration { return timed(func() { under.note(b.Context(), traced) }) },
			)
		}
	}
	bare.stored()
	under.stored()
	points := len(trace.Record().Points)
	if least := under.notes; counting != (points >= least) || !counting && points > 0 {
		b.Errorf("counting is %v, and %d points were noted down of %d calls: what was measured is not what was meant", counting, points, least)
	}
	all.tell(b, name, bound)
}

// traced starts the helper under the tracer, as a spec does.
func (s *stage) traced(counting bool) (*launch.Process, *crashpoint.Trace) {
	s.b.Helper()
	trace, err := crashpoint.Prepare(s.folder, crashpoint.Plan{
		Naming:  crashpoint.Naming{Roots: []string{s.folder}, Exclude: []string{"tmp/*", "runtime/*", "*-shm"}},
		NoRings: true, Armed: counting,
	})
	s.ok(err)
	s.b.Cleanup(func() {
		if err := trace.Close(); err != nil {
			s.b.Error(err)
		}
	})
	c := s.stdioHelper()
	c.Argv = trace.Argv(c.Argv)
	c.Argv[0] = binary // the tracer is a part of the product, not of this test
	p := s.start(c)
	trace.Watch(p.Done())
	return p, trace
}
