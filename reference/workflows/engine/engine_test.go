package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/workflows/checkpoint"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var own = ports.Binding{Profile: "p", Target: "t"}

// crowded is a store whose disk can be full.
type crowded struct {
	ports.Store
	mu   sync.Mutex
	full func(ports.Operation) bool
}

var errFull = errors.New("no space left on device")

func (c *crowded) fill(full func(ports.Operation) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.full = full
}

func (c *crowded) isFull(o ports.Operation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full != nil && c.full(o)
}

func (c *crowded) Create(ctx context.Context, o ports.Operation) (ports.Lock, error) {
	if c.isFull(o) {
		return nil, errFull
	}
	return c.Store.Create(ctx, o)
}

func (c *crowded) Save(ctx context.Context, o ports.Operation) error {
	if c.isFull(o) {
		return errFull
	}
	return c.Store.Save(ctx, o)
}

// invoked answers calls and counts them.
type invoked struct {
	mu    sync.Mutex
	calls []ports.Call
	each  func(ctx context.Context, c ports.Call) ports.Outcome
}

func (i *invoked) Invoke(ctx context.Context, c ports.Call) ports.Outcome {
	i.mu.Lock()
	i.calls = append(i.calls, c)
	i.mu.Unlock()
	if i.each != nil {
		return i.each(ctx, c)
	}
	return ports.Outcome{Ending: ports.Succeeded, Result: json.RawMessage(`{}`)}
}

func (i *invoked) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.calls)
}

type policies struct {
	p   ports.Policy
	err error
}

func (p policies) Current(context.Context) (ports.Policy, error) { return p.p, p.err }

type clock struct{}

func (clock) Now() time.Time { return time.Now() }

type ids struct{}

func (ids) NewOperation() string    { return checkpoint.NewID() }
func (ids) NewConfirmation() string { return "" }

// bench is an engine on a real store.
type bench struct {
	*Engine
	t     *testing.T
	dir   string
	disk  *crowded
	calls *invoked
}

func newBench(t *testing.T, dir string, p ports.Policies) *bench {
	t.Helper()
	store, err := checkpoint.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, disk: &crowded{Store: store}, calls: &invoked{}}
	b.Engine = New(Ports{Clock: clock{}, IDs: ids{}, Admit: definitions.Rules{}, Store: b.disk, Policies: p, Invoke: b.calls, Background: beside, Log: nowhere()})
	t.Cleanup(b.Close)
	return b
}

// beside runs an operation in a goroutine, as the server does.
func beside(run func()) { go run() }

func nowhere() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func fresh(t *testing.T) *bench { return newBench(t, filepath.Join(t.TempDir(), "store"), policies{}) }

func publishes(n int) (all []StepCall) {
	for range n {
		all = append(all, StepCall{definitions.Publish, json.RawMessage(`{}`)})
	}
	return all
}

func (b *bench) start(n int) string {
	b.t.Helper()
	o, err := b.Start(b.t.Context(), own, publishes(n))
	if err != nil {
		b.t.Fatal(err)
	}
	return o.ID
}

// ends waits until nobody runs the operation.
func (b *bench) ends(id string) ports.Operation {
	b.t.Helper()
	var last ports.Operation
	err := wait.Soon(b.t.Context(), "the end of "+id, wait.Default().Converge, func(ctx context.Context) (bool, error) {
		var err error
		last, err = b.Status(ctx, id, own)
		return last.State != ports.Running, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return last
}

func inFlight(o ports.Operation) bool { return o.Count(ports.InFlight) > 0 }

func TestWithoutRoomForItsCheckpointAStepIsNotInvoked(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	b.disk.fill(inFlight)
	id := b.start(2)
	end := b.ends(id)
	g.Expect(end.State).To(Equal(ports.Interrupted))
	g.Expect(end.Code).To(Equal(ports.CodeCheckpointNotStored))
	g.Expect(b.calls.count()).To(BeZero())

	_, err := b.Resume(t.Context(), id, own)
	g.Expect(err).NotTo(HaveOccurred(), "there is room for this checkpoint, and not for the next")
	g.Expect(b.ends(id).Code).To(Equal(ports.CodeCheckpointNotStored))
	b.disk.fill(nil)
	_, err = b.Resume(t.Context(), id, own)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.ends(id)).To(And(HaveField("State", ports.Completed), HaveField("Code", ports.Code(""))))
	g.Expect(b.calls.count()).To(Equal(2))
}

func TestAResultThatCouldNotBeStoredIsNoDoubtToWhomSawIt(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	b.disk.fill(func(o ports.Operation) bool { return o.Steps[0].State == ports.Done })
	id := b.start(2)
	g.Expect(b.ends(id)).To(And(HaveField("State", ports.Interrupted), HaveField("Code", ports.CodeCheckpointNotStored)))
	_, err := b.Resume(t.Context(), id, own)
	g.Expect(CodeOf(err)).To(Equal(ports.CodeCheckpointNotStored))
	g.Expect(err).To(MatchError(ContainSubstring("make room and resume")))
	b.disk.fill(nil)
	_, err = b.Resume(t.Context(), id, own)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.ends(id).State).To(Equal(ports.Completed))
	g.Expect(b.calls.count()).To(Equal(2), "once each")
}

func TestAResultThatCouldNotBeStoredIsDoubtToEverybodyElse(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	b.disk.fill(func(o ports.Operation) bool { return o.Steps[0].State == ports.Done })
	id := b.start(2)
	b.ends(id)
	other := newBench(t, b.dir, policies{})
	o, err := other.Resume(t.Context(), id, own)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.State).To(Equal(ports.NeedsReview))
	// What was kept follows another checkpoint than is stored now.
	b.disk.fill(nil)
	o, err = b.Resume(t.Context(), id, own)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.State).To(Equal(ports.NeedsReview), "it is sticky")
}

func TestWithoutRoomNothingIsStarted(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	b.disk.fill(func(ports.Operation) bool { return true })
	_, err := b.Start(t.Context(), own, publishes(1))
	g.Expect(CodeOf(err)).To(Equal(ports.CodeCheckpointNotStored))
	g.Expect(errors.Is(err, errFull)).To(BeTrue())
	g.Expect(b.calls.count()).To(BeZero())
	left, err := os.ReadDir(b.dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
}

// Sixteen resumes at once, over two engines: one acts (WF-11).
func TestOfManyResumesOneActs(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	b.disk.fill(inFlight)
	id := b.start(1)
	b.ends(id)
	b.disk.fill(nil)
	other := newBench(t, b.dir, policies{})
	letGo := make(chan struct{})
	b.calls.each = func(ctx context.Context, _ ports.Call) ports.Outcome {
		<-letGo
		return ports.Outcome{Ending: ports.Succeeded}
	}
	other.calls.each = b.calls.each
	errs := make(chan error, 16)
	for i := range 16 {
		who := []*bench{b, other}[i%2]
		go func() {
			_, err := who.Resume(context.Background(), id, own)
			errs <- err
		}()
	}
	acted := 0
	for range 16 {
		if err := <-errs; err == nil {
			acted++
		} else {
			g.Expect(CodeOf(err)).To(Equal(ports.CodeOperationBusy))
		}
	}
	close(letGo)
	g.Expect(acted).To(Equal(1))
	g.Expect(b.ends(id).State).To(Equal(ports.Completed))
	g.Expect(b.calls.count() + other.calls.count()).To(Equal(1))
}

func TestACheckpointIsStoredBeforeAndAfterEachStep(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	reader, err := checkpoint.Open(b.dir)
	g.Expect(err).NotTo(HaveOccurred())
	var seen []ports.Operation
	b.calls.each = func(ctx context.Context, c ports.Call) ports.Outcome {
		o, err := reader.Load(ctx, c.Operation)
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, o)
		return ports.Outcome{Ending: ports.Succeeded, Result: json.RawMessage(`{"n":1}`)}
	}
	b.ends(b.start(2))
	g.Expect(seen).To(HaveLen(2))
	g.Expect(seen[0].Steps[0].State).To(Equal(ports.InFlight))
	g.Expect(seen[0].Steps[1].State).To(Equal(ports.Pending))
	g.Expect(seen[1].Steps[0]).To(And(HaveField("State", ports.Done), HaveField("Result", MatchJSON(`{"n":1}`)), HaveField("ResultSHA256", Not(BeEmpty()))))
	g.Expect(seen[1].Steps[1].State).To(Equal(ports.InFlight))
}

func TestAKeyIsTheSameInEveryAttemptAndOnlyThere(t *testing.T) {
	g := NewWithT(t)
	claims := ports.Policy{Tools: map[string]ports.ToolPolicy{definitions.Publish: {Declared: ports.Declared{Idempotent: true, SafeToRetry: true}}}}
	b := newBench(t, filepath.Join(t.TempDir(), "store"), policies{p: claims})
	lost := true
	b.calls.each = func(context.Context, ports.Call) ports.Outcome {
		if lost {
			lost = false
			return ports.Outcome{Ending: ports.Doubted, Code: ports.CodeOutcomeUnknown}
		}
		return ports.Outcome{Ending: ports.Succeeded}
	}
	id := b.start(2)
	g.Expect(b.ends(id).State).To(Equal(ports.Interrupted))
	_, err := b.Resume(t.Context(), id, own)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.ends(id).State).To(Equal(ports.Completed))
	keys := []string{b.calls.calls[0].Key, b.calls.calls[1].Key, b.calls.calls[2].Key}
	g.Expect(keys[0]).To(And(HaveLen(32), Equal(keys[1]), Not(Equal(keys[2]))))
	g.Expect(b.calls.calls[1].Attempt).To(Equal(2))

	none := fresh(t)
	none.ends(none.start(1))
	g.Expect(none.calls.calls[0].Key).To(BeEmpty())
}

func TestWithoutAPolicyNothingInDoubtIsDecided(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	b.disk.fill(func(o ports.Operation) bool { return o.Steps[0].State == ports.Done })
	id := b.start(1)
	b.ends(id)
	other := newBench(t, b.dir, policies{err: errors.New("no policy")})
	_, err := other.Resume(t.Context(), id, own)
	g.Expect(err).To(MatchError(ContainSubstring("no policy")))
	g.Expect(other.ends(id).State).To(Equal(ports.Interrupted), "unchanged")
}

func TestALeavingServerStartsNothing(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	b.disk.fill(inFlight)
	id := b.start(1)
	b.ends(id)
	b.Close()
	_, err := b.Start(t.Context(), own, publishes(1))
	g.Expect(CodeOf(err)).To(Equal(ports.CodeStopped))
	_, err = b.Resume(t.Context(), id, own)
	g.Expect(CodeOf(err)).To(Equal(ports.CodeStopped))
	g.Expect(b.calls.count()).To(BeZero())
}

func TestALeavingServerStopsBeforeTheNextStep(t *testing.T) {
	g, b := NewWithT(t), fresh(t)
	begun := make(chan struct{})
	b.calls.each = func(ctx context.Context, c ports.Call) ports.Outcome {
		close(begun)
		<-ctx.Done()
		return ports.Outcome{Ending: ports.Succeeded} // it was through all the same
	}
	id := b.start(2)
	<-begun
	b.Close()
	stored, err := b.disk.Load(t.Context(), id)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(stored.State).To(Equal(ports.Interrupted), "and it is stored so")
	g.Expect(stored.Count(ports.Done)).To(Equal(1))
	g.Expect(b.calls.count()).To(Equal(1))
}

func TestErrorsHaveSafeCodes(t *testing.T) {
	g := NewWithT(t)
	for _, c := range []struct {
		err  error
		code ports.Code
	}{
		{&AdmissionError{ports.CodeStepRefused}, ports.CodeStepRefused},
		{ports.ErrNoSuch, ports.CodeOperationUnknown},
		{ports.ErrBusy, ports.CodeOperationBusy},
		{ErrStopping, ports.CodeStopped},
		{ports.ErrNotPrivate, ports.CodeStoreRefused},
		{&ports.CorruptError{}, ports.CodeCheckpointCorrupt},
		{&ports.FormatError{}, ports.CodeCheckpointVersion},
		{&NotStoredError{errFull}, ports.CodeCheckpointNotStored},
		{errFull, ports.CodeStoreUnreadable},
	} {
		g.Expect(CodeOf(c.err)).To(Equal(c.code))
		g.Expect(ports.Codes()).To(ContainElement(c.code))
	}
}
