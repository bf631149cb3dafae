package versions

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/app"
	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/helper"
)

// childEnv makes the test binary a process of the reference.
const childEnv = "VERSIONS_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := be(ctx, name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func be(ctx context.Context, name string) error {
	switch name {
	case "helper@3":
		return helperOf(helper.DefaultPorts)(ctx, os.Getenv)
	case "app@3":
		return appOf(Current, app.DefaultPorts)(ctx, os.Getenv)
	}
	return Run(ctx, name, os.Getenv)
}

const token = "tok_a"

// world is one folder, an account service, and a place where the app is found
// that stays the same over restarts and versions.
type world struct {
	*testing.T
	*WithT
	folder  string
	account *httptest.Server
	front   *httptest.Server
	app     atomic.Pointer[url.URL] // nil while none runs
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, WithT: NewWithT(t), folder: t.TempDir()}
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))
	w.account = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/access" {
			fmt.Fprint(out, `{"allowed":true}`)
			return
		}
		fmt.Fprintf(out, `{"account":"a","key":%q}`, key)
	}))
	t.Cleanup(w.account.Close)
	forward := &httputil.ReverseProxy{
		Transport: &http.Transport{DisableKeepAlives: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(w.app.Load())
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	w.front = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if w.app.Load() == nil {
			panic(http.ErrAbortHandler) // as if nobody listened
		}
		forward.ServeHTTP(out, r)
	}))
	t.Cleanup(w.front.Close)
	return w
}

func (w *world) command(name string, env ...string) *exec.Cmd {
	c := exec.CommandContext(w.Context(), os.Args[0])
	// The race detector's runtime sleeps for a second before a process ends.
	c.Env = append(os.Environ(), append(env, "GORACE=atexit_sleep_ms=0", childEnv+"="+name, "SIDECAR="+w.sidecar())...)
	return c
}

func (w *world) sidecar() string { return filepath.Join(w.folder, "sidecar.db") }

// startApp runs an app of a version until the returned function ends it.
func (w *world) startApp(version int) (stop func()) {
	w.Helper()
	c := w.command(fmt.Sprintf("app@%d", version), "LIBRARY="+filepath.Join(w.folder, "library"), "ACCOUNT_URL="+w.account.URL, "ACCOUNT_TOKEN="+token)
	log, err := c.StderrPipe()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(c.Start()).To(Succeed())
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if _, after, found := strings.Cut(lines.Text(), `msg="the app listens" url=`); found {
			at, err := url.Parse(strings.Fields(after)[0])
			w.Expect(err).NotTo(HaveOccurred())
			w.app.Store(at)
			break
		}
	}
	w.Expect(w.app.Load()).NotTo(BeNil(), "the app ended before it listened")
	ended := make(chan error, 1)
	go func() {
		for lines.Scan() { // what it says further is not kept
		}
		ended <- c.Wait()
	}()
	return func() {
		w.Helper()
		w.app.Store(nil)
		w.Expect(c.Process.Signal(syscall.SIGTERM)).To(Succeed())
		w.Expect(<-ended).To(Succeed())
	}
}

// agent is a session with a helper process on stdio.
type agent struct {
	*world
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	id  int
}

func (w *world) startHelper(version int) *agent {
	w.Helper()
	c := w.command(fmt.Sprintf("helper@%d", version), "APP_URL="+w.front.URL)
	in, err := c.StdinPipe()
	w.Expect(err).NotTo(HaveOccurred())
	out, err := c.StdoutPipe()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(c.Start()).To(Succeed())
	a := &agent{world: w, cmd: c, in: in, out: bufio.NewScanner(out)}
	a.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	w.Expect(err).NotTo(HaveOccurred())
	return a
}

func (a *agent) leave() {
	a.Helper()
	a.Expect(a.in.Close()).To(Succeed())
	a.Expect(a.cmd.Wait()).To(Succeed())
}

func (a *agent) ask(method, params string) json.RawMessage {
	a.Helper()
	a.id++
	_, err := fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", a.id, method, params)
	a.Expect(err).NotTo(HaveOccurred())
	for a.out.Scan() {
		var m struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		a.Expect(json.Unmarshal(a.out.Bytes(), &m)).To(Succeed())
		if m.ID == a.id {
			return m.Result
		}
	}
	a.Fatalf("the helper ended before it answered: %v", errors.Join(a.out.Err(), a.cmd.Wait()))
	return nil
}

// answer is a structured answer as any version words it.
type answer map[string]any

func (a answer) text(field string) string { s, _ := a[field].(string); return s }

// reason is why a call was refused, "" if it was not.
func (a answer) reason() string {
	if f, ok := a["failure"].(map[string]any); ok {
		return f["reason"].(string)
	}
	return a.text("error")
}

func (a *agent) call(tool string, arguments map[string]any) (content answer, isError bool) {
	a.Helper()
	raw, err := json.Marshal(arguments)
	a.Expect(err).NotTo(HaveOccurred())
	var result struct {
		StructuredContent answer `json:"structuredContent"`
		IsError           bool   `json:"isError"`
	}
	a.Expect(json.Unmarshal(a.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, raw)), &result)).To(Succeed())
	return result.StructuredContent, result.IsError
}

func (a *agent) start(task string) (answer, bool) {
	a.Helper()
	return a.call("work_start", map[string]any{"task_key": task, "title": "T", "idempotency_key": "start " + task})
}

func (a *agent) note(item, text string) (answer, bool) {
	a.Helper()
	return a.call("work_note", map[string]any{"item_id": item, "text": text, "idempotency_key": text})
}

// record is an item as the app shows it to a person.
type record struct {
	ItemID string `json:"item_id"`
	Notes  []struct{ Text string }
}

func (r record) texts() (all []string) {
	for _, n := range r.Notes {
		all = append(all, n.Text)
	}
	return all
}

func (w *world) get(path string) (status int, body string, header http.Header) {
	w.Helper()
	at := w.app.Load()
	w.Expect(at).NotTo(BeNil())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(at.String() + path)
	w.Expect(err).NotTo(HaveOccurred())
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	w.Expect(err).NotTo(HaveOccurred())
	return res.StatusCode, string(raw), res.Header
}

// records asks the app; nil while it does not show any.
func (w *world) records() (status int, all []record) {
	w.Helper()
	status, body, _ := w.get("/items")
	if status == http.StatusOK {
		w.Expect(json.Unmarshal([]byte(body), &all)).To(Succeed())
	}
	return status, all
}

// count reads how much is stored over a connection that changes nothing.
func count(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_busy_timeout=20000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables, intents, anchors int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_schema WHERE name = 'anchors'`).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM intents`).Scan(&intents); err != nil {
		t.Fatal(err)
	}
	if tables > 0 {
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM anchors`).Scan(&anchors); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%d intents, %d anchors", intents, anchors)
}

// deleteItem is a deletion by the person whose anchor write was lost to a kill.
func deleteItem(w *world, itemID string) {
	w.Helper()
	l, err := library.Open(w.Context(), library.Path(filepath.Join(w.folder, "library")))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(l.Delete(w.Context(), library.Grant{Account: "a", Key: bytes.Repeat([]byte("k"), 32)}, itemID)).To(Succeed())
	w.Expect(l.Close()).To(Succeed())
}
