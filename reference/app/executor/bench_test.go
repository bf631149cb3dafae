package executor_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/app/executor"
	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is an app without its HTTP side: real stores, and a clock, an account
// and an access that the test moves by hand.
type bench struct {
	t       *testing.T
	folder  string
	sidecar *sidecar.Store
	library *library.Library
	staging string
	account *account
	access  *access
	clock   *clock
	ports   ports.Ports
	*executor.Executor
}

func newBench(t *testing.T) *bench {
	t.Helper()
	folder := t.TempDir()
	store, err := sidecar.OpenStore(t.Context(), filepath.Join(folder, "sidecar.db"), sidecar.Options{Busy: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	records, err := library.Open(t.Context(), filepath.Join(folder, "library.db"))
	if err != nil {
		t.Fatal(err)
	}
	changes, err := ports.NewDataVersion(filepath.Join(folder, "sidecar.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(changes.Close(), records.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	b := &bench{
		t: t, folder: folder, sidecar: store, library: records, staging: filepath.Join(folder, "staging"),
		account: &account{changed: make(chan struct{})}, access: &access{}, clock: &clock{now: time.Unix(0, 0)},
	}
	b.ports = ports.Ports{
		Sidecar: store, Records: store, Changes: changes, Library: records, Account: b.account, Access: b.access,
		Guard: ports.Guard{}, Classifier: ports.Classes{}, Staging: ports.Folder(b.staging), Clock: b.clock,
	}
	b.restart()
	return b
}

// restart stands a new executor on the same stores, as after a kill.
func (b *bench) restart() { b.Executor = executor.New(executor.Config{}, b.ports) }

// turns lets the executor look n times, a retry apart.
func (b *bench) turns(n int) {
	for range n {
		b.Turn(b.t.Context())
		b.clock.forward(25 * time.Millisecond)
	}
}

func (b *bench) start(itemID string) sidecar.Intent {
	b.t.Helper()
	opened, err := b.sidecar.OpenWork(b.t.Context(), sidecar.Open{
		ItemID: itemID, TaskKey: "task of " + itemID, Key: "start " + itemID, Digest: "d",
		Payload: payload(sidecar.StartPayload{TaskKey: "task of " + itemID, Title: "title of " + itemID}),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return opened.Start
}

func (b *bench) follow(itemID string, kind sidecar.Kind, content any) sidecar.Intent {
	b.t.Helper()
	body := payload(content)
	appended, err := b.sidecar.Append(b.t.Context(), sidecar.Follow{ItemID: itemID, Kind: kind, Key: fmt.Sprintf("%s of %s %s", kind, itemID, body), Digest: "d", Payload: body})
	if err != nil {
		b.t.Fatal(err)
	}
	return appended.Intent
}

func (b *bench) note(itemID, text string) sidecar.Intent {
	return b.follow(itemID, sidecar.NoteKind, sidecar.NotePayload{Text: text})
}

func payload(content any) json.RawMessage {
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err) // a test's own literal
	}
	return raw
}

func (b *bench) intents(itemID string) []sidecar.Intent {
	b.t.Helper()
	all, err := b.sidecar.IntentsOf(b.t.Context(), itemID)
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func (b *bench) intent(itemID string, seq int64) sidecar.Intent {
	b.t.Helper()
	for _, in := range b.intents(itemID) {
		if in.Seq == seq {
			return in
		}
	}
	b.t.Fatalf("intent %d of item %s is gone", seq, itemID)
	return sidecar.Intent{}
}

func (b *bench) anchor(itemID string) sidecar.Anchor {
	b.t.Helper()
	a, err := b.sidecar.Anchor(b.t.Context(), itemID)
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// leaveProvisional puts an anchor where a sidecar of version 2 has it, whose app
// never wrote it.
func (b *bench) leaveProvisional(itemID string) {
	b.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(b.folder, "sidecar.db"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(b.t.Context(), `UPDATE anchors SET state = 'provisional' WHERE item_id = ?`, itemID); err != nil {
		b.t.Fatal(err)
	}
}

// item reads an item as account a, the owner in these tests.
func (b *bench) item(itemID string) (library.Item, error) {
	return b.library.Item(b.t.Context(), library.Grant{Account: "a", Key: keyOf("a")}, itemID)
}

func (b *bench) notes(itemID string) []string {
	b.t.Helper()
	item, err := b.item(itemID)
	if err != nil {
		b.t.Fatal(err)
	}
	texts := []string{}
	for _, n := range item.Notes {
		texts = append(texts, n.Text)
	}
	return texts
}

func (b *bench) writes() int {
	b.t.Helper()
	log, err := b.library.Log(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return len(log.Writes)
}

func keyOf(account string) []byte { return bytes.Repeat([]byte(account), 32) }

// account is an Account that the test signs in and out.
type account struct {
	mu      sync.Mutex
	state   session.State
	changed chan struct{}
}

func (a *account) Run(context.Context) {}

func (a *account) Current() session.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state
}

func (a *account) Changed() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed
}

func (a *account) SignIn(name string) {
	a.set(session.State{Phase: session.Restored, Account: name, Key: keyOf(name)})
}

func (a *account) SignOut() { a.set(session.State{Phase: session.SignedOut}) }

func (a *account) set(state session.State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	state.Generation = a.state.Generation + 1
	a.state = state
	close(a.changed)
	a.changed = make(chan struct{})
}

// access answers what the test says.
type access struct{ err error }

func (a *access) Check(context.Context, string) error { return a.err }

// clock stands still unless it is moved; its ticks are real.
type clock struct {
	ports.SystemClock
	now time.Time
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) forward(d time.Duration) { c.now = c.now.Add(d) }
