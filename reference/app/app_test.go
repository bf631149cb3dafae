package app_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/app"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "tok_a_secret"

// accounts is a small account service: shut until it is opened.
type accounts struct {
	*httptest.Server
	open     atomic.Bool
	refusals atomic.Int64
}

func serveAccounts(t *testing.T) *accounts {
	t.Helper()
	a := &accounts{}
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Token string }
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || ask.Token != secret || !a.open.Load() {
			a.refusals.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, `{"account":"a","key":%q}`, key)
	})
	mux.HandleFunc("GET /access", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"allowed":true}`) })
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

// running is an app that was started as its process would be.
type running struct {
	url   string
	log   *text
	stop  func()
	store *sidecar.Store
}

// text is a log that is read while it is written.
type text struct {
	mu sync.Mutex
	bytes.Buffer
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Buffer.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.Buffer.String()
}

func start(t *testing.T, folder, accountURL string) *running {
	t.Helper()
	env := map[string]string{
		"SIDECAR": filepath.Join(folder, "sidecar.db"), "LIBRARY": filepath.Join(folder, "library"),
		"ACCOUNT_URL": accountURL, "ACCOUNT_TOKEN": secret, "STAGING_ROOT": filepath.Join(folder, "staging"),
	}
	c, err := app.FromEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	r := &running{log: &text{}}
	urls := make(chan string, 1)
	c.Stderr, c.Listening = r.log, func(url string) { urls <- url }
	ports, closeAll, err := app.DefaultPorts(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.store, err = sidecar.OpenStore(t.Context(), c.Sidecar, sidecar.Options{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, c, ports) }()
	r.url = <-urls
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the app did not leave in order: %v", err)
		}
		if err := closeAll(); err != nil {
			t.Error(err)
		}
		if err := r.store.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	t.Cleanup(r.stop)
	return r
}

func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	response, err := http.Get(r.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (r *running) status(t *testing.T, path string) func() int {
	return func() int { status, _ := r.get(t, path); return status }
}

// A note before the login is on the record after it, also over a restart, and
// nothing secret is in a log, an answer or a store.
func TestANoteBeforeTheLogin(t *testing.T) {
	g := NewWithT(t)
	folder, service := t.TempDir(), serveAccounts(t)
	r := start(t, folder, service.URL)
	ctx := t.Context()
	g.Expect(r.status(t, "/healthz")()).To(Equal(200))
	note, _ := json.Marshal(sidecar.NotePayload{Text: "canary note"})
	title, _ := json.Marshal(sidecar.StartPayload{TaskKey: "t", Title: "canary title"})
	opened, err := r.store.OpenWork(ctx, sidecar.Open{ItemID: "i1", TaskKey: "t", Key: "k", Digest: "d", Payload: title, FirstNote: note})
	g.Expect(err).NotTo(HaveOccurred())
	attempts := func() int {
		intents, err := r.store.IntentsOf(ctx, "i1")
		g.Expect(err).NotTo(HaveOccurred())
		return intents[0].Attempts
	}
	g.Eventually(attempts).WithTimeout(10 * time.Second).Should(BeNumerically(">=", 2))
	g.Expect(service.refusals.Load()).To(BeNumerically(">", 0))
	g.Expect(r.status(t, "/agent/items/i1")()).To(Equal(503))
	r.stop()

	r = start(t, folder, service.URL)
	service.open.Store(true)
	g.Eventually(r.status(t, "/agent/items/i1")).WithTimeout(10 * time.Second).Should(Equal(200))
	notes := func() string { _, body := r.get(t, "/items/i1"); return body }
	g.Eventually(notes).WithTimeout(10 * time.Second).Should(ContainSubstring(`"text":"canary note"`))
	applied := func() sidecar.IntentState {
		intents, err := r.store.IntentsOf(ctx, "i1")
		g.Expect(err).NotTo(HaveOccurred())
		return intents[1].State
	}
	g.Eventually(applied).WithTimeout(10 * time.Second).Should(Equal(sidecar.Applied))
	anchor, err := r.store.Anchor(ctx, opened.Anchor.ItemID)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(anchor.State).To(Equal(sidecar.Live))
	_, page := r.get(t, "/")
	g.Expect(page).To(And(ContainSubstring("canary title"), ContainSubstring("canary note"), Not(ContainSubstring(secret))))
	_, account := r.get(t, "/account")
	g.Expect(account).To(And(ContainSubstring(`"state":"restored"`), Not(ContainSubstring(secret))))
	r.stop()
	g.Expect(r.log.String()).To(And(ContainSubstring("the app listens"), Not(ContainSubstring(secret)), Not(ContainSubstring("canary"))))
	g.Expect(inFiles(t, filepath.Join(folder, "library"), "canary", secret)).To(BeEmpty())
	g.Expect(inFiles(t, folder, secret)).To(BeEmpty())
	g.Expect(inFiles(t, folder, "canary note")).NotTo(BeEmpty(), "the search must find it where it is allowed")
}

// inFiles names the files below a folder that hold one of the words.
func inFiles(t *testing.T, folder string, words ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, word := range words {
			if bytes.Contains(raw, []byte(word)) {
				found = append(found, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestATakenPortIsNamed(t *testing.T) {
	g := NewWithT(t)
	service := serveAccounts(t)
	c := app.Config{Sidecar: filepath.Join(t.TempDir(), "s.db"), Library: t.TempDir(), AccountURL: service.URL,
		Port: service.Listener.Addr().(*net.TCPAddr).Port}
	ports, closeAll, err := app.DefaultPorts(t.Context(), c)
	g.Expect(err).NotTo(HaveOccurred())
	defer closeAll()
	g.Expect(app.Run(t.Context(), c, ports)).To(MatchError(And(ContainSubstring(fmt.Sprint(c.Port)), ContainSubstring("free PORT"))))
}

func TestFromEnvSaysWhatIsWrong(t *testing.T) {
	whole := map[string]string{"SIDECAR": "s", "LIBRARY": "l", "ACCOUNT_URL": "http://127.0.0.1:1/"}
	tokens := filepath.Join(t.TempDir(), "token")
	NewWithT(t).Expect(os.WriteFile(tokens, []byte(secret+"\n"), 0o600)).To(Succeed())
	tests := []struct {
		name string
		set  map[string]string
		says []string
	}{
		{"no sidecar", map[string]string{"SIDECAR": ""}, []string{"SIDECAR is not set", "path of the sidecar"}},
		{"no library", map[string]string{"LIBRARY": ""}, []string{"LIBRARY is not set"}},
		{"no account service", map[string]string{"ACCOUNT_URL": ""}, []string{"ACCOUNT_URL is not set"}},
		{"a port that is none", map[string]string{"PORT": "x"}, []string{`PORT is "x"`, "0 to 65535"}},
		{"a version that is none", map[string]string{"CONTRACT": "0"}, []string{`CONTRACT is "0"`, "from 1"}},
		{"an interval that is none", map[string]string{"RETRY_INTERVAL": "soon"}, []string{`RETRY_INTERVAL is "soon"`, "20ms"}},
		{"two tokens", map[string]string{"ACCOUNT_TOKEN": secret, "ACCOUNT_TOKEN_FILE": tokens}, []string{"both set", "one of them"}},
		{"no token file", map[string]string{"ACCOUNT_TOKEN_FILE": tokens + ".none"}, []string{"ACCOUNT_TOKEN_FILE", tokens + ".none"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := app.FromEnv(lookup(whole, tt.set))
			for _, say := range tt.says {
				g.Expect(err).To(MatchError(ContainSubstring(say)))
			}
			g.Expect(err).NotTo(MatchError(ContainSubstring(secret)))
		})
	}
	c, err := app.FromEnv(lookup(whole, map[string]string{"ACCOUNT_TOKEN_FILE": tokens}))
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Token).To(Equal(secret))
	g.Expect(c.AccountURL).To(Equal("http://127.0.0.1:1"))
	g.Expect(c.Retry).To(Equal(20 * time.Millisecond))
	g.Expect(c.Contract).To(Equal(sidecar.ContractVersion))
}

func lookup(maps ...map[string]string) func(string) string {
	return func(name string) string {
		value := ""
		for _, m := range maps {
			if v, set := m[name]; set {
				value = v
			}
		}
		return value
	}
}

// What waits at the start is tried once before the account is asked for, so
// that a fast login does not hide that it waited.
func TestWhatWaitsIsSeenToWait(t *testing.T) {
	g := NewWithT(t)
	folder, service := t.TempDir(), serveAccounts(t)
	service.open.Store(true)
	store, err := sidecar.OpenStore(t.Context(), filepath.Join(folder, "sidecar.db"), sidecar.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = store.OpenWork(t.Context(), sidecar.Open{ItemID: "i1", TaskKey: "t", Key: "k", Digest: "d", Payload: json.RawMessage(`{"title":"t"}`)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(store.Close()).To(Succeed())
	r := start(t, folder, service.URL)
	intent := func() sidecar.Intent {
		intents, err := r.store.IntentsOf(t.Context(), "i1")
		g.Expect(err).NotTo(HaveOccurred())
		return intents[0]
	}
	g.Eventually(func() sidecar.IntentState { return intent().State }).WithTimeout(10 * time.Second).Should(Equal(sidecar.Applied))
	g.Expect(intent().Attempts).To(BeNumerically(">=", 2))
}
