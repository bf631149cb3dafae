package sidecar

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := OpenStore(t.Context(), path, Options{Busy: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func fresh(t *testing.T) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "sidecar.db"))
}

func start(id, task, key string) Open {
	return Open{ItemID: id, TaskKey: task, Key: key, Digest: "d-" + task, Payload: []byte(`{"title":"t"}`)}
}

func note(id, key string) Follow {
	return Follow{ItemID: id, Kind: NoteKind, Key: key, Digest: "d-" + key, Payload: []byte(fmt.Sprintf(`{"text":%q}`, key))}
}

// must fails the test on an error and hands the value on.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestStartIsStoredWithItsAnchor(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	o := must[Opened](t)(s.OpenWork(t.Context(), start("a", "task", "k1")))
	g.Expect(o.Anchor).To(Equal(Anchor{ItemID: "a", TaskKey: "task", State: Provisional}))
	g.Expect(o.Start.State).To(Equal(Pending))
	g.Expect(o.Replayed || o.Existing).To(BeFalse())
	g.Expect(must[[]Intent](t)(s.IntentsOf(t.Context(), "a"))).To(HaveExactElements(o.Start))
}

func TestReplayGivesTheFirstAnswerWithTodaysState(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	first := must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
	g.Expect(s.Apply(ctx, first.Start.Seq)).To(Succeed())
	again := must[Opened](t)(s.OpenWork(ctx, start("b", "task", "k1")))
	g.Expect(again.Replayed).To(BeTrue())
	g.Expect(again.Anchor.ItemID).To(Equal("a"))
	g.Expect(again.Anchor.State).To(Equal(Live))
	g.Expect(again.Start.State).To(Equal(Applied))

	n := must[Appended](t)(s.Append(ctx, note("a", "n1")))
	g.Expect(n.Replayed).To(BeFalse())
	g.Expect(n.Anchor.State).To(Equal(Live))
	g.Expect(s.Apply(ctx, n.Intent.Seq)).To(Succeed())
	m := must[Appended](t)(s.Append(ctx, note("a", "n1")))
	g.Expect(m.Replayed).To(BeTrue())
	g.Expect(m.Intent.Seq).To(Equal(n.Intent.Seq))
	g.Expect(m.Intent.State).To(Equal(Applied))
}

func TestKeyReusedForOtherContentIsRefusedAndStoresNothing(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
	before := must[Numbers](t)(s.Numbers(ctx))
	_, err := s.OpenWork(ctx, start("b", "another", "k1"))
	g.Expect(err).To(MatchError(ErrKeyReused))
	g.Expect(err).To(MatchError(`open work on task key "another": idempotency key reused for different content: key "k1" belongs to a start of item a`))
	_, err = s.Append(ctx, note("a", "k1"))
	g.Expect(err).To(MatchError(ErrKeyReused))
	g.Expect(must[Numbers](t)(s.Numbers(ctx))).To(Equal(before))
	_, found, err := s.AnchorOfTask(ctx, "another")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeFalse())
}

func TestTaskKeyWithUsableAnchorGetsNoSecondStart(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	first := must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
	provisional := must[Opened](t)(s.OpenWork(ctx, start("b", "task", "k2")))
	g.Expect(provisional.Anchor.ItemID).To(Equal("a"))
	g.Expect(provisional.Existing).To(BeTrue())
	g.Expect(s.Apply(ctx, first.Start.Seq)).To(Succeed())
	live := must[Opened](t)(s.OpenWork(ctx, start("c", "task", "k3")))
	g.Expect(live.Existing).To(BeTrue())
	g.Expect(live.Anchor.State).To(Equal(Live))
	g.Expect(must[[]Intent](t)(s.IntentsOf(ctx, "a"))).To(HaveLen(1))
}

func TestNoteOfAStartIsKeptOnceAlsoOnAnExistingRecord(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	with := func(id, key string) Open {
		o := start(id, "task", key)
		o.FirstNote = []byte(`{"text":"` + key + `"}`)
		return o
	}
	for range 2 {
		o := must[Opened](t)(s.OpenWork(ctx, with("a", "k1")))
		g.Expect(o.Note).NotTo(BeNil())
	}
	for range 2 {
		o := must[Opened](t)(s.OpenWork(ctx, with("b", "k2")))
		g.Expect(o.Note).NotTo(BeNil())
	}
	var texts []string
	for _, i := range must[[]Intent](t)(s.IntentsOf(ctx, "a")) {
		texts = append(texts, string(i.Payload))
	}
	g.Expect(texts).To(HaveExactElements(`{"title":"t"}`, `{"text":"k1"}`, `{"text":"k2"}`))
}

func TestMissingStartIsAddedByALaterStart(t *testing.T) {
	for _, key := range []string{"k1", "k2"} { // the same key and another one
		t.Run(key, func(t *testing.T) {
			g := NewWithT(t)
			s := fresh(t)
			ctx := t.Context()
			must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
			_, err := s.Append(ctx, note("a", "n1"))
			g.Expect(err).NotTo(HaveOccurred())
			_, err = s.writer.ExecContext(ctx, `DELETE FROM intents WHERE kind = 'start'`)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(must[[]Intent](t)(s.Runnable(ctx))).To(BeEmpty())

			o := must[Opened](t)(s.OpenWork(ctx, start("b", "task", key)))
			g.Expect(o.Anchor.ItemID).To(Equal("a"))
			g.Expect(o.Existing).To(BeFalse())
			runnable := must[[]Intent](t)(s.Runnable(ctx))
			g.Expect(runnable).To(HaveLen(1))
			g.Expect(runnable[0].Kind).To(Equal(StartKind))
			g.Expect(s.Apply(ctx, runnable[0].Seq)).To(Succeed())
			runnable = must[[]Intent](t)(s.Runnable(ctx))
			g.Expect(runnable).To(HaveLen(1))
			g.Expect(runnable[0].Key).To(Equal("n1"))
		})
	}
}

func TestLostFollowUpIsAcceptedAgainNotAnsweredAsDone(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
	_, err := s.Append(ctx, note("a", "n1"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = s.writer.ExecContext(ctx, `DELETE FROM intents WHERE kind = 'note'`)
	g.Expect(err).NotTo(HaveOccurred())
	for range 2 {
		_, err = s.Append(ctx, note("a", "n1"))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(must[[]Intent](t)(s.IntentsOf(ctx, "a"))).To(HaveLen(2))
}

func TestFollowUpsOfUnusableItems(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	_, err := s.Append(ctx, note("nowhere", "n0"))
	g.Expect(err).To(MatchError(ErrNeverIssued))

	dead := must[Opened](t)(s.OpenWork(ctx, start("dead", "t1", "k1")))
	g.Expect(s.Apply(ctx, dead.Start.Seq)).To(Succeed())
	queued := must[Appended](t)(s.Append(ctx, note("dead", "n1")))
	g.Expect(s.MarkDead(ctx, "dead", "deleted by its user")).To(Succeed())
	_, err = s.Append(ctx, note("dead", "n2"))
	g.Expect(err).To(MatchError(ErrDead))
	g.Expect(err.Error()).To(ContainSubstring("deleted by its user"))
	again := must[Appended](t)(s.Append(ctx, note("dead", "n1")))
	g.Expect(again.Replayed).To(BeTrue())
	g.Expect(again.Anchor.State).To(Equal(Dead))
	g.Expect(again.Intent.Seq).To(Equal(queued.Intent.Seq))
	g.Expect(again.Intent.State).To(Equal(Failed))
	g.Expect(*again.Intent.Failure).To(Equal(Failure{Class: Permanent, Code: CodeItemDeleted, Reason: "deleted by its user"}))

	failed := must[Opened](t)(s.OpenWork(ctx, start("failed", "t2", "k2")))
	follower := must[Appended](t)(s.Append(ctx, note("failed", "n3"))).Intent
	g.Expect(s.Fail(ctx, failed.Start.Seq, Failure{Class: Permanent, Code: CodeAccessDenied, Reason: "revoked"})).To(Succeed())
	_, err = s.Append(ctx, note("failed", "n4"))
	g.Expect(err).To(MatchError(ErrStartFailed))
	list := must[[]Intent](t)(s.IntentsOf(ctx, "failed"))
	g.Expect(list[1].Seq).To(Equal(follower.Seq))
	g.Expect(list[1].Failure.Code).To(Equal(CodeStartFailed))
	anchor := must[Anchor](t)(s.Anchor(ctx, "failed"))
	g.Expect(anchor.State).To(Equal(Provisional))
	g.Expect(anchor.Usable()).To(BeFalse())

	for task, key := range map[string]string{"t1": "k1", "t2": "k2"} {
		old := must[Opened](t)(s.OpenWork(ctx, start("new-"+task, task, key)))
		g.Expect(old.Replayed).To(BeTrue())
		g.Expect(old.Anchor.ItemID).NotTo(HavePrefix("new-"))
		renewed := must[Opened](t)(s.OpenWork(ctx, start("new-"+task, task, key+"-again")))
		g.Expect(renewed.Anchor.ItemID).To(Equal("new-" + task))
		newest, _, err := s.AnchorOfTask(ctx, task)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(newest.ItemID).To(Equal("new-" + task))
	}
}

func TestOrderHoldsPerItemAndPassesOverFailures(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	next := func(item string) string {
		for _, i := range must[[]Intent](t)(s.Runnable(ctx)) {
			if i.ItemID == item {
				return i.Key
			}
		}
		return ""
	}
	a := must[Opened](t)(s.OpenWork(ctx, start("a", "ta", "a0")))
	must[Opened](t)(s.OpenWork(ctx, start("b", "tb", "b0")))
	seqs := map[string]int64{}
	for _, key := range []string{"a1", "a2", "a3", "b1"} {
		seqs[key] = must[Appended](t)(s.Append(ctx, note(key[:1], key))).Intent.Seq
	}
	g.Expect(next("a")).To(Equal("a0"))
	g.Expect(s.TryLater(ctx, a.Start.Seq, Failure{Class: Transient, Code: CodeLibraryBusy, Reason: "busy"})).To(Succeed())
	g.Expect(next("a")).To(Equal("a0"), "a transient start holds its item")
	g.Expect(next("b")).To(Equal("b0"), "and no other")
	g.Expect(s.Apply(ctx, a.Start.Seq)).To(Succeed())
	g.Expect(next("a")).To(Equal("a1"))
	g.Expect(s.TryLater(ctx, seqs["a1"], Failure{Class: Blocked, Code: CodeLibraryLocked, Reason: "locked"})).To(Succeed())
	g.Expect(next("a")).To(Equal("a1"), "a blocked follow-up holds its item")
	g.Expect(s.Fail(ctx, seqs["a1"], Failure{Class: Permanent, Code: CodeAttachmentMissing, Reason: "gone"})).To(Succeed())
	g.Expect(next("a")).To(Equal("a2"), "a failed follow-up is passed over")
	g.Expect(must[Numbers](t)(s.Numbers(ctx))).To(Equal(Numbers{Permanent: 1, Pending: 4, Applied: 1}))
}

func TestOwnerIsTheFirstRestoredAccount(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
	g.Expect(must[string](t)(s.BoundOwner(ctx))).To(BeEmpty())
	g.Expect(s.BindOwner(ctx, "anna")).To(Succeed())
	g.Expect(s.BindOwner(ctx, "ben")).To(Succeed())
	g.Expect(must[string](t)(s.BoundOwner(ctx))).To(Equal("anna"))
	again := must[Opened](t)(s.OpenWork(ctx, start("b", "task", "k1")))
	g.Expect(again.Replayed).To(BeTrue(), "a key accepted before the binding is the same key after it")
	g.Expect(again.Anchor.Owner).To(Equal("anna"))
	g.Expect(again.Start.Owner).To(Equal("anna"))
	later := must[Opened](t)(s.OpenWork(ctx, start("c", "other", "k2")))
	g.Expect(later.Start.Owner).To(Equal("anna"))
	g.Expect(s.Apply(ctx, again.Start.Seq)).To(Succeed())
	g.Expect(must[[]Anchor](t)(s.LiveAnchors(ctx, "anna"))).To(HaveLen(1))
	g.Expect(must[[]Anchor](t)(s.LiveAnchors(ctx, "ben"))).To(BeEmpty())
	g.Expect(must[[]Anchor](t)(s.ProvisionalAnchors(ctx))).To(HaveLen(1))
}

func TestMarkLiveRepairsOnlyUsableProvisionalAnchors(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
	g.Expect(s.MarkLive(ctx, "a")).To(Succeed())
	g.Expect(s.MarkLive(ctx, "a")).To(Succeed())
	g.Expect(must[Anchor](t)(s.Anchor(ctx, "a")).State).To(Equal(Live))
	g.Expect(must[[]Intent](t)(s.IntentsOf(ctx, "a"))[0].State).To(Equal(Applied))
	g.Expect(s.MarkDead(ctx, "a", "first reason")).To(Succeed())
	g.Expect(s.MarkDead(ctx, "a", "second reason")).To(Succeed())
	g.Expect(must[Anchor](t)(s.Anchor(ctx, "a")).Reason).To(Equal("first reason"))
	g.Expect(s.MarkLive(ctx, "a")).To(MatchError(ErrDead), "no revival (WR-40)")
	g.Expect(s.MarkLive(ctx, "x")).To(MatchError(ErrNeverIssued))
}

func TestSettledIntentsStaySettled(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	o := must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
	for n := range 30 { // no count turns transient into failure (WR-21)
		g.Expect(s.TryLater(ctx, o.Start.Seq, Failure{Class: Transient, Code: CodeAccountUnresolved, Reason: "not yet"})).To(Succeed())
		i := must[[]Intent](t)(s.IntentsOf(ctx, "a"))
		g.Expect(i).To(HaveLen(1))
		g.Expect(i[0].Attempts).To(Equal(n + 1))
		g.Expect(i[0].State).To(Equal(Retrying))
	}
	g.Expect(s.Apply(ctx, o.Start.Seq)).To(Succeed())
	g.Expect(s.Apply(ctx, o.Start.Seq)).To(Succeed())
	i := must[[]Intent](t)(s.IntentsOf(ctx, "a"))[0]
	g.Expect(i.Attempts).To(Equal(31))
	g.Expect(i.Failure).To(BeNil())
	permanent := Failure{Class: Permanent, Code: CodeAccessDenied, Reason: "no"}
	g.Expect(s.Fail(ctx, o.Start.Seq, permanent)).To(MatchError(ErrSettled))
	g.Expect(s.TryLater(ctx, o.Start.Seq, permanent)).To(MatchError(ContainSubstring(`class is "permanent", expected transient or blocked`)))
	g.Expect(s.Apply(ctx, 99)).To(MatchError(ErrNoIntent))
}

func TestCancelledCallStoresNothing(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.OpenWork(ctx, start("a", "task", "k1"))
	g.Expect(errors.Is(err, context.Canceled)).To(BeTrue(), "%v", err)
	g.Expect(must[Numbers](t)(s.Numbers(t.Context()))).To(Equal(Numbers{}))
	must[Opened](t)(s.OpenWork(t.Context(), start("a", "task", "k1")))
}
