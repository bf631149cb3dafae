package sidecar

import (
	"errors"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
)

var (
	later   = Failure{Class: Transient, Code: CodeLibraryBusy, Reason: "busy"}
	blocked = Failure{Class: Blocked, Code: CodeLibraryLocked, Reason: "locked"}
	forGood = Failure{Class: Permanent, Code: CodeInvalidContent, Reason: "no"}
)

// happen makes an event befall an intent, or the anchor of its item.
func happen(t *testing.T, s *Store, e Event, itemID string, seq int64) error {
	t.Helper()
	ctx := t.Context()
	switch e {
	case Accepted:
		_, err := s.OpenWork(ctx, start(itemID, "task of "+itemID, "key of "+itemID))
		return err
	case LateAgain:
		return s.TryLater(ctx, seq, later)
	case BlockedNow:
		return s.TryLater(ctx, seq, blocked)
	case FailedOnce:
		return s.Fail(ctx, seq, forGood)
	case AppliedNow:
		return s.Apply(ctx, seq)
	case FoundThere:
		return s.MarkLive(ctx, itemID)
	case FoundGone:
		return s.MarkDead(ctx, itemID, "gone")
	}
	t.Fatalf("no such event %q", e)
	return nil
}

func lead(t *testing.T, s *Store, itemID string, seq int64, to IntentState) {
	t.Helper()
	way := map[IntentState][]Event{Pending: nil, Retrying: {LateAgain}, Failed: {FailedOnce}, Applied: {AppliedNow}}
	for _, e := range way[to] {
		if err := happen(t, s, e, itemID, seq); err != nil {
			t.Fatal(err)
		}
	}
}

func expectRefusal(g *WithT, got, want error) {
	if want == nil {
		g.Expect(got).NotTo(HaveOccurred())
	} else {
		g.Expect(got).To(MatchError(want))
	}
}

func TestIntentsFollowTheTable(t *testing.T) {
	seen := map[string]bool{}
	s := fresh(t)
	for n, step := range IntentSteps() {
		name := fmt.Sprintf("start=%t/%s/%s", step.Start, step.From, step.Event)
		if seen[name] {
			t.Fatalf("%s is in the table twice", name)
		}
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ctx := t.Context()
			id := fmt.Sprintf("item%d", n)
			g.Expect(happen(t, s, Accepted, id, 0)).To(Succeed())
			i := must[[]Intent](t)(s.IntentsOf(ctx, id))[0]
			if !step.Start {
				g.Expect(s.Apply(ctx, i.Seq)).To(Succeed())
				i = must[Appended](t)(s.Append(ctx, note(id, "note of "+id))).Intent
			}
			if step.Event != Accepted {
				lead(t, s, id, i.Seq, step.From)
				expectRefusal(g, happen(t, s, step.Event, id, i.Seq), step.Refused)
			}
			list := must[[]Intent](t)(s.IntentsOf(ctx, id))
			g.Expect(list[len(list)-1].State).To(Equal(step.To))
			if step.To == Failed {
				g.Expect(list[len(list)-1].Failure).NotTo(BeNil())
				g.Expect(list[len(list)-1].Failure.Class).To(Equal(Permanent))
			}
		})
	}
	for _, start := range []bool{true, false} {
		for _, from := range []IntentState{Pending, Retrying, Failed, Applied} {
			for _, e := range []Event{LateAgain, BlockedNow, FailedOnce, AppliedNow, FoundThere, FoundGone} {
				if name := fmt.Sprintf("start=%t/%s/%s", start, from, e); !seen[name] {
					t.Errorf("%s is missing in the table", name)
				}
			}
		}
	}
}

func TestAnchorsFollowTheTable(t *testing.T) {
	s := fresh(t)
	stateOf := func(g *WithT, id string) AnchorState {
		a, err := s.Anchor(t.Context(), id)
		if errors.Is(err, ErrNeverIssued) {
			return ""
		}
		g.Expect(err).NotTo(HaveOccurred())
		if a.StartFailed {
			return Spent
		}
		return a.State
	}
	way := map[AnchorState][]Event{
		"": nil, Provisional: {Accepted}, Spent: {Accepted, FailedOnce}, Live: {Accepted, AppliedNow}, Dead: {Accepted, AppliedNow, FoundGone},
	}
	seen := map[string]bool{}
	for n, step := range AnchorSteps() {
		seen[string(step.From)+"/"+string(step.Event)] = true
		t.Run(fmt.Sprintf("%s/%s", step.From, step.Event), func(t *testing.T) {
			g := NewWithT(t)
			id := fmt.Sprintf("item%d", n)
			var seq int64
			for _, e := range way[step.From] {
				g.Expect(happen(t, s, e, id, seq)).To(Succeed())
				seq = must[[]Intent](t)(s.IntentsOf(t.Context(), id))[0].Seq
			}
			g.Expect(stateOf(g, id)).To(Equal(step.From))
			expectRefusal(g, happen(t, s, step.Event, id, seq), step.Refused)
			g.Expect(stateOf(g, id)).To(Equal(step.To))
		})
	}
	for _, from := range []AnchorState{Provisional, Spent, Live, Dead} {
		for _, e := range []Event{LateAgain, BlockedNow, FailedOnce, AppliedNow, FoundThere, FoundGone} {
			if name := string(from) + "/" + string(e); !seen[name] {
				t.Errorf("%s is missing in the table", name)
			}
		}
	}
}
