package bench

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/probe"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// BenchmarkLostAnswer: a whole lost-answer cycle (look, hold the answer, prove the
// commit through another connection to the store, lose the answer, heal) against
// a plain call through the same wire, in turns.
func BenchmarkLostAnswer(b *testing.B) {
	b.Run("http", func(b *testing.B) {
		s := newStage(b, newRun(b))
		w := s.wire(s.serve(), nil)
		compareLosses(b, "lost-answer cycle (cut) ÷ plain call, http", s, w, s.overHTTP(w.URL()), faults.Cut)
	})
	// A cut stdio wire stays cut, so here the answer is withheld, from a caller whose
	// patience ends when that is done: no time-out is part of the cycle.
	b.Run("stdio", func(b *testing.B) {
		s := newStage(b, newRun(b))
		w := s.wire("", s.start(s.stdioHelper()))
		compareLosses(b, "lost-answer cycle (withheld) ÷ plain call, stdio", s, w, s.overBridge(w), faults.Withheld)
	})
}

func compareLosses(b *testing.B, name string, s *stage, line wire.Line, session *mcp.Session, shape faults.Shape) {
	fault := faults.AnswerLost{Line: line, Match: wire.Match{Tool: "work_note"}, Shape: shape, Proof: s.proof()}
	ledger := faults.NewLedger(s.rec)
	var p pairs
	for b.Loop() {
		for range batch / 3 {
			p.take(
				func() time.Duration { return timed(func() { s.note(b.Context(), session) }) },
				func() time.Duration { return timed(func() { s.lose(fault.Arm(ledger), session, shape) }) },
			)
		}
	}
	s.stored()
	s.provenIn(len(p.ours))
	p.tell(b, name, 10)
}

// proof looks for the note's intent through a connection of its own.
func (s *stage) proof() faults.Proof {
	s.b.Helper()
	look, err := probe.New(target.Probe{
		Name: "intents", SQLite: s.sidecar(), Query: "select seq, state from intents where idempotency_key = :key",
	}, func() target.Scope { return target.Scope{"dir": s.folder} })
	s.ok(err)
	return faults.Proof{By: "sqlite", Shows: func(ctx context.Context, held wire.Message) (map[string]any, bool, error) {
		var arguments struct {
			Key string `json:"idempotency_key"`
		}
		if err := json.Unmarshal(held.Arguments(), &arguments); err != nil {
			return nil, false, err
		}
		rows, err := look.Look(ctx, map[string]string{"key": arguments.Key})
		return map[string]any{"rows": rows}, len(rows) == 1, err
	}}
}

// lose makes a note whose answer is lost. A cut shows to the caller by itself; of
// one whose answer is withheld the patience ends with the strike.
func (s *stage) lose(f faults.Fault, session *mcp.Session, shape faults.Shape) {
	s.b.Helper()
	ctx, giveUp := context.WithCancel(s.b.Context())
	defer giveUp()
	ended := make(chan error, 1)
	key := s.key()
	go func() {
		_, err := s.call(ctx, session, key)
		ended <- err
	}()
	err := f.Strike(s.b.Context())
	if err != nil || shape == faults.Withheld {
		giveUp()
	}
	outcome := history.Done
	if <-ended != nil {
		outcome = history.Unknown
	}
	s.ok(err)
	s.ok(f.Observe(outcome, nil))
	s.ok(f.Heal())
}

// provenIn counts the faults of the history: each must have come to every stage
// with the commit proven, else a cycle was not one.
func (s *stage) provenIn(cycles int) {
	s.b.Helper()
	h, err := s.rec.History()
	s.ok(err)
	proven := 0
	for _, f := range h.Faults() {
		whole := true
		for _, stage := range history.Stages() {
			e, reached := f.Reached(stage)
			whole = whole && reached && (stage != history.Proven || e.Fault.Proof == faults.Committed)
		}
		if whole {
			proven++
		}
	}
	if proven != cycles {
		s.b.Errorf("%d of %d lost-answer cycles were proven", proven, cycles)
	}
	s.b.ReportMetric(float64(proven), "proven")
}
