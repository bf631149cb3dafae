package bench

import (
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
)

// batch is how many pairs are taken at least.
const batch = 150

// BenchmarkWireCall: a durable call through a wire against the same call made
// directly, in turns, on the reference's helper with its sidecar on disk. Both
// are recorded, as in a spec.
func BenchmarkWireCall(b *testing.B) {
	b.Run("http", func(b *testing.B) {
		s := newStage(b, newRun(b))
		base := s.serve()
		direct := s.overHTTP(base)
		wired := s.overHTTP(s.wire(base, nil).URL())
		compareCalls(b, "call through a wire ÷ direct, http", s, s, direct, wired)
	})
	// A child has one stdin, so each side has a helper and a store of its own.
	b.Run("stdio", func(b *testing.B) {
		run := newRun(b)
		bare, behind := newStage(b, run), newStage(b, run)
		direct := bare.overPipes(bare.start(bare.stdioHelper()))
		wired := behind.overBridge(behind.wire("", behind.start(behind.stdioHelper())))
		compareCalls(b, "call through a wire ÷ direct, stdio", bare, behind, direct, wired)
	})
}

func compareCalls(b *testing.B, name string, bare, behind *stage, direct, wired *mcp.Session) {
	var p pairs
	for b.Loop() {
		for range batch {
			p.take(
				func() time.Duration { return timed(func() { bare.note(b.Context(), direct) }) },
				func() time.Duration { return timed(func() { behind.note(b.Context(), wired) }) },
			)
		}
	}
	bare.stored()
	behind.stored()
	p.tell(b, name, 2.0)
}
