package trips

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// dieEnv makes a server process kill itself at that store event of its first
// command, counted from 1: in front of and behind each step that a command stores.
const dieEnv = "TRIPS_TEST_DIE"

// events are how many there are: two around each of SaveDraft, StoreReceipt and the
// whole Change.
const events = 6

func dieAt(p *Ports, word string) {
	if at, err := strconv.ParseInt(word, 10, 64); err == nil {
		p.Store = dyingStore{p.Store, &dying{at: at}}
	}
}

type dying struct {
	at    int64
	count atomic.Int64
}

func (d *dying) event() {
	if d.count.Add(1) == d.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // no further
	}
}

type dyingStore struct {
	ports.Store
	*dying
}

func (s dyingStore) Change(ctx context.Context, do func(context.Context, ports.Tx) error) error {
	s.event()
	defer s.event()
	return s.Store.Change(ctx, func(ctx context.Context, tx ports.Tx) error { return do(ctx, dyingTx{tx, s.dying}) })
}

type dyingTx struct {
	ports.Tx
	*dying
}

func (t dyingTx) SaveDraft(ctx context.Context, d ports.Draft) error {
	t.event()
	defer t.event()
	return t.Tx.SaveDraft(ctx, d)
}

func (t dyingTx) StoreReceipt(ctx context.Context, r ports.Receipt) error {
	t.event()
	defer t.event()
	return t.Tx.StoreReceipt(ctx, r)
}

// process starts a server process and waits until it listens.
func (w *world) process(die int) (s *server, ended func() error) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1", dieEnv+"="+strconv.Itoa(die))
	for _, name := range []string{"PORT", "TRIPS_STORE", "TRIPS_ACCOUNTS", "TRIPS_DRAFTS"} {
		cmd.Env = append(cmd.Env, name+"="+w.env(name))
	}
	s = &server{t: w.t, log: &logged{}}
	cmd.Stderr = s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.t.Fatalf("the server said no address: %v\n%s", err, s.log)
	}
	s.url = strings.TrimSpace(line)
	over := false
	ended = func() error { over = true; return cmd.Wait() }
	w.t.Cleanup(func() {
		if !over {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return s, ended
}

func TestDraftAndReceiptAreThereTogetherWhereverTheServerIsKilled(t *testing.T) {
	for at := 1; at <= events; at++ {
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			s, ended := w.process(at)
			ann := s.as("ann")
			sent := update("c1", 1, `{"destination": "BOS"}`)
			_, err := ann.try("PATCH", "/api/trips/trip-1", sent)
			g.Expect(err).To(HaveOccurred(), "no answer came")
			g.Expect(ended()).To(MatchError("signal: killed"))

			draft := w.rows(`SELECT revision, destination FROM drafts WHERE draft = 'trip-1'`)
			receipts := w.rows(`SELECT from_revision, to_revision FROM receipts WHERE command_id = 'c1'`)
			if at < events {
				g.Expect(draft).To(Equal([]string{"1|JFK"}))
				g.Expect(receipts).To(BeEmpty())
			} else {
				g.Expect(draft).To(Equal([]string{"2|BOS"}))
				g.Expect(receipts).To(Equal([]string{"1|2"}))
			}

			again := w.serve()
			ann.url = again.url
			g.Expect(ann.do("GET", "/api/session", "").body).To(Equal(`{"user":"ann"}`+"\n"), "the session outlived the server")
			r := result(t, ann.patch("trip-1", sent))
			g.Expect([]int64{r.FromRevision, r.ToRevision, ann.draft("trip-1").Revision}).To(Equal([]int64{1, 2, 2}))
		})
	}
}

func TestARestartKeepsEverything(t *testing.T) {
	g, w, first := begins(t)
	ann := first.as("ann")
	told := ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`))
	g.Expect(ann.fence("trip-1", "c2").status).To(Equal(200))
	before := w.stored()
	first.stop()

	ann.url = w.serve().url
	g.Expect(w.stored()).To(Equal(before), "drafts that are there are not planted again")
	g.Expect(ann.do("GET", "/api/session", "").body).To(Equal(`{"user":"ann"}` + "\n"))
	g.Expect(ann.lookup("trip-1", "c1")).To(Equal(told))
	g.Expect(ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`))).To(Equal(told))
	g.Expect(ann.patch("trip-1", update("c2", 2, `{"destination": "LAX"}`)).is()).To(Equal("409 fenced"))
}
