package faults_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// allOf makes calls at the same time; done if all are.
func (s *stage) allOf(n int) func(context.Context) history.Outcome {
	return func(ctx context.Context) history.Outcome {
		var mu sync.Mutex
		var all sync.WaitGroup
		worst := history.Done
		for i := range n {
			all.Go(func() {
				if o := s.call(ctx, "write", fmt.Sprint("racer-", i)); o != history.Done {
					mu.Lock()
					worst = o
					mu.Unlock()
				}
			})
		}
		all.Wait()
		return worst
	}
}

func TestRaceHoldsAllAndReleasesAll(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *stage{"http": httpStage, "stdio": stdioStage} {
		for _, n := range []int{2, 50} {
			s := open(t)
			f := faults.Race{Lanes: faults.Lanes(s.line, write, n), Limits: limits()}.Arm(s.ledger)
			outcome, err := faults.Around(soon(t), f, s.allOf(n))
			if err != nil || outcome != history.Done {
				t.Fatalf("%s, %d: outcome %s: %v", name, n, outcome, err)
			}
			s.wantWhole(faults.Absent)
			for i := range n {
				if !s.stored(fmt.Sprint("racer-", i)) {
					t.Errorf("%s: racer %d is not stored", name, i)
				}
			}
		}
	}
}

func TestRaceAcrossTwoWires(t *testing.T) {
	a, b := httpStage(t), httpStage(t)
	f := faults.Race{Lanes: []faults.Lane{{Line: a.line, Match: write}, {Line: b.line, Match: write}}, Limits: limits()}.Arm(a.ledger)
	_, err := faults.Around(soon(t), f, func(ctx context.Context) history.Outcome {
		var both sync.WaitGroup
		both.Go(func() { a.call(ctx, "write", "x") })
		both.Go(func() { b.call(ctx, "write", "x") })
		both.Wait()
		return history.Done
	})
	if err != nil || !a.stored("x") || !b.stored("x") {
		t.Fatalf("stored %v and %v: %v", a.stored("x"), b.stored("x"), err)
	}
	a.wantWhole(faults.Absent)
}

func TestRaceOfTooFewIsNotSimultaneous(t *testing.T) {
	s := httpStage(t)
	f := faults.Race{Lanes: faults.Lanes(s.line, write, 2), Limits: noAnswer()}.Arm(s.ledger)
	outcome, err := faults.Around(soon(t), f, s.act("write", "a"))
	s.wantMissed(err, history.Held, faults.ErrNotSimultaneous)
	if outcome != history.Done {
		t.Errorf("the lone racer ended %s: it was not let go", outcome)
	}
}

func TestDelayHoldsUntilTheFact(t *testing.T) {
	s := httpStage(t)
	looks := 0
	f := faults.Delay{Line: s.line, Match: write, Limits: limits(), Until: faults.Condition{
		What: "three looks", Fact: func(context.Context) (map[string]any, bool, error) {
			looks++
			if s.stored("late") {
				t.Error("the delayed request arrived")
			}
			return map[string]any{"looks": looks}, looks == 3, nil
		},
	}}.Arm(s.ledger)
	if outcome, err := faults.Around(soon(t), f, s.act("write", "late")); err != nil || outcome != history.Done || !s.stored("late") {
		t.Fatalf("outcome %s: %v", outcome, err)
	}
	s.wantWhole(faults.Absent)

	f = faults.Delay{Line: s.line, Match: write, Limits: noFact(), Until: faults.Condition{
		What: "what never holds", Fact: func(context.Context) (map[string]any, bool, error) { return nil, false, nil },
	}}.Arm(s.ledger)
	_, err := faults.Around(soon(t), f, s.act("write", "b"))
	s.wantMissed(err, history.Fired, context.DeadlineExceeded)
}

func TestDuplicateArrivesTwice(t *testing.T) {
	for _, open := range []func(testing.TB) *stage{httpStage, stdioStage} {
		s := open(t)
		f := faults.Duplicate{Line: s.line, Match: write, Limits: limits()}.Arm(s.ledger)
		if outcome, err := faults.Around(soon(t), f, s.act("write", "twice")); err != nil || outcome != history.Done {
			t.Fatalf("outcome %s: %v", outcome, err)
		}
		s.wantWhole(faults.Absent)
		if n := s.line.Passed(wire.Match{Tool: "write"}); n != 2 {
			t.Errorf("%d copies passed", n)
		}
	}
}
