package trips

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/sessions"
)

func TestSigningIn(t *testing.T) {
	g, _, s := begins(t)
	c := s.caller()
	g.Expect(c.do("GET", "/api/session", "").is()).To(Equal("401 signed_out"))
	wrong := c.signIn("ann", passwords["bob"])
	g.Expect(wrong.is()).To(Equal("401 sign_in_refused"))
	g.Expect(c.signIn("nobody", passwords["bob"])).To(Equal(wrong), "who has an account is not told")
	g.Expect(c.signIn("nobody", "")).To(Equal(wrong))
	for _, body := range []string{``, `{}`, `{"user": "ann"}`, `{"user": "ann", "password": null}`, `{"user": "ann", "password": 1}`, `{"user": "ann", "password": "x", "more": 1}`} {
		g.Expect(c.do("POST", "/api/session", body).is()).To(Equal("400 invalid"), body)
	}
	g.Expect(c.do("GET", "/api/session", "").is()).To(Equal("401 signed_out"))

	g.Expect(c.signIn("ann", passwords["ann"])).To(Equal(answer{200, `{"user":"ann"}` + "\n"}))
	g.Expect(c.do("GET", "/api/session", "")).To(Equal(answer{200, `{"user":"ann"}` + "\n"}))
	g.Expect(c.signIn("bob", passwords["bob"]).status).To(Equal(200))
	g.Expect(c.do("GET", "/api/session", "").body).To(ContainSubstring("bob"), "the newest sign-in counts")
}

func TestTheCookie(t *testing.T) {
	g, _, s := begins(t)
	var seen []string
	for range 2 {
		resp, err := s.caller().client.Post(s.url+"/api/session", "application/json", strings.NewReader(fmt.Sprintf(`{"user": "ann", "password": %q}`, passwords["ann"])))
		g.Expect(err).NotTo(HaveOccurred())
		resp.Body.Close()
		g.Expect(resp.Cookies()).To(HaveLen(1))
		c := resp.Cookies()[0]
		g.Expect([]any{c.Name, c.Path, c.HttpOnly, c.SameSite}).To(Equal([]any{"trips_session", "/", true, http.SameSiteStrictMode}))
		g.Expect(len(c.Value)).To(BeNumerically(">=", 26), "base32 of at least 128 bits")
		seen = append(seen, c.Value)
	}
	g.Expect(seen[0]).NotTo(Equal(seen[1]))
}

func TestSigningOut(t *testing.T) {
	g, w, s := begins(t)
	out, same, bob := s.as("ann"), s.as("ann"), s.as("bob")
	token := out.cookie()
	g.Expect(out.do("DELETE", "/api/session", "").status).To(Equal(200))
	g.Expect(out.do("GET", "/api/trips", "").is()).To(Equal("401 signed_out"))
	g.Expect(out.with(token).do("GET", "/api/trips", "").is()).To(Equal("401 signed_out"), "the server forgot it too")
	g.Expect(out.do("DELETE", "/api/session", "").is()).To(Equal("401 signed_out"))
	g.Expect(same.do("GET", "/api/trips", "").status).To(Equal(200), "this one only")

	other := s.as("ann")
	g.Expect(other.do("DELETE", "/api/sessions", "").status).To(Equal(200))
	g.Expect(same.do("GET", "/api/trips", "").is()).To(Equal("401 signed_out"))
	g.Expect(other.do("GET", "/api/trips", "").is()).To(Equal("401 signed_out"))
	g.Expect(bob.do("GET", "/api/trips", "").status).To(Equal(200), "the user's only")
	g.Expect(w.rows(`SELECT owner FROM sessions`)).To(Equal([]string{"bob"}))
}

// cookie is the token of a caller's session.
func (c *caller) cookie() string {
	c.t.Helper()
	req, err := http.NewRequest("GET", c.url, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, k := range c.client.Jar.Cookies(req.URL) {
		if k.Name == sessions.Cookie {
			return k.Value
		}
	}
	c.t.Fatal("there is no session cookie")
	return ""
}

// with is a caller who sends a token of their own choice.
func (c *caller) with(token string) *caller {
	return &caller{c.t, c.url, &http.Client{Transport: carrying{c.client.Transport, token}}}
}

type carrying struct {
	http.RoundTripper
	token string
}

func (c carrying) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.AddCookie(&http.Cookie{Name: sessions.Cookie, Value: c.token})
	return c.RoundTripper.RoundTrip(r)
}

// everyRoute is one request of each kind that needs a session.
var everyRoute = []struct{ method, path, body string }{
	{"GET", "/api/session", ""},
	{"DELETE", "/api/session", ""},
	{"DELETE", "/api/sessions", ""},
	{"GET", "/api/trips", ""},
	{"GET", "/api/trips/trip-1", ""},
	{"PATCH", "/api/trips/trip-1", update("c2", 2, `{"destination": "LAX"}`)},
	{"PATCH", "/api/trips/trip-1", update("c1", 1, `{"destination": "BOS"}`)},
	{"PATCH", "/api/trips/trip-1", "{}"},
	{"POST", "/api/trips/trip-1/submit", submit("c2", 2)},
	{"GET", "/api/trips/trip-1/commands/c1", ""},
	{"POST", "/api/trips/trip-1/commands/c1/fence", ""},
	{"POST", "/api/trips/trip-1/commands/c2/fence", ""},
}

func TestWithoutASessionNothingIsAnswered(t *testing.T) {
	g, w, s := begins(t)
	g.Expect(s.as("ann").patch("trip-1", update("c1", 1, `{"destination": "BOS"}`)).status).To(Equal(200))
	before := w.stored()
	for name, c := range map[string]*caller{"no cookie": s.caller(), "an unknown one": s.caller().with("FORGED"), "a digest": s.caller().with(w.rows(`SELECT digest FROM sessions`)[0])} {
		for _, r := range everyRoute {
			told := c.do(r.method, r.path, r.body)
			g.Expect(told.is()).To(Equal("401 signed_out"), "%s: %s %s", name, r.method, r.path)
			g.Expect(told.body).NotTo(ContainSubstring("BOS"))
		}
	}
	g.Expect(w.stored()).To(Equal(before))
}

func TestAnotherUsersDraftIsAsIfThereWereNone(t *testing.T) {
	g, w, s := begins(t)
	ann, bob := s.as("ann"), s.as("bob")
	g.Expect(ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`)).status).To(Equal(200))
	before := w.stored()
	for _, r := range everyRoute[4:] {
		if r.body == "{}" {
			continue // malformed for everybody
		}
		theirs := bob.do(r.method, r.path, r.body)
		none := bob.do(r.method, strings.Replace(r.path, "trip-1", "trip-404", 1), r.body)
		g.Expect(theirs).To(Equal(none), "%s %s", r.method, r.path)
		g.Expect(theirs.status).To(Equal(404), "%s %s", r.method, r.path)
		g.Expect(theirs.body).NotTo(Or(ContainSubstring("BOS"), ContainSubstring("ann")))
	}
	g.Expect(bob.lookup("trip-1", "c1").is()).To(Equal("404 no_receipt"))
	g.Expect(bob.lookup("trip-9", "c1").is()).To(Equal("404 no_receipt"), "not under a draft of their own either")
	g.Expect(w.stored()).To(Equal(before))
	g.Expect(bob.do("GET", "/api/trips", "").body).To(Equal(`{"trips":[{"draft":"trip-9","revision":1,"status":"draft","destination":"OSL","purpose":"Bob's own","starts":"","ends":""}]}` + "\n"))
	g.Expect(ann.do("GET", "/api/trips", "").body).To(And(ContainSubstring("trip-1"), ContainSubstring("trip-2"), Not(ContainSubstring("trip-9"))))
	g.Expect(ann.lookup("trip-2", "c1").is()).To(Equal("404 no_receipt"), "a receipt belongs to its draft")
}

func TestSecretsAreNeitherLoggedNorStored(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	token := ann.cookie()
	told := ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`)).body + ann.do("GET", "/api/session", "").body +
		s.caller().signIn("ann", "wrong_"+passwords["ann"]).body + s.caller().do("POST", "/api/session", `{"user": "ann", "password": "`+passwords["ann"]+`", "more": 1}`).body
	var files strings.Builder
	for _, suffix := range []string{"", "-wal", "-shm"} {
		raw, err := os.ReadFile(w.path("trips.db") + suffix)
		g.Expect(err).NotTo(HaveOccurred())
		files.Write(raw)
	}
	g.Expect(files.String()).To(And(ContainSubstring(sessions.Digest(token)), ContainSubstring("BOS")), "what is to be found is found")
	g.Expect(s.log.String()).To(And(ContainSubstring("command=c1"), ContainSubstring("outcome=confirmed")))
	for surface, text := range map[string]string{"answers": told, "files": files.String(), "log": s.log.String()} {
		g.Expect(text).NotTo(Or(ContainSubstring(token), ContainSubstring(passwords["ann"])), surface)
	}
}

func TestOnlyThisMachinesOwnPagesChangeAnything(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	before := w.stored()
	send := func(change func(*http.Request)) int {
		req, err := http.NewRequest("PATCH", s.url+"/api/trips/trip-1", strings.NewReader(update("c1", 1, `{"destination": "BOS"}`)))
		g.Expect(err).NotTo(HaveOccurred())
		change(req)
		resp, err := ann.client.Do(req)
		g.Expect(err).NotTo(HaveOccurred())
		resp.Body.Close()
		return resp.StatusCode
	}
	g.Expect(send(func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })).To(Equal(http.StatusForbidden))
	g.Expect(send(func(r *http.Request) { r.Header.Set("Origin", "http://elsewhere.example") })).To(Equal(http.StatusForbidden))
	g.Expect(send(func(r *http.Request) { r.Host = "elsewhere.example" })).To(Equal(http.StatusMisdirectedRequest))
	g.Expect(w.stored()).To(Equal(before))
	g.Expect(send(func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin") })).To(Equal(http.StatusOK))
}

// A path or a method that is not in the table is refused like everything else.
func TestWhatIsNoRequestIsNotFound(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	before := w.stored()
	for _, r := range []struct{ method, path string }{
		{"GET", "/"}, {"GET", "/api"}, {"POST", "/nowhere"}, {"GET", "/api/trips/"}, {"GET", "/api/trips/trip-1/"}, {"GET", "/api/trips/trip-1/more"},
		{"POST", "/api/trips"}, {"PUT", "/api/trips/trip-1"}, {"DELETE", "/api/trips/trip-1"}, {"GET", "/api/trips/trip-1/submit"},
		{"PATCH", "/api/trips/trip-1/submit"}, {"DELETE", "/api/trips/trip-1/commands/c1"}, {"GET", "/api/trips/trip-1/commands/c1/fence"},
		{"PATCH", "/api//trips/trip-1"}, {"PATCH", "/api/trips/../trips/trip-1"}, {"POST", "/healthz"}, {"POST", "/trips/trip-1"}, {"GET", "/assets/none.js"},
	} {
		told := ann.do(r.method, r.path, update("c1", 1, `{"destination": "BOS"}`))
		g.Expect(told.is()).To(Equal("404 not_found"), "%s %s", r.method, r.path)
	}
	g.Expect(w.stored()).To(Equal(before))
	req, err := http.NewRequest("PATCH", s.url+"/api/trips/trip-1", strings.NewReader(update("c1", 1, `{"destination": "BOS"}`)))
	g.Expect(err).NotTo(HaveOccurred())
	req.Header.Set("Origin", "http://elsewhere.example")
	resp, err := ann.client.Do(req)
	g.Expect(err).NotTo(HaveOccurred())
	defer resp.Body.Close()
	g.Expect(answer{resp.StatusCode, readAll(t, resp)}.is()).To(Equal("403 forbidden"))
	g.Expect(w.stored()).To(Equal(before))
}

// departing tells when the request of a command is known to have lost its caller.
type departing struct {
	ports.Gate
	left chan (<-chan struct{})
}

func (l departing) Caller(r *http.Request) (string, error) {
	if r.Method == "PATCH" {
		l.left <- r.Context().Done()
	}
	return l.Gate.Caller(r)
}

// abandoned runs a change only once the caller is known to be gone.
type abandoned struct {
	ports.Store
	left      chan (<-chan struct{})
	abandon   func()
	committed chan error
}

func (a abandoned) Change(ctx context.Context, do func(context.Context, ports.Tx) error) error {
	left := <-a.left
	a.abandon()
	<-left
	err := a.Store.Change(ctx, do)
	a.committed <- err
	return err
}

func TestACommandIsFinishedAlthoughItsCallerIsGone(t *testing.T) {
	left, committed := make(chan (<-chan struct{}), 1), make(chan error, 1)
	ctx, abandon := context.WithCancel(context.Background())
	defer abandon()
	g, _, s := begins(t, func(p *Ports) {
		p.Gate = departing{sessions.Gate{Sessions: p.Sessions}, left}
		p.Store = abandoned{p.Store, left, abandon, committed}
	})
	ann := s.as("ann")
	req, err := http.NewRequestWithContext(ctx, "PATCH", s.url+"/api/trips/trip-1", strings.NewReader(update("c1", 1, `{"destination": "BOS"}`)))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = ann.client.Do(req)
	g.Expect(err).To(MatchError(context.Canceled))
	select {
	case err := <-committed:
		g.Expect(err).NotTo(HaveOccurred())
	case <-time.After(10 * time.Second):
		t.Fatal("the command was not finished")
	}
	g.Expect(result(t, ann.lookup("trip-1", "c1")).ToRevision).To(BeEquivalentTo(2))
}

type brokenStore struct{ ports.Store }

func (brokenStore) Change(context.Context, func(context.Context, ports.Tx) error) error {
	return fmt.Errorf("%w: no room on /var/secret", ports.ErrStore)
}

func TestAFailureOfTheStoreIsNoRefusal(t *testing.T) {
	g, _, s := begins(t, func(p *Ports) { p.Store = brokenStore{p.Store} })
	ann := s.as("ann")
	for _, told := range []answer{ann.patch("trip-1", update("c1", 1, `{"destination": "BOS"}`)), ann.submit("trip-1", submit("c1", 1)), ann.fence("trip-1", "c1")} {
		g.Expect(told.is()).To(Equal("503 unavailable"))
		g.Expect(told.body).NotTo(ContainSubstring("secret"))
	}
	g.Expect(s.log.String()).To(ContainSubstring("no room on /var/secret"), "the log says why")
}

// picky is a store that takes only text, as PostgreSQL does.
type picky struct{ ports.Store }

var errNoText = fmt.Errorf("%w: bytes that are no text", ports.ErrStore)

func noText(names ...string) bool {
	return slices.ContainsFunc(names, func(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) })
}

func (p picky) Draft(ctx context.Context, draft string) (ports.Draft, error) {
	if noText(draft) {
		return ports.Draft{}, errNoText
	}
	return p.Store.Draft(ctx, draft)
}

func (p picky) Receipt(ctx context.Context, owner, draft, command string) (ports.Receipt, error) {
	if noText(owner, draft, command) {
		return ports.Receipt{}, errNoText
	}
	return p.Store.Receipt(ctx, owner, draft, command)
}

func TestNoStoreIsAskedForWhatIsNoName(t *testing.T) {
	g, w, s := begins(t, func(p *Ports) { p.Store = picky{p.Store} })
	ann := s.as("ann")
	before := w.stored()
	for _, name := range []string{"%00", "a%00b", "%ff", "..%2fa", strings.Repeat("n", 129)} {
		g.Expect(ann.do("GET", "/api/trips/"+name, "").is()).To(Equal("404 not_found"), name)
		g.Expect(ann.patch(name, update("c1", 1, `{"destination": "BOS"}`)).is()).To(Equal("404 not_found"), name)
		g.Expect(ann.submit(name, submit("c1", 1)).is()).To(Equal("404 not_found"), name)
		g.Expect(ann.lookup(name, "c1").is()).To(Equal("404 not_found"), name)
		g.Expect(ann.fence(name, "c1").is()).To(Equal("404 not_found"), name)
		g.Expect(ann.lookup("trip-1", name).is()).To(Equal("404 no_receipt"), name)
		g.Expect(ann.fence("trip-1", name).is()).To(Equal("400 invalid"), name)
	}
	g.Expect(w.stored()).To(Equal(before))
}

func TestAccountsAreReadAnew(t *testing.T) {
	g, w, s := begins(t)
	ann := s.as("ann")
	write := func(text string) { g.Expect(os.WriteFile(w.path("accounts.json"), []byte(text), 0o600)).To(Succeed()) }
	write(`{"accounts": [{"name": "ann", "token": "another"}]}`)
	g.Expect(s.caller().signIn("ann", passwords["ann"]).is()).To(Equal("401 sign_in_refused"))
	g.Expect(s.caller().signIn("ann", "another").status).To(Equal(200))
	write(`{"accounts": [{"name": "ann", "token": "tok_half_wri`)
	told := s.caller().signIn("ann", "another")
	g.Expect(told.is()).To(Equal("503 unavailable"))
	g.Expect(told.body + s.log.String()).NotTo(ContainSubstring("tok_half_wri"))
	g.Expect(ann.do("GET", "/api/session", "").status).To(Equal(200), "who is signed in stays so")
}

func TestThePage(t *testing.T) {
	g, _, s := begins(t, func(p *Ports) {
		p.Page = fstest.MapFS{
			"editor.html":     {Data: []byte(`<meta name="draft" content="{{.Draft}}"><meta name="d" content="{{.Deadline}}/{{.LookupDeadline}}">`)},
			"editor.js":       {Data: []byte(`"use strict";`)},
			"more/styles.css": {Data: []byte(`main {}`)},
		}
	})
	get := func(path string) (int, http.Header, string) {
		resp, err := s.caller().client.Get(s.url + path)
		g.Expect(err).NotTo(HaveOccurred())
		defer resp.Body.Close()
		return resp.StatusCode, resp.Header, readAll(t, resp)
	}
	status, head, body := get("/trips/%22%3E%3Cscript%3E")
	g.Expect(status).To(Equal(200))
	g.Expect(body).To(Equal(`<meta name="draft" content="&#34;&gt;&lt;script&gt;"><meta name="d" content="5000/3000">`))
	g.Expect(head.Get("Content-Type")).To(Equal("text/html; charset=utf-8"))
	g.Expect(head.Get("Content-Security-Policy")).To(HavePrefix("default-src 'self';"))

	for path, kind := range map[string]string{"/assets/editor.js": "text/javascript; charset=utf-8", "/assets/more/styles.css": "text/css; charset=utf-8"} {
		status, head, _ := get(path)
		g.Expect([]any{status, head.Get("Content-Type"), head.Get("X-Content-Type-Options")}).To(Equal([]any{200, kind, "nosniff"}))
		g.Expect(head.Get("Content-Security-Policy")).To(HavePrefix("default-src 'self';"))
	}
	for _, path := range []string{"/assets/", "/assets/more", "/assets/more/", "/assets/editor.html", "/assets/none.js", "/assets/..%2Fpage.go", "/", "/trips/"} {
		status, _, _ := get(path)
		g.Expect(status).To(Equal(404), path)
	}
}

func TestTheEmbeddedPageLoadsFromHereOnly(t *testing.T) {
	g, _, s := begins(t)
	resp, err := s.caller().client.Get(s.url + "/trips/trip-1")
	g.Expect(err).NotTo(HaveOccurred())
	defer resp.Body.Close()
	body := readAll(t, resp)
	g.Expect(body).To(And(ContainSubstring(`name="editor-deadline" content="5000"`), ContainSubstring(`name="editor-lookup-deadline" content="3000"`)))
	g.Expect(body).NotTo(MatchRegexp(`(src|href)="(https?:)?//`))
}

func TestAPageThatCannotBeReadStopsTheServer(t *testing.T) {
	g := NewWithT(t)
	err := Run(context.Background(), Config{}, Ports{Page: fstest.MapFS{}})
	g.Expect(err).To(MatchError(ContainSubstring("trips: read the page")))
	g.Expect(errors.Unwrap(err)).NotTo(BeNil())
}
