package editor

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
	server "github.com/holdfast-mcp/holdfast/reference/trips"
)

// wire is the way to the reference's trips server; it can lose answers to commands
// behind their effect, or refuse to carry them.
type wire struct {
	*httptest.Server
	lose, refuse atomic.Bool
	commands     atomic.Int64
}

func reference(t *testing.T) *wire {
	t.Helper()
	dir := t.TempDir()
	accounts := filepath.Join(dir, "accounts.json")
	if err := os.WriteFile(accounts, []byte(`{"accounts":[{"name":"ada","token":"pw-ada"},{"name":"bob","token":"pw-bob"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	drafts, err := json.Marshal([]map[string]string{{"draft": "trip-1", "owner": "ada", "destination": "JFK", "purpose": "Workshop", "starts": "2027-01-04", "ends": "2027-01-06"}})
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PORT": "0", "TRIPS_STORE": filepath.Join(dir, "trips.db"), "TRIPS_ACCOUNTS": accounts, "TRIPS_DRAFTS": string(drafts)}
	cfg, err := server.FromEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 1)
	cfg.Stderr, cfg.Listening = &logs{}, func(url string) { listening <- url }
	p, closeAll, err := server.DefaultPorts(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, cfg, p) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := closeAll(); err != nil {
			t.Error(err)
		}
	})
	base, err := url.Parse(<-listening)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(base)
	proxy.Transport = &http.Transport{DisableKeepAlives: true}
	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPatch {
			proxy.ServeHTTP(rw, r)
			return
		}
		w.commands.Add(1)
		if w.refuse.Load() {
			panic(http.ErrAbortHandler)
		}
		if w.lose.Load() {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// on has an editor work on another server than the test's own.
func on(t *testing.T, base string) func(*Config, *Ports) {
	return func(c *Config, p *Ports) {
		fresh, err := DefaultPorts(Config{TripsURL: base, Deadline: c.Deadline, LookupDeadline: c.LookupDeadline})
		if err != nil {
			t.Fatal(err)
		}
		*p = fresh
	}
}

// The editor and the reference's trips server understand each other.
func TestOnTheReferencesTrips(t *testing.T) {
	g, trips := NewWithT(t), reference(t)
	w := start(t, "stdio", on(t, trips.URL))
	g.Expect(w.get("trip-1")).To(And(HaveField("Revision", 1), HaveField("Saved.Destination", "JFK"), HaveField("State", ports.Saved)))
	g.Expect(w.call(ports.UpdateDraft, update("c-1", 9, args{"destination": "BOS"})).Answer).To(And(HaveField("Outcome", ports.Conflict), HaveField("Reason", ContainSubstring("revision 1"))))
	g.Expect(w.call(ports.UpdateDraft, update("c-2", 1, args{"destination": "BOS"})).Answer).To(Equal(ports.Answer{Outcome: ports.Confirmed, CommandID: "c-2", DraftID: "trip-1", FromRevision: 1, ToRevision: 2}))
	g.Expect(w.call(ports.UpdateDraft, update("c-2", 1, args{"destination": "BOS"})).ToRevision).To(Equal(2), "a replay")
	g.Expect(w.call(ports.UpdateDraft, update("c-2", 2, args{"destination": "LAX"})).Code).To(Equal(ports.CodeCommandReused))

	trips.lose.Store(true)
	g.Expect(w.call(ports.UpdateDraft, update("c-3", 2, args{"destination": "LAX"})).Outcome).To(Equal(ports.Unknown))
	w.types("purpose", "mine")
	sent := trips.commands.Load()
	g.Expect(w.call(ports.RecheckUpdate, about("c-3")).Answer).To(And(HaveField("Outcome", ports.Confirmed), HaveField("ToRevision", 3)))
	g.Expect(w.sees("trip-1")).To(And(HaveField("Fields.Destination", "LAX"), HaveField("Fields.Purpose", "mine"), HaveField("State", ports.UnsavedChanges)))
	g.Expect(trips.commands.Load()).To(Equal(sent))

	trips.lose.Store(false)
	trips.refuse.Store(true)
	g.Expect(w.call(ports.UpdateDraft, update("c-4", 3, args{"destination": "SFO"})).Outcome).To(Equal(ports.Unknown))
	trips.refuse.Store(false)
	g.Expect(w.call(ports.RecheckUpdate, about("c-4")).Code).To(Equal(ports.CodeNoReceipt))
	g.Expect(w.call(ports.RecheckUpdate, args{"draftId": "trip-1", "commandId": "c-4", "giveUp": true}).Outcome).To(Equal(ports.NotApplied))
	g.Expect(w.call(ports.UpdateDraft, update("c-4", 3, args{"destination": "SFO"})).Code).To(Equal(ports.CodeFenced))

	g.Expect(w.signIn("bob").HTTP).To(Equal(http.StatusOK))
	g.Expect(w.sees("trip-1")).To(And(HaveField("HTTP", http.StatusNotFound), HaveField("Code", ports.CodeNotFound)))
	g.Expect(w.signIn("ada").HTTP).To(Equal(http.StatusOK))
	g.Expect(w.call(ports.SubmitTrip, submit("c-5", 3)).Outcome).To(Equal(ports.Confirmed))
	g.Expect(w.sees("trip-1")).To(And(HaveField("Status", "submitted"), HaveField("Revision", 4)))
}
