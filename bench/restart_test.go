package bench

import (
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
)

// BenchmarkKillRestart: kill a helper that has written, start it again on the same
// store, first answer; against a bare start and first answer on a store that was
// left in the same state. Both are started in the same way, so that the kill and
// what follows from it are all that differs.
func BenchmarkKillRestart(b *testing.B) {
	run := newRun(b)
	killed, bare := newStage(b, run), newStage(b, run)
	p := killed.start(killed.stdioHelper())
	session := killed.overPipes(p)
	killed.note(b.Context(), session)
	var all pairs
	for b.Loop() {
		for range 100 {
			all.take(
				func() time.Duration { return bare.bareStart(bare.stdioHelper()) },
				func() time.Duration {
					took := timed(func() {
						killed.ok(p.Kill(b.Context()))
						p = killed.start(killed.stdioHelper())
						killed.ok(session.Close())
						session = killed.overPipes(p)
					})
					killed.note(b.Context(), session) // so that the next start has something to recover
					return took
				},
			)
		}
	}
	killed.stored()
	bare.stored()
	all.tell(b, "kill, restart, first answer ÷ bare start, first answer", 1.5)
}

// bareStart is the time from nothing to the answered initialize; what comes after
// (one note, a kill) is not counted.
func (s *stage) bareStart(c launch.Command) time.Duration {
	s.b.Helper()
	began := time.Now()
	p := s.start(c)
	dialled := mcp.DialStdio(pipes{p.Stdin, p.Stdout}, mcp.Options{Name: "bare"})
	_, err := dialled.Handshake(s.b.Context())
	took := time.Since(began)
	s.ok(err)
	s.begin(dialled)
	s.note(s.b.Context(), dialled)
	s.ok(p.Kill(s.b.Context())) // before its input ends, or it would leave in order
	s.ok(dialled.Close())
	return took
}
