package faults_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

func (s *stage) wantDead() {
	s.t.Helper()
	select {
	case <-s.victim.dead:
	default:
		s.t.Error("the victim lives")
	}
}

func TestKillAtAnswer(t *testing.T) {
	for _, deliver := range []bool{true, false} {
		for _, proven := range []bool{true, false} {
			s := stdioStage(t)
			k := faults.KillAtAnswer{Line: s.line, Match: write, Victim: s.victim, Deliver: deliver, Limits: limits()}
			want := faults.Answered
			if proven {
				k.Proof, want = s.proof(), faults.Committed
			}
			outcome, err := faults.Around(soon(t), k.Arm(s.ledger), s.act("write", "a"))
			if err != nil {
				t.Fatalf("deliver %v, proven %v: %v", deliver, proven, err)
			}
			if (outcome == history.Done) != deliver {
				t.Errorf("deliver %v: the caller's outcome is %s", deliver, outcome)
			}
			s.wantDead()
			s.wantWhole(want)
		}
	}
}

// Without a proof nothing gives a late committer the time to commit.
func TestKillAtAnswerDoesNotWaitForTheCommit(t *testing.T) {
	s := stdioStage(t)
	k := faults.KillAtAnswer{Line: s.line, Match: wire.Match{Tool: "forgetful"}, Victim: s.victim, Deliver: true, Limits: limits()}
	if outcome, err := faults.Around(soon(t), k.Arm(s.ledger), s.act("forgetful", "a")); err != nil || outcome != history.Done {
		t.Fatalf("outcome %s: %v", outcome, err)
	}
	if s.stored("a") {
		t.Error("the forgetful helper has stored something")
	}
	s.wantWhole(faults.Answered)
}

func TestKillAtRequest(t *testing.T) {
	s := stdioStage(t)
	s.patience = 300 * time.Millisecond
	k := faults.KillAtRequest{Line: s.line, Match: write, Victim: s.victim, Limits: limits()}
	outcome, err := faults.Around(soon(t), k.Arm(s.ledger), s.act("write", "a"))
	if err != nil || outcome != history.Unknown || s.stored("a") {
		t.Fatalf("outcome %s, stored %v: %v", outcome, s.stored("a"), err)
	}
	s.wantDead()
	s.wantWhole(faults.Absent)
}

// standing is a child that can be paused as well.
type standing struct{ *child }

func (s standing) Pause(context.Context) error  { return s.cmd.Process.Signal(syscall.SIGSTOP) }
func (s standing) Resume(context.Context) error { return s.cmd.Process.Signal(syscall.SIGCONT) }

func TestKillAtStored(t *testing.T) {
	for name, of := range map[string]func(*child) process.Victim{
		"plain":    func(c *child) process.Victim { return c },
		"pausable": func(c *child) process.Victim { return standing{c} },
	} {
		s := stdioStage(t)
		stored := faults.Proof{By: "the store", Shows: func(context.Context, wire.Message) (map[string]any, bool, error) {
			return map[string]any{"key": "a"}, s.stored("a"), nil
		}}
		k := faults.KillAtStored{Position: "key a", Victim: of(s.victim), Proof: stored, Limits: limits()}
		outcome, err := faults.Around(soon(t), k.Arm(s.ledger), s.act("quiet", "a"))
		if err != nil || outcome != history.Unknown || !s.stored("a") {
			t.Fatalf("%s: outcome %s, stored %v: %v", name, outcome, s.stored("a"), err)
		}
		s.wantDead()
		s.wantWhole(faults.Committed)
	}
}

func TestKillAtStoredIsMissed(t *testing.T) {
	s := stdioStage(t)
	already := faults.KillAtStored{Position: "x", Victim: s.victim, Limits: limits(),
		Proof: faults.Proof{By: "the store", Shows: func(context.Context, wire.Message) (map[string]any, bool, error) { return nil, true, nil }}}
	_, err := faults.Around(soon(t), already.Arm(s.ledger), func(context.Context) history.Outcome {
		t.Error("the act began although it could not be proven")
		return history.Done
	})
	s.wantMissed(err, history.Matched, faults.ErrBlindProbe)
	none := faults.KillAtStored{Position: "x", Victim: s.victim, Limits: limits()}
	_, err = faults.Around(soon(t), none.Arm(s.ledger), s.act("write", "a"))
	s.wantMissed(err, history.Matched, faults.ErrNoProbe)

	// It was there, and is not any more when the process stands still: it went on.
	looks := 0
	passing := faults.KillAtStored{Position: "x", Victim: standing{s.victim}, Limits: limits(),
		Proof: faults.Proof{By: "the store", Shows: func(context.Context, wire.Message) (map[string]any, bool, error) {
			looks++
			return nil, looks == 2, nil
		}}}
	_, err = faults.Around(soon(t), passing.Arm(s.ledger), s.act("write", "b"))
	s.wantMissed(err, history.Proven, faults.ErrNotProven)
	if o := s.call(soon(t), "write", "c"); o != history.Done {
		t.Errorf("the victim of a missed fault does not go on: %s", o)
	}
}

func TestPause(t *testing.T) {
	s := stdioStage(t)
	f := faults.Pause{Victim: standing{s.victim}, Limits: limits()}.Arm(s.ledger)
	if err := f.Strike(soon(t)); err != nil {
		t.Fatal(err)
	}
	s.patience = 100 * time.Millisecond
	o := s.call(soon(t), "write", "a")
	if o != history.Unknown || s.stored("a") {
		t.Errorf("a paused helper answered: %s", o)
	}
	if err := f.Observe(o, nil); err != nil {
		t.Error(err)
	}
	if err := f.Heal(); err != nil {
		t.Error(err)
	}
	s.patience = 30 * time.Second
	if o := s.call(soon(t), "write", "b"); o != history.Done || !s.stored("a") {
		t.Errorf("after the pause: %s, the call of before is stored: %v", o, s.stored("a"))
	}
	s.wantWhole(faults.Stopped)
}

func TestAVictimThatHadEndedBefore(t *testing.T) {
	s := stdioStage(t)
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: dead, dead: make(chan struct{})}
	close(c.dead)
	k := faults.KillAtAnswer{Line: s.line, Match: write, Victim: c, Limits: limits()}
	_, err := faults.Around(soon(t), k.Arm(s.ledger), s.act("write", "a"))
	var missed *faults.Missed
	if !errors.As(err, &missed) || missed.Stage != history.Fired {
		t.Errorf("killing a process that had ended: %v", err)
	}
}
