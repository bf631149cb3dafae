package suites_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/reports/wait"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// notesVariable makes this test binary the server of a page of notes, on that port.
const notesVariable = "SUITES_TEST_NOTES_PORT"

// notesPage is a page whose tools need somebody signed in, and a field of its own.
const notesPage = `<!doctype html><title>notes</title><p id=state>…</p>
<form id=form hidden onsubmit="return false"><input id=name><input id=password type=password><button id=in>in</button></form>
<input id=draft><p id=user></p>
<script>
const ask = async (method, body) => { const r = await fetch("/notes", { method, body, headers: { "X-Who": "page" } }); return [r.status, await r.json()]; };
const at = id => document.getElementById(id);
const tool = (name, execute) => document.modelContext.registerTool({ name, description: name, inputSchema: { type: "object" }, execute });
const shown = async () => {
	const me = await (await fetch("/me")).json();
	at("form").hidden = me.user !== "";
	if (me.user) at("user").textContent = me.user;
	at("state").textContent = "ready";
};
at("in").onclick = async () => { await fetch("/me", { method: "POST", body: JSON.stringify({ user: at("name").value, password: at("password").value }) }); await shown(); };
tool("add", async ({ text }) => { const [status, notes] = await ask("POST", text); return { structuredContent: { notes }, content: [], isError: status !== 200 }; });
tool("list", async () => ({ notes: (await ask("GET"))[1] }));
shown();
</script>`

// serveNotes serves the page until it is killed.
func serveNotes(port string) {
	var mu sync.Mutex
	var notes []string
	password, _ := os.ReadFile(os.Getenv("TOKEN_FILE"))
	user := func(r *http.Request) string {
		c, err := r.Cookie("user")
		if err != nil {
			return ""
		}
		return c.Value
	}
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, notesPage)
	})
	http.HandleFunc("GET /me", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]string{"user": user(r)})
	})
	http.HandleFunc("POST /me", func(w http.ResponseWriter, r *http.Request) {
		var who struct{ User, Password string }
		json.NewDecoder(r.Body).Decode(&who)
		if who.Password == strings.TrimSpace(string(password)) {
			http.SetCookie(w, &http.Cookie{Name: "user", Value: who.User, Path: "/"})
		}
	})
	http.HandleFunc("/notes", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if user(r) == "" {
			w.WriteHeader(http.StatusUnauthorized)
		} else if r.Method == http.MethodPost {
			text, _ := io.ReadAll(r.Body)
			notes = append(notes, string(text))
		}
		json.NewEncoder(w).Encode(append([]string{}, notes...))
	})
	panic(http.ListenAndServe("127.0.0.1:"+port, nil))
}

const onPage = `holdfast: 1
name: notes-page
processes:
  app:
    run: ["{{self}}"]
    env: {` + notesVariable + `: "{{app.port}}", TOKEN_FILE: "{{dir}}/account-a.token"}
    ready: {http: "{{app.url}}/"}
  page: {mcp: {webmcp: "{{wire.web}}/"}}
wires:
  web: {from: page, to: app}
profiles:
  durability:
    writes: [{name: add, arguments: {text: "{{value}}"}}]
    read: {name: list, values: ".notes[]"}
selectors: {state: "#state", user: "#user", draft: "#draft", form: "#form"}
actions:
  sign_in_editor: {fill: {"#name": "{{user}}", "#password": "{{password}}"}, click: "#in", until: "#user"}
  type: {fill: {"#draft": "{{text}}"}}
  reload: {reload: true}
`

// needs skips a test where a program is missing; in CI it is there or the test fails.
func needs(t *testing.T, name string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed; scripts/setup.sh installs it", name)
	}
	t.Skipf("%s is not installed", name)
}

// onPages is what performs a drive on the page, once for each, in one browser.
func onPages(t *testing.T, drives ...func(*world.World)) (results []reports.Spec, folders []string) {
	t.Helper()
	needs(t, "chromium")
	t.Setenv("TMPDIR", t.TempDir())
	run, err := launch.NewRun("")
	if err != nil {
		t.Fatal(err)
	}
	lender := browser.NewLender(run.Folder(), wait.Default())
	t.Cleanup(func() {
		if err := lender.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	f, err := target.Parse("page.yaml", []byte(onPage))
	if err != nil {
		t.Fatal(err)
	}
	for _, drive := range drives {
		folder := t.TempDir()
		spec := suites.Test{ID: "DU-01/on-a-page", Clauses: []string{"DU-01"}, Profile: "durability", Drive: drive,
			Judge: func(history.History) judge.Ruling { return judge.Ruling{} }}
		results = append(results, suites.Perform(t.Context(), spec, suites.Setup{Target: f, Seed: 1, Folder: folder, Scratch: run.Folder(), Browser: lender}))
		folders = append(folders, folder)
	}
	return results, folders
}

func write(text string) world.Act {
	return world.Act{Role: "write", Params: map[string]string{"value": text, "n": "1", "key": text}}
}

// Two callers are two tabs of one window; the next spec has cookies of its own.
func TestTheToolsOfAPageAreDriven(t *testing.T) {
	g := NewWithT(t)
	see := func(c *world.Caller, names ...string) map[string]string {
		seen, err := c.Visible(names...)
		g.Expect(err).NotTo(HaveOccurred())
		return seen
	}
	drive := func(w *world.World) {
		w.Launch()
		one, two := w.NewCaller(), w.NewCaller()
		g.Expect(see(one)).To(Equal(map[string]string{"state": "ready", "user": "a", "draft": ""}))
		g.Expect(see(two, "user")).To(Equal(map[string]string{"user": "a"}))
		one.SignsIn("a") // who is signed in already

		g.Expect(one.Tools()).To(Equal([]string{"add", "list"}))
		g.Expect(one.Do(write("by one")).Outcome()).To(Equal(history.Done))
		g.Expect(two.Do(write("by two")).Outcome()).To(Equal(history.Done))
		g.Expect(two.Do(world.Act{Role: "read"}).Field("values")).To(Equal([]any{"by one", "by two"}))

		one.Person("type", map[string]string{"text": "typed by hand"})
		g.Expect(see(one, "draft")).To(Equal(map[string]string{"draft": "typed by hand"}))
		g.Expect(see(two, "draft")).To(Equal(map[string]string{"draft": ""}))
		one.Shoot("one")
		one.Person("reload", nil)
		g.Expect(see(one, "draft")).To(Equal(map[string]string{"draft": ""}))
		g.Expect(one.Do(write("behind the reload")).Outcome()).To(Equal(history.Done))
		g.Expect(one.Restarted().Do(world.Act{Role: "read"}).Field("values")).To(HaveLen(3))
	}
	results, folders := onPages(t, drive, drive)
	for i, r := range results {
		g.Expect(r.Verdict).To(Equal(verdict.Pass), r.Reason)
		g.Expect(r.Screenshots).To(Equal([]string{"one.png"}))
		text, err := os.ReadFile(filepath.Join(folders[i], "history.jsonl"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(text)).To(And(ContainSubstring("page opened"), ContainSubstring("WebMCP.toolResponded"), ContainSubstring("sign_in_editor")))
		g.Expect(string(text)).NotTo(ContainSubstring(`"password":"`))
	}
}

// What breaks the wire of a caller, or its process, has nothing to break.
func TestAPageHasNoWireAndNoProcess(t *testing.T) {
	g := NewWithT(t)
	cases := []struct {
		name string
		do   func(*world.World, *world.Caller)
		why  string
	}{
		{"lost", func(_ *world.World, c *world.Caller) { c.LosesAnswer(faults.Cut, write("x")) }, "there is no wire between page.1 and it"},
		{"killed", func(_ *world.World, c *world.Caller) { c.Killed() }, "page.1 has no process of its own"},
		{"left", func(_ *world.World, c *world.Caller) { c.Leave() }, "there is no wire between page.1 and it"},
		{"umask", func(w *world.World, _ *world.Caller) { w.NewCallerUnder(0o77) }, "no process of it to be started in another manner"},
		{"unseen", func(_ *world.World, c *world.Caller) { c.Visible("title") }, `the target file has no selector "title"`},
	}
	var drives []func(*world.World)
	for _, c := range cases {
		drives = append(drives, func(w *world.World) {
			w.Launch()
			c.do(w, w.NewCaller())
		})
	}
	results, _ := onPages(t, drives...)
	for i, c := range cases {
		g.Expect(results[i].Verdict).To(Equal(verdict.Inconclusive), c.name+": "+results[i].Reason)
		g.Expect(results[i].Reason).To(ContainSubstring(c.why), c.name)
	}
}

// Under a browser an answer that is lost on a connection which was used before would
// be asked for again, by the browser itself and whatever the method.
func TestAPageAsksOnceWhenItsAnswerIsLost(t *testing.T) {
	g := NewWithT(t)
	needs(t, "chromium")
	run, err := launch.NewRun(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	lender := browser.NewLender(run.Folder(), wait.Default())
	t.Cleanup(func() { g.Expect(errors.Join(lender.Close(t.Context()), run.Close())).To(Succeed()) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><p id=said></p><button onclick="fetch('/', {method: 'PATCH'}).catch(e => document.querySelector('#said').textContent = 'lost')">change</button>
			<script>fetch("/warm").then(r => r.text()).then(() => fetch("/warm")).then(() => document.body.append("warm"))</script>`)
	}))
	t.Cleanup(server.Close)
	web, err := wire.OpenHTTP(wire.Config{Name: "web", Callee: server.URL, Recorder: history.NewRecorder(nil), Limits: wait.Default(), Fresh: true})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { web.Close() })
	window, err := lender.Window(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	page, err := window.Keep(t.Context(), web.URL()+"/")
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func() (string, error) { return page.Text(t.Context()) }, wait.Default().Answer).Should(ContainSubstring("warm"))
	patch := wire.Match{HTTPMethod: http.MethodPatch, Answer: true}
	trap := web.Trap(patch)
	g.Expect(page.Click(t.Context(), "button")).To(Succeed())
	held, err := trap.Held(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	held.Break()
	g.Expect(page.Await(t.Context(), "#said")).To(Succeed())
	g.Expect(web.Count(wire.Match{HTTPMethod: http.MethodPatch})).To(Equal(1))
}

func TestDoctorTriesAPage(t *testing.T) {
	g := NewWithT(t)
	needs(t, "chromium")
	t.Setenv("TMPDIR", t.TempDir())
	run, err := launch.NewRun("")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { run.Close() })
	f, err := target.Parse("page.yaml", []byte(onPage))
	g.Expect(err).NotTo(HaveOccurred())
	steps := suites.TryOut(t.Context(), suites.Setup{Target: f, Scratch: run.Folder(), Seed: 1})
	told := []string{}
	for _, s := range steps {
		told = append(told, fmt.Sprintf("%s: %v %s", s.Name, s.OK, s.Detail))
	}
	g.Expect(told).To(Equal([]string{
		"its processes start: true ", "the helper starts and shakes hands: true ", "it lists the tools that the target file names: true add, list",
		"it takes one write: true add", "a read shows the write: true list", "everything stops: true ",
	}))
}

// Without Chromium every spec on a page is not-run, and the gate says so.
func TestAPageNeedsChromium(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("PATH", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(t.TempDir(), "page.yaml")
	g.Expect(os.WriteFile(file, []byte(onPage), 0o644)).To(Succeed())
	h := harness()
	l, err := h.List(file)
	g.Expect(err).NotTo(HaveOccurred())
	settled := map[string]string{}
	for _, s := range l.Specs {
		settled[s.Settled] = s.Reason
	}
	g.Expect(settled).To(HaveKeyWithValue("not-run", HavePrefix("needs Chromium: there is no Chromium on this machine")))
	g.Expect(settled).NotTo(HaveKey(""))
	_, err = h.Diagnose(t.Context(), file, nil, watch{})
	g.Expect(err).To(MatchError(ContainSubstring("cannot be tried: it needs Chromium")))
	r, _ := run(t, func(o *suites.RunOptions) { o.Targets = []string{file} })
	g.Expect(r.Gate.ExitCode).To(Equal(3))
}
