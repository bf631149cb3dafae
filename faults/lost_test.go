package faults_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

var write = wire.Match{Tool: "write"}

func TestAnswerLost(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *stage{"http": httpStage, "stdio": stdioStage} {
		for _, shape := range []faults.Shape{faults.Withheld, faults.Cut, faults.Broken} {
			t.Run(name+"/"+string(shape), func(t *testing.T) {
				s := open(t)
				if shape == faults.Withheld || shape == faults.Broken && name == "stdio" {
					s.patience = 300 * time.Millisecond
				}
				f := faults.AnswerLost{Line: s.line, Match: write, Shape: shape, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
				outcome, err := faults.Around(soon(t), f, s.act("write", "a"))
				if err != nil || outcome != history.Unknown || !s.stored("a") {
					t.Fatalf("outcome %s, stored %v: %v", outcome, s.stored("a"), err)
				}
				s.wantWhole(faults.Committed)
				if got := s.trace().Position; got != "helper · write · 1st · answer" {
					t.Errorf("the position reads %q", got)
				}
				if name == "stdio" && shape == faults.Cut {
					return // its session is over
				}
				s.patience = 30 * time.Second
				if o := s.call(soon(t), "write", "b"); o != history.Done {
					t.Errorf("the next call ended %s", o)
				}
			})
		}
	}
}

// Every one of many cycles must be proven: a fault that hits nearly always makes
// a gate that nobody trusts.
func TestTwoHundredLostAnswersAreAllProven(t *testing.T) {
	s := httpStage(t)
	for i := range 200 {
		key := fmt.Sprint("key-", i)
		f := faults.AnswerLost{Line: s.line, Match: write, Shape: faults.Cut, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
		if outcome, err := faults.Around(soon(t), f, s.act("write", key)); err != nil || outcome != history.Unknown {
			t.Fatalf("cycle %d: outcome %s: %v", i, outcome, err)
		}
	}
	h, err := s.rec.History()
	if err != nil {
		t.Fatal(err)
	}
	all := h.Faults()
	if len(all) != 200 {
		t.Fatalf("%d faults are recorded", len(all))
	}
	for _, f := range all {
		if stagesOf(f) != whole {
			t.Errorf("%s came to %q", f.ID, stagesOf(f))
		}
	}
	answers := write
	answers.Answer = true
	if s.line.Count(write) != 200 || s.line.Passed(write) != 200 || s.line.Count(answers) != 200 || s.line.Passed(answers) != 0 {
		t.Errorf("requests %d, passed %d; answers %d, passed %d", s.line.Count(write), s.line.Passed(write), s.line.Count(answers), s.line.Passed(answers))
	}
}

func TestRequestLost(t *testing.T) {
	for _, shape := range []faults.Shape{faults.Withheld, faults.Cut, faults.Broken} {
		for name, open := range map[string]func(testing.TB) *stage{"http": httpStage, "stdio": stdioStage} {
			s := open(t)
			if shape == faults.Withheld || shape == faults.Broken && name == "stdio" {
				s.patience = 200 * time.Millisecond
			}
			f := faults.RequestLost{Line: s.line, Match: write, Shape: shape, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
			outcome, err := faults.Around(soon(t), f, s.act("write", "a"))
			if err != nil || outcome != history.Unknown || s.stored("a") {
				t.Errorf("%s, %s: outcome %s, stored %v: %v", name, shape, outcome, s.stored("a"), err)
			}
			s.wantWhole(faults.Absent)
		}
	}
}

func TestCallerGoneIsSeenByTheCallee(t *testing.T) {
	s := httpStage(t)
	f := faults.CallerGone{Line: s.line, Match: wire.Match{Tool: "slow"}, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
	outcome, err := faults.Around(soon(t), f, s.act("slow", "a"))
	if err != nil || outcome != history.Unknown {
		t.Fatalf("outcome %s: %v", outcome, err)
	}
	s.wantWhole(faults.Committed)
	select {
	case err := <-s.left:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the callee's context ended with %v", err)
		}
	case <-soon(t).Done():
		t.Error("the callee did not see its caller leave")
	}
	// A callee that has answered by then cannot see it any more, and that is said.
	f = faults.CallerGone{Line: s.line, Match: write, Proof: s.proof(), Limits: limits()}.Arm(s.ledger)
	if outcome, err := faults.Around(soon(t), f, s.act("write", "b")); err != nil || outcome != history.Unknown {
		t.Fatalf("outcome %s: %v", outcome, err)
	}
	s.wantWhole(faults.Committed)
}

func TestNotProvenIsSaidAndCleanedUp(t *testing.T) {
	never := faults.Proof{By: "the store", Shows: func(context.Context, wire.Message) (map[string]any, bool, error) {
		return map[string]any{"rows": 0}, false, nil
	}}
	broken := errors.New("the store is gone")
	failing := faults.Proof{By: "the store", Shows: func(context.Context, wire.Message) (map[string]any, bool, error) { return nil, false, broken }}
	always := faults.Proof{By: "the store", Shows: func(context.Context, wire.Message) (map[string]any, bool, error) { return nil, true, nil }}
	for name, c := range map[string]struct {
		proof faults.Proof
		at    history.Stage
		why   error
	}{
		"no probe":                   {faults.Proof{}, history.Proven, faults.ErrNoProbe},
		"a probe that shows nothing": {never, history.Proven, faults.ErrNotProven},
		"a probe that fails":         {failing, history.Proven, broken},
		"a probe that shows all":     {always, history.Proven, faults.ErrBlindProbe},
	} {
		t.Run(name, func(t *testing.T) {
			s := httpStage(t)
			for _, f := range []interface {
				Arm(*faults.Ledger) faults.Fault
			}{
				faults.AnswerLost{Line: s.line, Match: write, Shape: faults.Cut, Proof: c.proof, Limits: noProof()},
				faults.CallerGone{Line: s.line, Match: write, Proof: c.proof, Limits: noProof()},
			} {
				outcome, err := faults.Around(soon(t), f.Arm(s.ledger), s.act("write", "a"))
				s.wantMissed(err, c.at, c.why)
				if outcome != history.Done {
					t.Errorf("the call that was not hit ended %s: it was not let go", outcome)
				}
			}
			if o := s.call(soon(t), "write", "c"); o != history.Done {
				t.Errorf("the wire is not as before: %s", o)
			}
		})
	}
}

func TestAReplayedCallIsProvenWithoutTheFirstLook(t *testing.T) {
	s := httpStage(t)
	s.call(soon(t), "write", "a")
	proof := s.proof()
	f := faults.AnswerLost{Line: s.line, Match: write, Shape: faults.Cut, Proof: proof, Limits: limits()}.Arm(s.ledger)
	_, err := faults.Around(soon(t), f, s.act("write", "a"))
	s.wantMissed(err, history.Proven, faults.ErrBlindProbe)
	proof.Replayed = true
	f = faults.AnswerLost{Line: s.line, Match: write, Shape: faults.Cut, Proof: proof, Limits: limits()}.Arm(s.ledger)
	if _, err := faults.Around(soon(t), f, s.act("write", "a")); err != nil {
		t.Fatal(err)
	}
	s.wantWhole(faults.Committed)
}

func TestAFaultWhoseCallNeverComesIsMissed(t *testing.T) {
	s := httpStage(t)
	f := faults.AnswerLost{Line: s.line, Match: wire.Match{Tool: "other"}, Shape: faults.Cut, Proof: s.proof(), Limits: noAnswer()}.Arm(s.ledger)
	outcome, err := faults.Around(soon(t), f, s.act("write", "a"))
	s.wantMissed(err, history.Matched, context.DeadlineExceeded)
	if outcome != history.Done {
		t.Errorf("the call ended %s", outcome)
	}
}

func TestAroundRaisesThePanicOfItsCall(t *testing.T) {
	s := httpStage(t)
	f := faults.AnswerLost{Line: s.line, Match: write, Shape: faults.Cut, Proof: s.proof(), Limits: noAnswer()}.Arm(s.ledger)
	defer func() {
		if r := recover(); r != "stop" {
			t.Errorf("recovered %v, expected the call's own panic", r)
		}
		if o := s.call(soon(t), "write", "a"); o != history.Done {
			t.Errorf("the wire is not as before: %s", o)
		}
	}()
	faults.Around(soon(t), f, func(context.Context) history.Outcome { panic("stop") })
}
