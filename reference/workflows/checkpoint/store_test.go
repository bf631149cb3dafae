package checkpoint

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// childEnv makes the test binary a process that holds a lock.
const childEnv = "CHECKPOINT_TEST_HOLD"

func TestMain(m *testing.M) {
	if at := os.Getenv(childEnv); at != "" {
		hold(at)
		return
	}
	os.Exit(m.Run())
}

// hold takes a lock, says so, and keeps it until the process is killed.
func hold(at string) {
	s, err := Open(filepath.Dir(at))
	if err == nil {
		_, err = s.Acquire(context.Background(), filepath.Base(at))
	}
	fmt.Println(err)
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
}

var own = ports.Binding{Profile: "p", Target: "t"}

func operation() ports.Operation {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	return ports.Operation{ID: NewID(), Binding: own, Seq: 1, State: ports.Running, Created: now, Updated: now,
		Steps: []ports.Step{{Tool: "publish", Arguments: json.RawMessage(`{"content":"<a> & b"}`), State: ports.Pending}}}
}

func opened(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func created(t *testing.T, s *Store) ports.Operation {
	t.Helper()
	o := operation()
	lock, err := s.Create(t.Context(), o)
	if err == nil {
		err = lock.Release()
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (s *Store) at(name string) string { return filepath.Join(s.folder.Path(), name) }

func TestIDsAreRandomAndWellFormed(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		g.Expect(Valid(id)).To(BeTrue(), id)
		seen[id] = true
	}
	g.Expect(seen).To(HaveLen(1000))
}

// No text that is not exactly a reference becomes part of a path (WF-24).
func TestForgedReferencesAreRefused(t *testing.T) {
	s := opened(t)
	o := created(t, s)
	id := o.ID
	outside := filepath.Join(filepath.Dir(s.folder.Path()), id+".json")
	if err := os.WriteFile(outside, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	body := strings.TrimPrefix(id, "wf_")
	for _, forged := range []string{
		"", " ", ".", "..", "/", "wf_", "wf", "*", "wf_*", "wf_" + strings.Repeat("?", 26),
		"../" + id, "./" + id, "/" + id, "//" + id, "..\\" + id, "a/../" + id, "../store/" + id, s.at(id), "~/" + id, "file://" + s.at(id),
		id + "/", id + "/.", id + "/..", id + ".json", id + ".lock", id + "\x00", id + "\x00.json", "\x00" + id, id + "\n", "\n" + id, id + " ", " " + id, id + "\r",
		"%2e%2e%2f" + id, "..%2f" + id, "%77%66%5f" + body, "wf%5f" + body, "&#119;f_" + body, `wf_\u0061` + body[1:],
		strings.ToUpper(id), "WF_" + body, "Wf_" + body, "wf-" + body, "wf__" + body[1:], "ｗｆ＿" + body, "wf_" + strings.Replace(body, body[:1], "а", 1), "wf_" + body[:25] + "ⅼ",
		id + "a", id[:len(id)-1], id + id, strings.Repeat("a", 5000), "wf_" + strings.Repeat("a", 4096), "wf_" + strings.Repeat("0", 26), "wf_" + strings.Repeat("1", 26),
		"wf_" + body[:24] + "\u0301a", "\u202e" + id, "\ufeff" + id, "wf_" + body[:13] + "\u200b" + body[14:], "." + id + ".json.new", "wf_../../" + body[6:],
	} {
		g := NewWithT(t)
		_, err := s.Load(t.Context(), forged)
		g.Expect(err).To(MatchError(ports.ErrNoSuch), "%q", forged)
		_, err = s.Acquire(t.Context(), forged)
		g.Expect(err).To(MatchError(ports.ErrNoSuch), "%q", forged)
		_, err = s.Held(t.Context(), forged)
		g.Expect(err).To(MatchError(ports.ErrNoSuch), "%q", forged)
		g.Expect(s.AskCancel(t.Context(), forged)).To(MatchError(ports.ErrNoSuch), "%q", forged)
		_, err = s.CancelAsked(t.Context(), forged)
		g.Expect(err).To(MatchError(ports.ErrNoSuch), "%q", forged)
		bad := o
		bad.ID = forged
		g.Expect(s.Save(t.Context(), bad)).To(MatchError(ports.ErrNoSuch), "%q", forged)
		_, err = s.Create(t.Context(), bad)
		g.Expect(err).To(MatchError(ports.ErrNoSuch), "%q", forged)
	}
	_, err := s.Load(t.Context(), id)
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "the genuine one is there")
}

func TestWhatIsStoredIsReadAgain(t *testing.T) {
	s := opened(t)
	rapid.Check(t, func(t *rapid.T) {
		o := operation()
		o.State = ports.Interrupted
		o.Code = rapid.SampledFrom(append(ports.Codes(), "")).Draw(t, "code")
		o.Profile, o.Target = rapid.StringMatching(`[a-z<>&"\\é]{1,20}`).Draw(t, "profile"), rapid.StringMatching(`.{1,20}`).Draw(t, "target")
		o.Steps = nil
		done := rapid.IntRange(0, 3).Draw(t, "done")
		for i := range done + rapid.IntRange(1, 3).Draw(t, "more") {
			step := ports.Step{Tool: rapid.String().Draw(t, "tool"), State: ports.Pending, Attempts: rapid.IntRange(0, 5).Draw(t, "attempts")}
			arguments, err := json.Marshal(map[string]string{"text": rapid.String().Draw(t, "text")})
			if err != nil {
				t.Fatal(err)
			}
			step.Arguments = arguments
			if i < done {
				step.State, step.Sent, step.Result = ports.Done, &ports.Declared{Idempotent: true}, json.RawMessage(`{"a":1}`)
			}
			o.Steps = append(o.Steps, step)
		}
		if err := s.write(o); err != nil {
			t.Fatal(err)
		}
		read, err := s.Load(context.Background(), o.ID)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(o)
		got, _ := json.Marshal(read)
		if string(want) != string(got) {
			t.Fatalf("wrote %s\nread  %s", want, got)
		}
	})
}

// Every way to damage a checkpoint is said of that operation alone, and the file
// is kept (WF-25).
func TestADamagedCheckpointIsSaidToBeOne(t *testing.T) {
	resealed := func(edit func(*ports.Operation)) func([]byte) []byte {
		return func(raw []byte) []byte {
			var d document
			var o ports.Operation
			if json.Unmarshal(raw, &d) != nil || json.Unmarshal(d.Checkpoint, &o) != nil {
				panic("the checkpoint of the test is none")
			}
			edit(&o)
			out, err := encode(o)
			if err != nil {
				panic(err)
			}
			return out
		}
	}
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		why    string
	}{
		"empty":                {func([]byte) []byte { return nil }, "its 0 bytes are no JSON document"},
		"cut in half":          {func(b []byte) []byte { return b[:len(b)/2] }, "are no JSON document"},
		"cut by its last byte": {func(b []byte) []byte { return b[:len(b)-2] }, "are no JSON document"},
		"zeroes":               {func(b []byte) []byte { return make([]byte, len(b)) }, "are no JSON document"},
		"twice":                {func(b []byte) []byte { return append(b, b...) }, "are no JSON document"},
		"an empty document":    {func([]byte) []byte { return []byte("{}") }, "its digest is not that of its content"},
		"another word":         {func(b []byte) []byte { return []byte(strings.Replace(string(b), "pending", "done", 1)) }, "its digest is not that of its content"},
		"of another operation": {resealed(func(o *ports.Operation) { o.ID = NewID() }), "it is that of another operation"},
		"of nobody":            {resealed(func(o *ports.Operation) { o.Profile = "" }), "it names no profile or no target"},
		"without steps":        {resealed(func(o *ports.Operation) { o.Steps = nil }), "it has no steps or no number"},
		"in no state":          {resealed(func(o *ports.Operation) { o.State = "lost" }), "its state is none"},
		"a step in no state":   {resealed(func(o *ports.Operation) { o.Steps[0].State = "lost" }), "the state of a step is none"},
		"done too early":       {resealed(func(o *ports.Operation) { o.State = ports.Completed }), "its state is not that of its steps"},
		"out of order": {resealed(func(o *ports.Operation) {
			o.Steps = append(o.Steps, ports.Step{Tool: "x", Arguments: json.RawMessage("{}"), State: ports.Done})
		}), "a step was begun before the one in front of it was done"},
	} {
		t.Run(name, func(t *testing.T) {
			g, s := NewWithT(t), opened(t)
			o, other := created(t, s), created(t, s)
			path := s.at(o.ID + ".json")
			raw, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			damaged := c.damage(raw)
			g.Expect(os.WriteFile(path, damaged, 0o600)).To(Succeed())
			read, err := s.Load(t.Context(), o.ID)
			var corrupt *ports.CorruptError
			g.Expect(errors.As(err, &corrupt)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError(And(ContainSubstring(o.ID), ContainSubstring(c.why), ContainSubstring("the file is kept as it is"))))
			g.Expect(read.Binding).To(Equal(own), "whose it is is known all the same")
			now, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now).To(HaveLen(len(damaged)))
			_, err = s.Load(t.Context(), other.ID)
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}

func TestANewerFormatIsRefusedByName(t *testing.T) {
	g, s := NewWithT(t), opened(t)
	o := created(t, s)
	g.Expect(os.WriteFile(s.at(o.ID+".json"), []byte(`{"format":2,"sha256":"","checkpoint":{}}`), 0o600)).To(Succeed())
	_, err := s.Load(t.Context(), o.ID)
	g.Expect(err).To(MatchError(ContainSubstring("has format 2, and this server reads format 1")))
}

func TestALockIsExclusiveAndEndsWithItsHolder(t *testing.T) {
	g, s := NewWithT(t), opened(t)
	o := created(t, s)
	lock, err := s.Acquire(t.Context(), o.ID)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = s.Acquire(t.Context(), o.ID)
	g.Expect(err).To(MatchError(ports.ErrBusy), "within a process too")
	held, err := s.Held(t.Context(), o.ID)
	g.Expect([]any{held, err}).To(Equal([]any{true, nil}))
	g.Expect(lock.Release()).To(Succeed())
	held, err = s.Held(t.Context(), o.ID)
	g.Expect([]any{held, err}).To(Equal([]any{false, nil}))

	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+s.at(o.ID))
	in, err := child.StdinPipe()
	g.Expect(err).NotTo(HaveOccurred())
	defer in.Close()
	out, err := child.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(child.Start()).To(Succeed())
	said, err := bufio.NewReader(out).ReadString('\n')
	g.Expect([]any{said, err}).To(Equal([]any{"<nil>\n", nil}))
	_, err = s.Acquire(t.Context(), o.ID)
	g.Expect(err).To(MatchError(ports.ErrBusy))
	g.Expect(child.Process.Kill()).To(Succeed())
	g.Expect(child.Wait()).To(MatchError("signal: killed"))
	lock, err = s.Acquire(t.Context(), o.ID)
	g.Expect(err).NotTo(HaveOccurred(), "a killed holder's lock is free")
	g.Expect(lock.Release()).To(Succeed())
}

func TestLookingAtALockTakesNothing(t *testing.T) {
	g, s := NewWithT(t), opened(t)
	o := created(t, s)
	stop := make(chan struct{})
	looked := make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				looked <- nil
				return
			default:
				if _, err := s.Held(context.Background(), o.ID); err != nil {
					looked <- err
					return
				}
			}
		}
	}()
	for range 2000 {
		lock, err := s.Acquire(t.Context(), o.ID)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lock.Release()).To(Succeed())
	}
	close(stop)
	g.Expect(<-looked).To(Succeed())
}

func TestAWishToStopStaysUntilTheOperationIsSettled(t *testing.T) {
	g, s := NewWithT(t), opened(t)
	o := created(t, s)
	asked := func() bool {
		yes, err := s.CancelAsked(t.Context(), o.ID)
		g.Expect(err).NotTo(HaveOccurred())
		return yes
	}
	g.Expect(asked()).To(BeFalse())
	g.Expect(s.AskCancel(t.Context(), o.ID)).To(Succeed())
	g.Expect(s.AskCancel(t.Context(), o.ID)).To(Succeed())
	g.Expect(s.Save(t.Context(), o)).To(Succeed())
	g.Expect(asked()).To(BeTrue())
	o.State = ports.Cancelled
	g.Expect(s.Save(t.Context(), o)).To(Succeed())
	g.Expect(asked()).To(BeFalse())
	left, err := os.ReadDir(s.folder.Path())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(HaveLen(2), "checkpoint and lock")
}
