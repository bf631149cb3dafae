package executor_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

var errKilled = errors.New("killed")

// fuse lets n writes pass and lets none pass after them, as a kill does. With
// half set, the last one passes and its answer is lost.
type fuse struct {
	left int
	half bool
}

func (f *fuse) through(write func() error) error {
	if f.left == 0 {
		if !f.half {
			return errKilled
		}
		f.half = false
		// What it returned nobody lives to see.
		_ = write()
		return errKilled
	}
	if f.left < 0 {
		return write()
	}
	f.left--
	return write()
}

// fusedSidecar and fusedLibrary put every write of the executor through one fuse.
type fusedSidecar struct {
	sidecar.Executing
	*fuse
}

func (s fusedSidecar) BindOwner(ctx context.Context, account string) error {
	return s.through(func() error { return s.Executing.BindOwner(ctx, account) })
}

func (s fusedSidecar) TryLater(ctx context.Context, seq int64, f sidecar.Failure) error {
	return s.through(func() error { return s.Executing.TryLater(ctx, seq, f) })
}

func (s fusedSidecar) Fail(ctx context.Context, seq int64, f sidecar.Failure) error {
	return s.through(func() error { return s.Executing.Fail(ctx, seq, f) })
}

func (s fusedSidecar) Apply(ctx context.Context, seq int64) error {
	return s.through(func() error { return s.Executing.Apply(ctx, seq) })
}

func (s fusedSidecar) MarkLive(ctx context.Context, itemID string) error {
	return s.through(func() error { return s.Executing.MarkLive(ctx, itemID) })
}

func (s fusedSidecar) MarkDead(ctx context.Context, itemID, reason string) error {
	return s.through(func() error { return s.Executing.MarkDead(ctx, itemID, reason) })
}

type fusedLibrary struct {
	ports.Library
	*fuse
}

func (l fusedLibrary) Create(ctx context.Context, g library.Grant, m library.Mark, d library.Draft) error {
	return l.through(func() error { return l.Library.Create(ctx, g, m, d) })
}

func (l fusedLibrary) Update(ctx context.Context, g library.Grant, m library.Mark, c library.Change) error {
	return l.through(func() error { return l.Library.Update(ctx, g, m, c) })
}

// deaf is a sidecar that is never told that an intent was applied.
type deaf struct{ sidecar.Executing }

func (*deaf) Apply(context.Context, int64) error { return errKilled }

// refusing is a library that is out of order for one item.
type refusing struct {
	ports.Library
	itemID string
}

func (r *refusing) Update(ctx context.Context, g library.Grant, m library.Mark, c library.Change) error {
	if m.ItemID == r.itemID {
		return errors.New("out of order")
	}
	return r.Library.Update(ctx, g, m, c)
}

// The executor is killed before and after each of its writes in turn; what was
// accepted is applied once and in order all the same (WR-05, WR-30).
func TestAKillAtAnyWriteLosesAndRepeatsNothing(t *testing.T) {
	const most = 100
	for point := range most {
		killed := 0
		for _, half := range []bool{false, true} {
			if killAt(t, point, half) {
				killed++
			}
		}
		if killed == 0 {
			if point < 10 {
				t.Fatalf("only %d writes were seen: the fuse is not where the writes are", point)
			}
			return
		}
	}
	t.Fatalf("more than %d writes for a handful of intents", most)
}

// killAt kills at one point; false means that the work was done before it.
func killAt(t *testing.T, point int, half bool) bool {
	t.Helper()
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	b.note("i1", "first")
	b.follow("i1", sidecar.StatusKind, sidecar.StatusPayload{Status: sidecar.Doing})
	b.follow("i1", sidecar.NoteKind, sidecar.NotePayload{Text: "no such file", Attachment: "none"})
	b.note("i1", "second")
	b.follow("i1", sidecar.CompleteKind, struct{}{})
	whole := b.ports
	f := &fuse{left: point, half: half}
	b.ports.Sidecar, b.ports.Library = fusedSidecar{whole.Sidecar, f}, fusedLibrary{whole.Library, f}
	b.restart()
	b.Turn(t.Context())
	if f.left > 0 {
		return false
	}
	b.ports = whole
	b.restart()
	b.turns(2)
	g.Expect(b.notes("i1")).To(Equal([]string{"first", "second"}), "killed at write %d, half %t", point, half)
	item, err := b.item("i1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(item.Statuses).To(Equal([]string{"done"}))
	g.Expect(b.anchor("i1").State).To(Equal(sidecar.Live))
	for _, in := range b.intents("i1") {
		g.Expect(in.State.Terminal()).To(BeTrue(), "intent %d is %s", in.Seq, in.State)
	}
	log, err := b.library.Log(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.Writes).To(HaveLen(5))
	g.Expect(log.Envelopes).To(Equal(log.Writes))
	g.Expect(log.Events).To(Equal(log.Writes))
	return true
}

func TestRepair(t *testing.T) {
	ctx := context.Background()
	owner := library.Grant{Account: "a", Key: keyOf("a")}
	draft := library.Draft{Title: "t", Status: "todo"}
	tests := []struct {
		name   string
		damage func(g *WithT, b *bench)
		want   sidecar.AnchorState
	}{
		{"an item of an older app that never wrote the anchor", func(g *WithT, b *bench) {
			b.start("i1")
			g.Expect(b.sidecar.BindOwner(ctx, "a")).To(Succeed())
			// The older app left no mark of this intent either.
			g.Expect(b.library.Create(ctx, owner, library.Mark{ItemID: "i1", Seq: 999}, draft)).To(Succeed())
		}, sidecar.Live},
		{"an item that an older app made without its anchor, and that is gone", func(g *WithT, b *bench) {
			b.account.SignIn("a")
			b.start("i1")
			b.turns(1)
			b.account.SignOut()
			b.leaveProvisional("i1")
			g.Expect(b.intents("i1")[0].State).To(Equal(sidecar.Applied))
			g.Expect(b.library.Delete(ctx, owner, "i1")).To(Succeed())
		}, sidecar.Dead},
		{"an item that was deleted and whose anchor write was lost", func(g *WithT, b *bench) {
			b.account.SignIn("a")
			b.start("i1")
			b.turns(1)
			b.account.SignOut()
			b.note("i1", "queued")
			g.Expect(b.library.Delete(ctx, owner, "i1")).To(Succeed())
		}, sidecar.Dead},
		{"an item that was deleted before its anchor was live", func(g *WithT, b *bench) {
			whole := b.ports.Sidecar
			b.ports.Sidecar = &deaf{whole}
			b.restart()
			b.account.SignIn("a")
			b.start("i1")
			b.turns(1)
			b.ports.Sidecar = whole
			b.account.SignOut()
			g.Expect(b.anchor("i1").State).To(Equal(sidecar.Provisional))
			g.Expect(b.library.Delete(ctx, owner, "i1")).To(Succeed())
		}, sidecar.Dead},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			b := newBench(t)
			tt.damage(g, b)
			broken := b.anchor("i1").State
			writes := b.writes()
			b.account.SignIn("b")
			b.restart()
			b.turns(3)
			g.Expect(b.anchor("i1").State).To(Equal(broken), "another account's records are left alone")
			b.account.SignOut()
			b.restart()
			b.turns(3)
			g.Expect(b.anchor("i1").State).To(Equal(broken), "with no account nothing is missing")
			b.account.SignIn("a")
			b.restart()
			// The last case needs the repair that goes round without a cause.
			b.turns(50)
			g.Expect(b.anchor("i1").State).To(Equal(tt.want))
			g.Expect(b.writes()).To(Equal(writes), "a repair writes no record")
			for _, in := range b.intents("i1") {
				g.Expect(in.State.Terminal()).To(BeTrue(), "intent %d is %s", in.Seq, in.State)
			}
			if tt.want == sidecar.Dead {
				g.Expect(b.anchor("i1").Reason).To(Equal(ports.DeletionReason))
			}
		})
	}
}

func TestAFollowUpOnAMissingItemFailsNamingTheDeletion(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	b.turns(1)
	g.Expect(b.library.Delete(t.Context(), library.Grant{Account: "a", Key: keyOf("a")}, "i1")).To(Succeed())
	seq := b.note("i1", "late").Seq
	b.turns(2)
	in := b.intent("i1", seq)
	g.Expect(in.State).To(Equal(sidecar.Failed))
	g.Expect(in.Failure.Code).To(Equal(sidecar.CodeItemDeleted))
	g.Expect(b.anchor("i1").State).To(Equal(sidecar.Dead))
}

func TestASidecarThatIsBusyIsAskedAgain(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t)
	b.account.SignIn("a")
	b.start("i1")
	f := &fuse{left: 1} // the account is bound, then nothing passes
	whole := b.ports
	b.ports.Sidecar = fusedSidecar{whole.Sidecar, f}
	b.restart()
	b.turns(3)
	g.Expect(b.anchor("i1").State).To(Equal(sidecar.Provisional))
	f.left = -1
	b.turns(1)
	g.Expect(b.anchor("i1").State).To(Equal(sidecar.Live))
	g.Expect(b.writes()).To(Equal(1))
}
