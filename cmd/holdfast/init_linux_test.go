package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// A server that runs already is asked at its address, whichever revision it speaks.
// How it is started is left open; said by hand, the file is whole.
func TestInitAsksAServerThatRunsAlready(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers; go test without -short runs it")
	}
	self, err := os.Executable()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	notes, reference := serveBuiltIn(t, "notes-http", "durability"), serveBuiltIn(t, "reference-stateless", "durability")
	var refusals int
	modern := behind(t, reference.url, &refusals)
	for name, c := range map[string]struct {
		url         string
		flags       []string
		write, read string
		revision    string // in the file
		process     string // by hand
	}{
		"notes": {url: notes.url, write: "add_note", read: "list_notes",
			process: "run: ['" + self + "', reference, notes]\n    ready: {http: '{{helper.url}}/healthz'}\n    env: {NOTES_TRANSPORT: http, NOTES_STORE: '{{dir}}/notes.store'}"},
		"reference, with sessions": {url: reference.url, write: "work_note", read: "work_get",
			process: "run: ['" + self + "', reference, helper]\n    ready: {http: '{{helper.url}}/healthz'}\n    env: {HELPER_TRANSPORT: http, SIDECAR: '{{dir}}/sidecar.db'}"},
		"reference, stateless": {url: reference.url, flags: []string{"--revision", "2026-07-28"}, write: "work_note", read: "work_get", revision: "2026-07-28",
			process: "run: ['" + self + "', reference, helper]\n    ready: {http: '{{helper.url}}/healthz'}\n    env: {HELPER_TRANSPORT: http, SIDECAR: '{{dir}}/sidecar.db'}"},
		"one without a handshake": {url: modern, write: "work_note", read: "work_get", revision: "2026-07-28",
			process: "run: ['" + self + "', reference, helper]\n    ready: {http: '{{helper.url}}/healthz'}\n    env: {HELPER_TRANSPORT: http, SIDECAR: '{{dir}}/sidecar.db'}"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "asked.yaml")
			code, out, errs := aside(t, append([]string{"init", "--out", path, "--url", c.url}, c.flags...)...)
			g.Expect(code).To(Equal(0), errs)
			g.Expect(out).To(And(ContainSubstring("writes with "+c.write+", reads with "+c.read+": 60 of 60 values shown"), ContainSubstring("? How is the server started?")))
			text, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			if c.revision == "" {
				g.Expect(string(text)).NotTo(ContainSubstring("\nrevision:"))
			} else {
				g.Expect(string(text)).To(ContainSubstring("\nrevision: " + c.revision + "\n"))
			}
			const open = `# run: [acme-helper, --port, "{{helper.port}}", --store, "{{dir}}"]`
			g.Expect(string(text)).To(ContainSubstring(open))
			g.Expect(os.WriteFile(path, []byte(strings.Replace(string(text), open, c.process, 1)), 0o600)).To(Succeed())
			code, out, errs = aside(t, "doctor", path)
			g.Expect(code).To(Equal(0), out+errs)
		})
	}
	NewWithT(t).Expect(refusals).To(Equal(1), "initialize is asked once, and not again after the refusal")
}

// aside runs a command line in a process of its own, which spares what this one has
// started.
func aside(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	s := start(t, t.TempDir(), args...)
	s.Wait() // its exit code is looked at
	return s.ProcessState.ExitCode(), s.out.String(), s.errs.String()
}

// behind is an address at which a server is without its handshake of old: initialize is
// refused there.
func behind(t *testing.T, address string, refusals *int) string {
	t.Helper()
	to, err := url.Parse(address)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL, r.Out.Host = to, to.Host }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(body, &m) == nil && m.Method == "initialize" {
			*refusals++
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32601,"message":"there is no initialize"}}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// What is interrupted in the middle of a call leaves nothing: no process, no folder, no
// half a file.
func TestAnInterruptedInitLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	tmp, kept := t.TempDir(), t.TempDir()
	s := start(t, tmp, "init", "--out", filepath.Join(kept, "notes.yaml"), "--env", "HOLDFAST_TEST_NOTES_FILE={{dir}}/notes.json",
		"--env", "HOLDFAST_TEST_NOTES_SILENT={{dir}}/called", "--", self)
	until(t, "a call that is not answered", func() bool {
		called, _ := filepath.Glob(filepath.Join(tmp, "holdfast-*", "init-*", "called"))
		return len(called) > 0
	}, func() string { return "no server was called" })
	id := strings.TrimPrefix(filepath.Base(folders(t, tmp)[0]), "holdfast-")
	g.Expect(ofRun(id)).NotTo(BeEmpty(), "else this proves nothing")
	g.Expect(s.Process.Signal(os.Interrupt)).To(Succeed())
	s.Wait()
	g.Expect(s.ProcessState.ExitCode()).To(Equal(130), s.errs.String())
	g.Expect(s.errs.String()).To(HaveSuffix("interrupted: the server was ended, and no file was written\n"))
	g.Expect(ofRun(id)).To(BeEmpty())
	for _, folder := range []string{tmp, kept} {
		left, err := os.ReadDir(folder)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(left).To(BeEmpty())
	}
}

// Where no file can be written, that is said before anything is tried.
func TestInitSaysFirstThatItCannotWrite(t *testing.T) {
	server := []string{"--env", "HOLDFAST_TEST_NOTES_FILE={{dir}}/notes.json", "--", os.Args[0]}
	g := NewWithT(t)
	code, _, errs := holdfast(t, append([]string{"init", "--out", "/proc/notes.yaml"}, server...)...)
	g.Expect(code).To(Equal(2))
	g.Expect(errs).To(And(ContainSubstring("nothing can be written into the folder of /proc/notes.yaml"), ContainSubstring("--out"), Not(ContainSubstring("starting"))))

	t.Chdir(t.TempDir())
	g.Expect(os.WriteFile("notes.yaml", []byte("mine\n"), 0o600)).To(Succeed())
	code, _, errs = holdfast(t, append([]string{"init"}, server...)...)
	g.Expect(code).To(Equal(2))
	g.Expect(errs).To(And(ContainSubstring("the file notes.yaml is there already"), Not(ContainSubstring("trying"))))
	kept, err := os.ReadFile("notes.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(kept)).To(Equal("mine\n"))
	code, _, errs = holdfast(t, append([]string{"init", "--force"}, server...)...)
	g.Expect(code).To(Equal(0), errs)
	_, err = target.Load("notes.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	left, err := os.ReadDir(".")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(HaveLen(1), "what was tried out is gone again")
}
