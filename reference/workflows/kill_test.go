package workflows

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// dieEnv makes a server process kill itself at that port event, counted from 1:
// in front of and behind everything that lasts or leaves.
const dieEnv = "WORKFLOWS_TEST_DIE"

// dying counts port events and ends the process at one of them.
type dying struct {
	at, count *atomic.Int64
}

func (d dying) event() {
	if d.count.Add(1) == d.at.Load() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // no further
	}
}

func dieAt(p *Ports, word string) {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return
	}
	d := dying{&atomic.Int64{}, &atomic.Int64{}}
	d.at.Store(n)
	p.Store, p.Approvals, p.Audit, p.Chat = dyingStore{p.Store, d}, dyingApprovals{p.Approvals, d}, dyingAudit{p.Audit, d}, dyingChat{p.Chat, d}
}

type dyingStore struct {
	ports.Store
	dying
}

func (s dyingStore) Create(ctx context.Context, o ports.Operation) (ports.Lock, error) {
	s.event()
	defer s.event()
	return s.Store.Create(ctx, o)
}

func (s dyingStore) Save(ctx context.Context, o ports.Operation) error {
	s.event()
	defer s.event()
	return s.Store.Save(ctx, o)
}

type dyingApprovals struct {
	ports.Approvals
	dying
}

func (a dyingApprovals) Use(ctx context.Context, id, hash string, ttl time.Duration) error {
	a.event()
	defer a.event()
	return a.Approvals.Use(ctx, id, hash, ttl)
}

type dyingAudit struct {
	ports.Auditing
	dying
}

func (a dyingAudit) Record(ctx context.Context, r ports.AuditRecord) error {
	a.event()
	defer a.event()
	return a.Auditing.Record(ctx, r)
}

type dyingChat struct {
	ports.Chat
	dying
}

func (c dyingChat) Publish(ctx context.Context, channel, content, key string) (json.RawMessage, error) {
	c.event()
	defer c.event()
	return c.Chat.Publish(ctx, channel, content, key)
}

// A workflow of two writes, its server killed in front of and behind everything
// that lasts or leaves: review exactly where in_flight was on disk, no write twice,
// none lost, and where nothing was in doubt a resume ends it (WF-10, WF-12 to WF-14).
func TestKilledAtEveryPortEvent(t *testing.T) {
	if testing.Short() {
		t.Skip("some fifty processes")
	}
	reviewed, resumed := 0, 0
	for n := 1; ; n++ {
		w := newWorld(t)
		s := w.launch()
		steps := []map[string]any{step("publish", s.confirmed("publish", post("one"))), step("publish", s.confirmed("publish", post("two")))}
		s.leave()
		s = w.launchWith("2025-11-25", dieEnv+"="+strconv.Itoa(n))
		s.ask("workflow_start", bind(arguments{"steps": steps}))
		died := w.diesOrEnds(s)
		id := w.onlyOperation()
		if !died {
			NewWithT(t).Expect(n).To(BeNumerically(">", 20), "there were that many events")
			break
		}
		switch w.afterDeath(id) {
		case "needs_review":
			reviewed++
		case "completed":
			resumed++
		}
	}
	t.Logf("%d ended in review, %d were completed", reviewed, resumed)
	NewWithT(t).Expect([]int{reviewed, resumed}).To(HaveEach(BeNumerically(">", 4)))
}

// diesOrEnds waits until the server is dead (true) or the operation completed.
func (w *world) diesOrEnds(s *server) bool {
	w.t.Helper()
	dead := make(chan error, 1)
	go func() { dead <- s.Wait() }()
	died := false
	w.until("a death or an end", func() bool {
		select {
		case <-dead:
			died = true
			return true
		default:
			raw, err := os.ReadFile(filepath.Join(w.path("operations"), w.onlyOperation()+".json"))
			return err == nil && strings.Contains(string(raw), `"state":"completed"`)
		}
	})
	if !died {
		// The checkpoint may be seen in front of the last event: a server that leaves
		// in order has none left.
		_ = s.in.Close()
		died = <-dead != nil
	}
	return died
}

// onlyOperation is the ID of the operation in the store, "" if there is none.
func (w *world) onlyOperation() string {
	w.t.Helper()
	found, err := filepath.Glob(filepath.Join(w.path("operations"), "wf_*.json"))
	if err != nil || len(found) > 1 {
		w.t.Fatalf("the store holds %v (%v)", found, err)
	}
	if len(found) == 0 {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(found[0]), ".json")
}

// afterDeath resumes what a killed server left, and says how that ended.
func (w *world) afterDeath(id string) string {
	w.t.Helper()
	g := NewWithT(w.t)
	if id == "" {
		g.Expect(w.effects()).To(BeEmpty(), "nothing was stored, so nothing was done")
		return ""
	}
	s := w.launch()
	defer s.kill()
	before, applied := s.about("status", id), w.effects()
	g.Expect(before.isError).To(BeFalse(), before.raw)
	s.about("resume", id)
	end := s.ends(id)
	if before.Steps["in_flight"] == 1 {
		g.Expect(end.State).To(Equal("needs_review"), end.raw)
		g.Expect(w.effects()).To(Equal(applied), "nothing was done again")
		g.Expect([]int{before.Steps["done"], before.Steps["done"] + 1}).To(ContainElement(len(applied)))
		return end.State
	}
	g.Expect(end.State).To(Equal("completed"), end.raw)
	g.Expect(w.effects()).To(Equal([]string{"one", "two"}))
	return end.State
}
