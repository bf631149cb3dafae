package helper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// appDouble answers what a test says about each item.
type appDouble struct {
	err   error // for every item
	items map[string]Item
	asked int
}

func (a *appDouble) Item(_ context.Context, id string) (Item, error) {
	a.asked++
	if a.err != nil {
		return Item{}, a.err
	}
	item, there := a.items[id]
	if !there {
		return Item{}, ErrNotThere
	}
	return item, nil
}

// bench is a helper without transport, over a real sidecar.
type bench struct {
	*testing.T
	*WithT
	store *sidecar.Store
	app   *appDouble
	work  *work
	specs map[string]toolspec.Spec
}

func newBench(t *testing.T) *bench {
	t.Helper()
	cfg := Config{Sidecar: filepath.Join(t.TempDir(), "sidecar.db"), BusyTimeout: 20 * time.Second, StagingRoot: t.TempDir(), Access: []toolspec.Access{toolspec.Read, toolspec.Write}}
	store, err := sidecar.OpenStore(t.Context(), cfg.Sidecar, sidecar.Options{Busy: cfg.BusyTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	set, err := toolspec.Specs()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, WithT: NewWithT(t), store: store, app: &appDouble{items: map[string]Item{}}, specs: map[string]toolspec.Spec{}}
	for _, s := range set.All() {
		b.specs[s.Name] = s
	}
	issued := 0
	b.work = &work{cfg: cfg, ports: Ports{Checking: checking{set}, Accepting: store, Reading: store, Dead: store, App: b.app, NewID: func() string {
		issued++
		return fmt.Sprintf("item%d", issued)
	}}}
	return b
}

type args map[string]any

// call answers like a session would, and holds every answer to its output schema.
func (b *bench) call(tool string, a args) Answer {
	b.Helper()
	raw, err := json.Marshal(a)
	b.Expect(err).NotTo(HaveOccurred())
	answer := b.work.call(b.Context(), b.specs[tool], raw)
	content, err := json.Marshal(answer)
	b.Expect(err).NotTo(HaveOccurred())
	spec := b.specs[tool]
	b.Expect(spec.CheckAnswer(content)).To(Succeed(), string(content))
	return answer
}

func (b *bench) start(task, key string) Answer {
	b.Helper()
	return b.call(toolspec.WorkStart, args{"task_key": task, "title": "T", "idempotency_key": key})
}

func (b *bench) note(item, key string) Answer {
	b.Helper()
	return b.call(toolspec.WorkNote, args{"item_id": item, "text": "text of " + key, "idempotency_key": key})
}

// apply does what the app's executor does, in the sidecar and in the double.
func (b *bench) apply() {
	b.Helper()
	for {
		list, err := b.store.Runnable(b.Context())
		b.Expect(err).NotTo(HaveOccurred())
		if len(list) == 0 {
			return
		}
		for _, i := range list {
			item := b.app.items[i.ItemID]
			item.ItemID = i.ItemID
			var content struct{ Title, Text, Status string }
			b.Expect(json.Unmarshal(i.Payload, &content)).To(Succeed())
			switch i.Kind {
			case sidecar.StartKind:
				item.Title, item.Status = content.Title, sidecar.Todo
			case sidecar.NoteKind:
				item.Notes = append(item.Notes, ItemNote{Text: content.Text, Seq: i.Seq})
			case sidecar.StatusKind:
				item.Status = sidecar.Status(content.Status)
			case sidecar.CompleteKind:
				item.Status = sidecar.Done
			case sidecar.CancelKind:
				item.Status = sidecar.Cancelled
			}
			b.app.items[i.ItemID] = item
			b.Expect(b.store.Apply(b.Context(), i.Seq)).To(Succeed())
		}
	}
}

func (b *bench) expectFailure(a Answer, class sidecar.Class, code sidecar.Code) {
	b.Helper()
	b.Expect(a.isError()).To(BeTrue(), "%+v", a)
	b.Expect(a.Failure.Class).To(Equal(class))
	b.Expect(a.Failure.Code).To(Equal(code))
	b.Expect(a.Failure.Reason).NotTo(BeEmpty())
}

func (b *bench) numbers() sidecar.Numbers {
	b.Helper()
	n, err := b.store.Numbers(b.Context())
	b.Expect(err).NotTo(HaveOccurred())
	return n
}

func TestStartAnswersQueuedAndFollowUpsNeedNoRecord(t *testing.T) {
	b := newBench(t)
	a := b.start("task", "k")
	b.Expect(a.isError()).To(BeFalse())
	b.Expect(a.ItemID).To(Equal("item1"))
	b.Expect(a.State).To(Equal("queued"))
	b.Expect(a.Anchor).To(Equal(sidecar.Provisional))
	b.Expect(*a.Materialized).To(BeFalse())
	for _, f := range []struct {
		tool string
		with args
	}{
		{toolspec.WorkNote, args{"text": "n"}}, {toolspec.WorkStatus, args{"status": "doing"}}, {toolspec.WorkComplete, args{}}, {toolspec.WorkCancel, args{}},
	} {
		f.with["item_id"], f.with["idempotency_key"] = a.ItemID, "key of "+f.tool
		got := b.call(f.tool, f.with)
		b.Expect(got.isError()).To(BeFalse())
		b.Expect(got.State).To(Equal("queued"))
		b.Expect(got.ItemID).To(Equal(a.ItemID))
	}
	b.apply()
	got := b.call(toolspec.WorkGet, args{"item_id": a.ItemID})
	b.Expect(got.State).To(Equal("applied"))
	b.Expect(got.Anchor).To(Equal(sidecar.Live))
	b.Expect(*got.Materialized).To(BeTrue())
	b.Expect(got.Status).To(Equal(sidecar.Cancelled))
	b.Expect(got.Title).To(Equal("T"))
	b.Expect(got.Commands).To(HaveLen(5))
}

func TestReplaysAnswerTheFirstIDAndTodaysState(t *testing.T) {
	b := newBench(t)
	a := b.start("task", "k")
	b.note(a.ItemID, "n")
	b.apply()
	again := b.start("task", "k")
	b.Expect(again.Replayed).To(BeTrue())
	b.Expect(again.ItemID).To(Equal(a.ItemID))
	b.Expect(again.State).To(Equal("applied"))
	b.Expect(*again.Materialized).To(BeTrue())
	n := b.note(a.ItemID, "n")
	b.Expect(n.Replayed).To(BeTrue())
	b.Expect(n.State).To(Equal("applied"))
	b.Expect(b.numbers()).To(Equal(sidecar.Numbers{Applied: 2}))
	existing := b.start("task", "another key")
	b.Expect(existing.Existing).To(BeTrue())
	b.Expect(existing.ItemID).To(Equal(a.ItemID))
}

func TestAKeyOfOtherContentIsRefused(t *testing.T) {
	b := newBench(t)
	a := b.start("task", "k")
	before := b.numbers()
	b.expectFailure(b.call(toolspec.WorkStart, args{"task_key": "task", "title": "another title", "idempotency_key": "k"}), sidecar.Permanent, toolspec.CodeKeyReused)
	b.expectFailure(b.call(toolspec.WorkComplete, args{"item_id": a.ItemID, "idempotency_key": "k"}), sidecar.Permanent, toolspec.CodeKeyReused)
	b.Expect(b.numbers()).To(Equal(before))
	b.call(toolspec.WorkComplete, args{"item_id": a.ItemID, "idempotency_key": "c"})
	b.expectFailure(b.call(toolspec.WorkCancel, args{"item_id": a.ItemID, "idempotency_key": "c"}), sidecar.Permanent, toolspec.CodeKeyReused)
}

func TestThreeDifferentErrorsOfUnusableItems(t *testing.T) {
	b := newBench(t)
	dead := b.start("t1", "k1").ItemID
	b.apply()
	b.note(dead, "queued when deleted")
	b.Expect(b.store.MarkDead(t.Context(), dead, "its user deleted it")).To(Succeed())
	delete(b.app.items, dead)
	spent := b.start("t2", "k2").ItemID
	list, err := b.store.Runnable(t.Context())
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.store.Fail(t.Context(), list[0].Seq, sidecar.Failure{Class: sidecar.Permanent, Code: sidecar.CodeAccessDenied, Reason: "revoked"})).To(Succeed())
	before := b.numbers()
	for item, code := range map[string]sidecar.Code{dead: sidecar.CodeItemDeleted, spent: sidecar.CodeStartFailed, "item_never": toolspec.CodeNeverIssued} {
		b.expectFailure(b.note(item, "new"), sidecar.Permanent, code)
		b.expectFailure(b.call(toolspec.WorkCancel, args{"item_id": item, "idempotency_key": "c"}), sidecar.Permanent, code)
		b.expectFailure(b.call(toolspec.WorkGet, args{"item_id": item}), sidecar.Permanent, code)
	}
	b.Expect(b.note(dead, "x").Failure.Reason).To(ContainSubstring("its user deleted it"))
	b.expectFailure(b.note(dead, "queued when deleted"), sidecar.Permanent, sidecar.CodeItemDeleted)
	b.Expect(b.numbers()).To(Equal(before))

	for item, call := range map[string][2]string{dead: {"t1", "k1"}, spent: {"t2", "k2"}} {
		old := b.start(call[0], call[1])
		b.Expect(old.isError()).To(BeTrue())
		b.Expect(old.ItemID).To(Equal(item), "the key's ID is that of the first time")
		fresh := b.start(call[0], call[1]+"-new")
		b.Expect(fresh.isError()).To(BeFalse())
		b.Expect(fresh.ItemID).NotTo(Equal(item))
		b.Expect(fresh.State).To(Equal("queued"))
	}
}

func TestAStartThatFindsItsItemGoneAnswersWithANewID(t *testing.T) {
	b := newBench(t)
	old := b.start("task", "k1").ItemID
	b.apply()
	delete(b.app.items, old)
	a := b.start("task", "k2")
	b.Expect(a.isError()).To(BeFalse())
	b.Expect(a.ItemID).NotTo(Equal(old))
	b.Expect(a.Existing || a.Replayed).To(BeFalse())
	anchor, err := b.store.Anchor(t.Context(), old)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(anchor.State).To(Equal(sidecar.Dead))
}

func TestAStartOnALiveRecordDecidesNothingWithoutTheAppsWord(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code sidecar.Code // "" for the sidecar's answer
	}{
		"app down":        {errors.New("connection refused"), ""},
		"account unknown": {ErrAccountUnresolved, ""},
		"another account": {ErrAccountUnavailable, toolspec.CodeAccountUnavailable},
		"other version":   {&AppVersionError{App: 2, Helper: 3}, sidecar.CodeVersionMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			old := b.start("task", "k1").ItemID
			b.apply()
			before := b.numbers()
			b.app.err = c.err
			a := b.start("task", "k2")
			if c.code == "" {
				b.Expect(a.ItemID).To(Equal(old))
				b.Expect(a.Existing).To(BeTrue())
			} else {
				b.Expect(a.Failure.Code).To(Equal(c.code))
				b.Expect(a.ItemID).To(BeEmpty(), "the record is not shown")
			}
			anchor, err := b.store.Anchor(t.Context(), old)
			b.Expect(err).NotTo(HaveOccurred())
			b.Expect(anchor.State).To(Equal(sidecar.Live))
			b.Expect(b.numbers()).To(Equal(before))
		})
	}
}

func TestAcknowledgedNotesCanBeReadAtOnce(t *testing.T) {
	b := newBench(t)
	item := b.call(toolspec.WorkStart, args{"task_key": "t", "title": "T", "note": "first", "idempotency_key": "k"}).ItemID
	b.note(item, "n1")
	read := func() Answer { return b.call(toolspec.WorkGet, args{"item_id": item}) }
	expect := func(checked bool, states ...string) {
		t.Helper()
		a := read()
		b.Expect(a.Checked).To(Equal(checked))
		var want []Note
		for n, s := range states {
			want = append(want, Note{Text: []string{"first", "text of n1", "text of n2"}[n], State: s})
		}
		b.Expect(a.Notes).To(Equal(want))
	}
	expect(true, "queued", "queued")
	b.app.err = errors.New("down")
	expect(false, "queued", "queued")
	b.app.err = nil
	b.apply()
	b.note(item, "n2")
	expect(true, "applied", "applied", "queued")
	b.app.err = ErrAccountUnresolved
	expect(false, "applied", "applied", "queued")
	b.app.err = ErrAccountUnavailable
	b.expectFailure(read(), sidecar.Blocked, toolspec.CodeAccountUnavailable)

	b.app.err = nil // written to the library, and the app killed before it could settle the intent
	list, err := b.store.Runnable(t.Context())
	b.Expect(err).NotTo(HaveOccurred())
	shown := b.app.items[item]
	shown.Notes = append(shown.Notes, ItemNote{Text: "text of n2", Seq: list[0].Seq})
	b.app.items[item] = shown
	expect(true, "applied", "applied", "applied")
	delete(b.app.items, item)
	b.Expect(*read().Materialized).To(BeFalse())
	anchor, err := b.store.Anchor(t.Context(), item)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(anchor.State).To(Equal(sidecar.Live), "a read changes nothing")
}

func TestANoteThatTheAppLostIsNotMadeUp(t *testing.T) {
	b := newBench(t)
	item := b.start("t", "k").ItemID
	b.note(item, "n1")
	b.apply()
	shown := b.app.items[item]
	shown.Notes = nil
	b.app.items[item] = shown
	b.Expect(b.call(toolspec.WorkGet, args{"item_id": item}).Notes).To(BeEmpty())
}

func TestTheNoteOfAStartOnAnExistingRecordIsAnsweredAsQueued(t *testing.T) {
	b := newBench(t)
	item := b.start("t", "k").ItemID
	b.apply()
	a := b.call(toolspec.WorkStart, args{"task_key": "t", "title": "T", "note": "later", "idempotency_key": "k2"})
	b.Expect(a.ItemID).To(Equal(item))
	b.Expect(a.State).To(Equal("queued"))
	b.Expect(b.numbers()).To(Equal(sidecar.Numbers{Applied: 1, Pending: 1}))
}

func TestALateStartIsNoError(t *testing.T) {
	b := newBench(t)
	item := b.start("t", "k").ItemID
	list, err := b.store.Runnable(t.Context())
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(b.store.TryLater(t.Context(), list[0].Seq, sidecar.Failure{Class: sidecar.Transient, Code: sidecar.CodeAccountUnresolved, Reason: "not yet"})).To(Succeed())
	for _, a := range []Answer{b.start("t", "k"), b.call(toolspec.WorkGet, args{"item_id": item})} {
		b.Expect(a.isError()).To(BeFalse())
		b.Expect(a.State).To(Equal("retrying"))
		b.Expect(a.Failure.Class).To(Equal(sidecar.Transient))
		b.Expect(a.Failure.Code).To(Equal(sidecar.CodeAccountUnresolved))
	}
}

func TestWhatIsRefusedBeforeDispatchStoresNothing(t *testing.T) {
	b := newBench(t)
	item := b.start("t", "k").ItemID
	before := b.numbers()
	for _, path := range []string{"../x", "a/../../x", "a/../x", "/etc/passwd", `..\x`, "."} {
		f := b.work.checkAttachment(path)
		if path == "." {
			b.Expect(f).To(BeNil(), "a folder is for the executor to refuse")
			continue
		}
		b.expectFailure(b.call(toolspec.WorkNote, args{"item_id": item, "text": "x", "attachment": path, "idempotency_key": path}), sidecar.Permanent, sidecar.CodeAttachmentOutsideRoot)
	}
	b.expectFailure(b.call(toolspec.WorkStatus, args{"item_id": item, "status": "paused", "idempotency_key": "s"}), sidecar.Permanent, toolspec.CodeInvalidArguments)
	b.work.cfg.StagingRoot = ""
	b.expectFailure(b.call(toolspec.WorkNote, args{"item_id": item, "text": "x", "attachment": "a", "idempotency_key": "a"}), sidecar.Permanent, toolspec.CodeNoStagingRoot)
	b.work.cfg.Access = []toolspec.Access{toolspec.Read}
	b.expectFailure(b.note(item, "n"), sidecar.Permanent, toolspec.CodeAccessMissing)
	b.Expect(b.call(toolspec.WorkGet, args{"item_id": item}).isError()).To(BeFalse())
	b.Expect(b.numbers()).To(Equal(before))
}

func TestFailuresOfTheSidecarAreStructured(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		err   error
		class sidecar.Class
		code  sidecar.Code
	}{
		{sidecar.ErrBusy, sidecar.Transient, toolspec.CodeSidecarBusy},
		{sidecar.ErrStorage, sidecar.Transient, toolspec.CodeSidecarStorage},
		{sidecar.ErrUnreadable, sidecar.Permanent, toolspec.CodeSidecarUnreadable},
		{context.Canceled, sidecar.Transient, toolspec.CodeCancelled},
		{errors.New("anything else"), sidecar.Transient, toolspec.CodeSidecarStorage},
	} {
		f := failureOf(fmt.Errorf("doing this: %w", c.err))
		g.Expect(f.Class).To(Equal(c.class))
		g.Expect(f.Code).To(Equal(c.code))
	}
}
