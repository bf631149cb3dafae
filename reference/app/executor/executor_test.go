package executor_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/app/executor"
	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

func TestAcceptedOrderIsAppliedOrder(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	want := []string{}
	for n := range 67 {
		text := fmt.Sprintf("note %02d", n)
		b.note("i1", text)
		want = append(want, text)
	}
	b.follow("i1", sidecar.StatusKind, sidecar.StatusPayload{Status: sidecar.Doing})
	b.follow("i1", sidecar.CompleteKind, struct{}{})
	b.note("i1", "after complete")
	b.turns(1)
	g.Expect(b.notes("i1")).To(Equal(append(want, "after complete")))
	item, err := b.item("i1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(item.Title).To(Equal("title of i1"))
	g.Expect(item.Statuses).To(Equal([]string{"done"}))
	g.Expect(b.anchor("i1").State).To(Equal(sidecar.Live))
	for _, in := range b.intents("i1") {
		g.Expect(in.State).To(Equal(sidecar.Applied))
		g.Expect(in.Attempts).To(Equal(1))
		g.Expect(in.Failure).To(BeNil())
	}
}

func TestStatuses(t *testing.T) {
	tests := []struct {
		name   string
		follow func(b *bench)
		want   string
	}{
		{"after the start", func(*bench) {}, "todo"},
		{"set", func(b *bench) {
			b.follow("i1", sidecar.StatusKind, sidecar.StatusPayload{Status: sidecar.Waiting})
		}, "waiting"},
		{"completed", func(b *bench) { b.follow("i1", sidecar.CompleteKind, struct{}{}) }, "done"},
		{"cancelled", func(b *bench) { b.follow("i1", sidecar.CancelKind, struct{}{}) }, "cancelled"},
		{"completed, then cancelled", func(b *bench) {
			b.follow("i1", sidecar.CompleteKind, struct{}{})
			b.follow("i1", sidecar.CancelKind, struct{}{})
		}, "cancelled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			b := newBench(t)
			b.account.SignIn("a")
			b.start("i1")
			tt.follow(b)
			b.turns(1)
			item, err := b.item("i1")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(item.Statuses).To(Equal([]string{tt.want}))
		})
	}
}

func TestBeforeLoginNothingIsDecided(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	seq := b.start("i1").Seq
	b.note("i1", "early")
	b.turns(30)
	in := b.intent("i1", seq)
	g.Expect(in.State).To(Equal(sidecar.Retrying))
	g.Expect(in.Failure.Class).To(Equal(sidecar.Transient))
	g.Expect(in.Failure.Code).To(Equal(sidecar.CodeAccountUnresolved))
	g.Expect(in.Attempts).To(BeNumerically(">=", 25))
	g.Expect(b.intents("i1")).To(HaveLen(2))
	g.Expect(b.intents("i1")[1].Attempts).To(BeZero(), "what is behind the start waits for it")
	g.Expect(b.writes()).To(BeZero())
	owner, err := b.sidecar.BoundOwner(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(owner).To(BeEmpty())

	b.account.SignIn("a")
	b.turns(1)
	g.Expect(b.anchor("i1").Owner).To(Equal("a"))
	g.Expect(b.intent("i1", seq).State).To(Equal(sidecar.Applied))
	g.Expect(b.notes("i1")).To(Equal([]string{"early"}))
}

func TestARestoredAccountThatIsUnresolvedAgainLosesNothing(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	b.turns(1)
	b.account.SignOut()
	b.restart()
	b.note("i1", "n")
	b.turns(3)
	g.Expect(b.anchor("i1").State).To(Equal(sidecar.Live), "with no account nothing is missing")
	g.Expect(b.intents("i1")[1].State).To(Equal(sidecar.Retrying))
	b.account.SignIn("a")
	b.turns(1)
	g.Expect(b.notes("i1")).To(Equal([]string{"n"}))
}

func TestAnotherAccountBlocksUntilTheOwnerIsBack(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	b.turns(1)
	b.account.SignIn("b")
	seq := b.note("i1", "a's note").Seq
	late := b.start("i2").Seq
	b.turns(10)
	for _, in := range []sidecar.Intent{b.intent("i1", seq), b.intent("i2", late)} {
		g.Expect(in.Owner).To(Equal("a"))
		g.Expect(in.State).To(Equal(sidecar.Pending))
		g.Expect(in.Failure.Class).To(Equal(sidecar.Blocked))
		g.Expect(in.Failure.Code).To(Equal(sidecar.CodeOwnerMismatch))
		g.Expect(in.Attempts).To(Equal(1), "a blocked intent is not tried again in the same situation")
	}
	g.Expect(b.anchor("i1").State).To(Equal(sidecar.Live))
	g.Expect(b.writes()).To(Equal(1))
	b.account.SignIn("a")
	b.turns(1)
	g.Expect(b.notes("i1")).To(Equal([]string{"a's note"}))
	g.Expect(b.anchor("i2").State).To(Equal(sidecar.Live))
}

func TestALockedLibraryBlocksUntilAPersonActs(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	g.Expect(b.library.SetLocked(t.Context(), true)).To(Succeed())
	seq := b.start("i1").Seq
	b.turns(10)
	in := b.intent("i1", seq)
	g.Expect(in.State).To(Equal(sidecar.Pending))
	g.Expect(in.Failure.Code).To(Equal(sidecar.CodeLibraryLocked))
	g.Expect(in.Attempts).To(Equal(1))
	b.Reconsider()
	b.turns(1)
	g.Expect(b.intent("i1", seq).Attempts).To(Equal(2), "still locked")
	g.Expect(b.library.SetLocked(t.Context(), false)).To(Succeed())
	b.turns(5)
	g.Expect(b.intent("i1", seq).State).To(Equal(sidecar.Pending), "only the person's word has it tried again")
	b.Reconsider()
	b.turns(1)
	g.Expect(b.intent("i1", seq).State).To(Equal(sidecar.Applied))
}

func TestRevokedAccessIsPermanent(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	b.turns(1)
	b.access.err = session.ErrAccessDenied
	note := b.note("i1", "n").Seq
	start := b.start("i2").Seq
	behind := b.note("i2", "n").Seq
	b.turns(5)
	g.Expect(b.writes()).To(Equal(1))
	for item, seq := range map[string]int64{"i1": note, "i2": start} {
		in := b.intent(item, seq)
		g.Expect(in.State).To(Equal(sidecar.Failed))
		g.Expect(in.Failure.Code).To(Equal(sidecar.CodeAccessDenied))
		g.Expect(in.Attempts).To(Equal(1))
	}
	g.Expect(b.intent("i2", behind).Failure.Code).To(Equal(sidecar.CodeStartFailed))
	g.Expect(b.anchor("i1").State).To(Equal(sidecar.Live))
	g.Expect(b.anchor("i2").State).To(Equal(sidecar.Provisional))
}

func TestAccessThatCannotBeAskedIsTransient(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.access.err = fmt.Errorf("%w: it answered 503", session.ErrAccessUnknown)
	seq := b.start("i1").Seq
	b.turns(30)
	g.Expect(b.intent("i1", seq).State).To(Equal(sidecar.Retrying))
	g.Expect(b.intent("i1", seq).Attempts).To(BeNumerically(">=", 25))
	g.Expect(b.writes()).To(BeZero())
	b.access.err = nil
	b.turns(1)
	g.Expect(b.intent("i1", seq).State).To(Equal(sidecar.Applied))
}

func TestABusyLibraryIsTransient(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	b.turns(1)
	release := occupy(t, filepath.Join(filepath.Dir(b.staging), "library.db"))
	seq := b.note("i1", "n").Seq
	b.turns(26)
	in := b.intent("i1", seq)
	g.Expect(in.State).To(Equal(sidecar.Retrying))
	g.Expect(in.Failure.Code).To(Equal(sidecar.CodeLibraryBusy))
	g.Expect(in.Attempts).To(BeNumerically(">=", 25))
	g.Expect(b.intents("i1")).To(HaveLen(2))
	release()
	b.turns(1)
	g.Expect(b.notes("i1")).To(Equal([]string{"n"}))
}

// occupy holds the library's write lock as another program would.
func occupy(t *testing.T, path string) func() {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(1000)")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestOneItemsTroubleHoldsNoOtherItem(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	b.start("i2")
	b.turns(1)
	b.ports.Library = &refusing{Library: b.ports.Library, itemID: "i1"}
	b.restart()
	b.note("i1", "held")
	b.note("i1", "held behind")
	b.note("i2", "free")
	b.turns(3)
	g.Expect(b.notes("i2")).To(Equal([]string{"free"}))
	g.Expect(b.notes("i1")).To(BeEmpty())
	g.Expect(b.intents("i1")[1].State).To(Equal(sidecar.Retrying))
	g.Expect(b.intents("i1")[2].Attempts).To(BeZero())
}

func TestAttachments(t *testing.T) {
	tests := []struct {
		name, path string
		code       sidecar.Code // "" when it is applied
	}{
		{"a staged file", "f.txt", ""},
		{"missing", "none.txt", sidecar.CodeAttachmentMissing},
		{"dots", "../f.txt", sidecar.CodeAttachmentOutsideRoot},
		{"absolute", "/etc/hostname", sidecar.CodeAttachmentOutsideRoot},
		{"a link outside", "link", sidecar.CodeAttachmentOutsideRoot},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			b := newBench(t)
			g.Expect(os.MkdirAll(b.staging, 0o700)).To(Succeed())
			g.Expect(os.WriteFile(filepath.Join(b.staging, "f.txt"), []byte("staged"), 0o600)).To(Succeed())
			g.Expect(os.Symlink(filepath.Dir(b.staging), filepath.Join(b.staging, "link"))).To(Succeed())
			b.account.SignIn("a")
			b.start("i1")
			doomed := b.follow("i1", sidecar.NoteKind, sidecar.NotePayload{Text: "with", Attachment: tt.path}).Seq
			b.note("i1", "behind")
			b.turns(3)
			in := b.intent("i1", doomed)
			g.Expect(in.Attempts).To(Equal(1))
			if tt.code == "" {
				g.Expect(in.State).To(Equal(sidecar.Applied))
				item, err := b.item("i1")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(item.Notes[0].Attachment).To(Equal(&library.Attachment{Name: "f.txt", Content: []byte("staged")}))
				return
			}
			g.Expect(in.State).To(Equal(sidecar.Failed))
			g.Expect(in.Failure.Class).To(Equal(sidecar.Permanent))
			g.Expect(in.Failure.Code).To(Equal(tt.code))
			g.Expect(b.notes("i1")).To(Equal([]string{"behind"}), "a failed follow-up is passed over")
		})
	}
}

// A staged file that is cleaned up after its note was written fails nothing.
func TestAWrittenAttachmentIsNotLookedForAgain(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	g.Expect(os.MkdirAll(b.staging, 0o700)).To(Succeed())
	staged := filepath.Join(b.staging, "f.txt")
	g.Expect(os.WriteFile(staged, []byte("staged"), 0o600)).To(Succeed())
	b.account.SignIn("a")
	b.start("i1")
	b.turns(1)
	seq := b.follow("i1", sidecar.NoteKind, sidecar.NotePayload{Text: "with", Attachment: "f.txt"}).Seq
	whole := b.ports.Sidecar
	b.ports.Sidecar = &deaf{Executing: whole}
	b.restart()
	b.turns(1)
	g.Expect(b.intent("i1", seq).State).To(Equal(sidecar.Pending))
	g.Expect(os.Remove(staged)).To(Succeed())
	b.access.err = session.ErrAccessDenied
	b.ports.Sidecar = whole
	b.restart()
	b.turns(1)
	g.Expect(b.intent("i1", seq).State).To(Equal(sidecar.Applied), "it was written while it was allowed")
	g.Expect(b.notes("i1")).To(Equal([]string{"with"}))
}

func TestMalformedCommandsArePermanentWithoutAnAccount(t *testing.T) {
	tests := []struct {
		name    string
		kind    sidecar.Kind
		payload string
	}{
		{"a status that is none", sidecar.StatusKind, `{"status":"someday"}`},
		{"cancelled is not to be set", sidecar.StatusKind, `{"status":"cancelled"}`},
		{"a status of the wrong type", sidecar.StatusKind, `{"status":1}`},
		{"a note of the wrong type", sidecar.NoteKind, `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			b := newBench(t)
			b.account.SignIn("a")
			b.start("i1")
			b.turns(1)
			b.account.SignOut()
			seq := b.follow("i1", tt.kind, json.RawMessage(tt.payload)).Seq
			b.turns(3)
			in := b.intent("i1", seq)
			g.Expect(in.State).To(Equal(sidecar.Failed))
			g.Expect(in.Failure.Class).To(Equal(sidecar.Permanent))
			g.Expect(in.Failure.Code).To(Equal(sidecar.CodeInvalidContent))
			g.Expect(in.Attempts).To(Equal(1))
		})
	}
}

func TestAnotherContractVersionFailsNamingBoth(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.Executor = executor.New(executor.Config{Contract: 2}, b.ports)
	seq := b.start("i1").Seq
	b.turns(2)
	in := b.intent("i1", seq)
	g.Expect(in.State).To(Equal(sidecar.Failed))
	g.Expect(in.Failure.Code).To(Equal(sidecar.CodeVersionMismatch))
	g.Expect(in.Failure.Reason).To(And(ContainSubstring("version 2"), ContainSubstring(fmt.Sprint("version ", sidecar.ContractVersion))))
}

func TestRunWakesForTheSidecarAndTheAccountAndLeaves(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); b.Run(ctx) }()
	seq := b.start("i1").Seq
	state := func() sidecar.IntentState { return b.intent("i1", seq).State }
	g.Eventually(state).WithTimeout(5 * time.Second).Should(Equal(sidecar.Retrying))
	b.account.SignIn("a")
	g.Eventually(state).WithTimeout(5 * time.Second).Should(Equal(sidecar.Applied))
	b.note("i1", "n")
	g.Eventually(func() []string { return b.notes("i1") }).WithTimeout(5 * time.Second).Should(HaveLen(1))
	cancel()
	g.Eventually(ended).WithTimeout(5 * time.Second).Should(BeClosed())
}
