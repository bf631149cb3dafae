package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/page"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is the page over real stores, with an account that the test sets.
type desk struct {
	t       *testing.T
	sidecar *sidecar.Store
	library *library.Library
	account *account
	access  *access
	told    *told
	server  *page.Server
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	folder := t.TempDir()
	store, err := sidecar.OpenStore(t.Context(), filepath.Join(folder, "sidecar.db"), sidecar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	records, err := library.Open(t.Context(), filepath.Join(folder, "library.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(records.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	d := &desk{t: t, sidecar: store, library: records, account: &account{}, access: &access{}, told: &told{}}
	d.server = &page.Server{
		Ports: ports.Ports{Sidecar: store, Records: store, Library: records, Account: d.account, Access: d.access,
			Guard: ports.Guard{}, Classifier: ports.Classes{}, Face: page.Template{}},
		Settling: d.told, Contract: sidecar.ContractVersion, Log: slog.New(slog.DiscardHandler),
	}
	return d
}

// record puts a live record of an account into both stores.
func (d *desk) record(owner, itemID, title string, notes ...string) {
	d.t.Helper()
	ctx := d.t.Context()
	opened, err := d.sidecar.OpenWork(ctx, sidecar.Open{ItemID: itemID, TaskKey: itemID, Key: itemID, Digest: "d", Payload: json.RawMessage(`{}`)})
	if err != nil {
		d.t.Fatal(err)
	}
	g := grantOf(owner)
	err = errors.Join(d.sidecar.BindOwner(ctx, owner),
		d.library.Create(ctx, g, library.Mark{ItemID: itemID, Seq: opened.Start.Seq}, library.Draft{Title: title, Status: "doing"}),
		d.sidecar.Apply(ctx, opened.Start.Seq))
	for n, text := range notes {
		err = errors.Join(err, d.library.Update(ctx, g, library.Mark{ItemID: itemID, Seq: 100 + int64(n)}, library.Change{Note: &library.Note{Text: text}}))
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func grantOf(account string) library.Grant {
	return library.Grant{Account: account, Key: bytes.Repeat([]byte(account), 32)}
}

func (d *desk) ask(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	request := httptest.NewRequestWithContext(d.t.Context(), method, "http://127.0.0.1:1"+path, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
			continue
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	d.server.Handler().ServeHTTP(recorder, request)
	return recorder
}

func decode[T any](t *testing.T, r *httptest.ResponseRecorder) T {
	t.Helper()
	var into T
	if err := json.Unmarshal(r.Body.Bytes(), &into); err != nil {
		t.Fatalf("the answer %q is not the expected JSON: %v", r.Body, err)
	}
	return into
}

func code(t *testing.T, r *httptest.ResponseRecorder) string {
	t.Helper()
	return decode[struct{ Code string }](t, r).Code
}

type account struct{ state session.State }

func (a *account) Run(context.Context)      {}
func (a *account) Current() session.State   { return a.state }
func (a *account) Changed() <-chan struct{} { return nil }
func (a *account) SignIn(token string)      { a.as(token) }
func (a *account) SignOut()                 { a.state = session.State{Phase: session.SignedOut} }

func (a *account) as(name string) {
	a.state = session.State{Phase: session.Restored, Account: name, Key: grantOf(name).Key, Generation: a.state.Generation + 1}
}

type access struct{ err error }

func (a *access) Check(context.Context, string) error { return a.err }

type told struct{ reconsider, repair atomic.Int64 }

func (s *told) Reconsider() { s.reconsider.Add(1) }
func (s *told) Repair()     { s.repair.Add(1) }

func TestTheAgentReadsOnlyItsAccountsRecords(t *testing.T) {
	tests := []struct {
		name   string
		state  func(a *account)
		item   string
		status int
		code   string
	}{
		{"its own", func(a *account) { a.as("a") }, "i1", 200, ""},
		{"never issued", func(a *account) { a.as("a") }, "i9", 404, "item_missing"},
		{"another account's", func(a *account) { a.as("b") }, "i1", 403, "account_unavailable"},
		{"another account's that has no item yet", func(a *account) { a.as("b") }, "i2", 403, "account_unavailable"},
		{"its own that has no item yet", func(a *account) { a.as("a") }, "i2", 404, "item_missing"},
		{"before the login", func(a *account) { a.state = session.State{Phase: session.Unresolved} }, "i1", 503, "account_unresolved"},
		{"before the login, never issued", func(a *account) { a.state = session.State{Phase: session.Unresolved} }, "i9", 503, "account_unresolved"},
		{"signed out", func(a *account) { a.SignOut() }, "i1", 503, "account_unresolved"},
		{"revoked", func(a *account) { a.state = session.State{Phase: session.Denied, Account: "a"} }, "i1", 423, "access_denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			d := newDesk(t)
			d.record("a", "i1", "Title", "first", "second")
			_, err := d.sidecar.OpenWork(t.Context(), sidecar.Open{ItemID: "i2", TaskKey: "i2", Key: "i2", Digest: "d"})
			g.Expect(err).NotTo(HaveOccurred())
			tt.state(d.account)
			got := d.ask("GET", "/agent/items/"+tt.item, "")
			g.Expect(got.Code).To(Equal(tt.status))
			g.Expect(got.Header().Get(page.VersionHeader)).To(Equal("3"))
			if tt.code != "" {
				g.Expect(code(t, got)).To(Equal(tt.code))
				g.Expect(got.Body.String()).NotTo(ContainSubstring("Title"))
				return
			}
			g.Expect(decode[page.Item](t, got)).To(Equal(page.Item{ItemID: "i1", Title: "Title", Status: "doing", Statuses: []string{"doing"},
				Notes: []page.Note{{Text: "first", Seq: 100}, {Text: "second", Seq: 101}}, Owner: "a", Revision: 3}))
		})
	}
}

func TestAnotherContractVersionIsRefusedNamingBoth(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	d.server.Contract = 2
	got := d.ask("GET", "/agent/items/i1", "", page.VersionHeader, "3")
	g.Expect(got.Code).To(Equal(409))
	g.Expect(got.Header().Get(page.VersionHeader)).To(Equal("2"))
	g.Expect(code(t, got)).To(Equal(sidecar.CodeVersionMismatch))
	g.Expect(got.Body.String()).To(And(ContainSubstring("version 3"), ContainSubstring("version 2")))
	g.Expect(decode[map[string]int](t, d.ask("GET", "/agent/contract", ""))).To(HaveKeyWithValue("version", 2))
}

func TestThePersonDeletes(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	d.record("a", "i1", "Title")
	d.account.as("a")
	queued, err := d.sidecar.Append(t.Context(), sidecar.Follow{ItemID: "i1", Kind: sidecar.NoteKind, Key: "k", Digest: "d"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.library.SetLocked(t.Context(), true)).To(Succeed(), "what a person does is not a command")
	got := d.ask("DELETE", "/items/i1", "")
	g.Expect(got.Code).To(Equal(200))
	g.Expect(decode[map[string]any](t, got)).To(And(HaveKeyWithValue("item_id", "i1"), HaveKeyWithValue("deleted", true), HaveKeyWithValue("anchor", "dead")))
	anchor, err := d.sidecar.Anchor(t.Context(), "i1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(anchor.State).To(Equal(sidecar.Dead))
	g.Expect(anchor.Reason).To(Equal(ports.DeletionReason))
	intents, err := d.sidecar.IntentsOf(t.Context(), "i1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(intents[len(intents)-1].Seq).To(Equal(queued.Intent.Seq))
	g.Expect(intents[len(intents)-1].State).To(Equal(sidecar.Failed))
	g.Expect(d.told.repair.Load()).To(BeNumerically(">", 0))
	g.Expect(d.ask("DELETE", "/items/i1", "").Code).To(Equal(404))
}

func TestADeletionIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		set    func(d *desk)
		status int
		code   string
	}{
		{"another account's", func(d *desk) { d.account.as("b") }, 403, "account_unavailable"},
		{"before the login", func(d *desk) { d.account.state = session.State{Phase: session.Unresolved} }, 503, "account_unresolved"},
		{"revoked", func(d *desk) { d.account.as("a"); d.access.err = session.ErrAccessDenied }, 423, "access_denied"},
		{"access unknown", func(d *desk) { d.account.as("a"); d.access.err = session.ErrAccessUnknown }, 503, "account_unresolved"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			d := newDesk(t)
			d.record("a", "i1", "Title")
			tt.set(d)
			got := d.ask("DELETE", "/items/i1", "")
			g.Expect(got.Code).To(Equal(tt.status))
			g.Expect(code(t, got)).To(Equal(tt.code))
			g.Expect(d.library.Present(t.Context(), "i1")).To(BeTrue())
			anchor, err := d.sidecar.Anchor(t.Context(), "i1")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(anchor.State).To(Equal(sidecar.Live))
		})
	}
}

// mute is a sidecar in which nothing can be marked.
type mute struct{ sidecar.Executing }

func (mute) MarkDead(context.Context, string, string) error { return sidecar.ErrBusy }

func TestADeletionWhoseAnchorCannotBeWrittenIsLeftToTheExecutor(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	d.record("a", "i1", "Title")
	d.account.as("a")
	d.server.Sidecar = mute{d.sidecar}
	got := d.ask("DELETE", "/items/i1", "")
	g.Expect(got.Code).To(Equal(200))
	g.Expect(decode[map[string]any](t, got)).To(HaveKeyWithValue("anchor", "live"))
	g.Expect(d.told.repair.Load()).To(BeNumerically(">", 0))
}

func TestAFormLeadsBackToThePage(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	d.record("a", "i1", "Title")
	d.account.as("a")
	got := d.ask("POST", "/items/i1/delete", "", "Content-Type", "application/x-www-form-urlencoded")
	g.Expect(got.Code).To(Equal(http.StatusSeeOther))
	g.Expect(got.Header().Get("Location")).To(Equal("/"))
	g.Expect(d.library.Present(t.Context(), "i1")).To(BeFalse())
}

func TestOnlyThisMachineAndThisOriginMayAct(t *testing.T) {
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"no browser", nil, 200},
		{"the page itself", []string{"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-origin"}, 200},
		{"by another loopback name", []string{"Host", "localhost:9"}, 200},
		{"another origin", []string{"Origin", "http://elsewhere.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a name that was bent", []string{"Host", "elsewhere.example"}, 421},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			d := newDesk(t)
			d.record("a", "i1", "Title")
			d.account.as("a")
			g.Expect(d.ask("DELETE", "/items/i1", "", tt.headers...).Code).To(Equal(tt.status))
			g.Expect(d.library.Present(t.Context(), "i1")).To(Equal(tt.status != 200))
		})
	}
}

func TestWhatIsNoRequestIsRefusedInTheAppsOwnWords(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
	}{
		{"GET", "/nowhere", "", nil, 404},
		{"PUT", "/items/i1", "", nil, 404},
		{"POST", "/account/sign-in", `{"token": "` + "\xff" + `"}`, nil, 400},
		{"POST", "/library/lock", "", []string{"Origin", "http://elsewhere.example"}, 403},
	} {
		got := d.ask(c.method, c.path, c.body, c.headers...)
		NewWithT(t).Expect(got.Code).To(Equal(c.status), c.method+" "+c.path)
		NewWithT(t).Expect(got.Body.String()).To(ContainSubstring(`"code":"malformed"`), c.method+" "+c.path)
	}
}

var article = regexp.MustCompile(`(?s)<article class="card" data-item-id="([^"]*)" data-anchor="([^"]*)">(.*?)</article>`)

func TestThePageShowsWhatTheLibraryHolds(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	awkward := []string{`<script>alert(1)</script>`, `"quoted" & 'single'`, "two\nlines\tand a tab", "  spaces  ", "Märchen ☂ 漢字", `</li></article><article class="card">`, `{{.Nonce}}`}
	d.record("a", "i1", `Title <b>&"'`, awkward...)
	d.record("a", "i2", "Second")
	d.account.as("a")
	got := d.ask("GET", "/", "")
	g.Expect(got.Code).To(Equal(200))
	g.Expect(got.Header().Get("Content-Type")).To(Equal("text/html; charset=utf-8"))
	body := got.Body.String()
	g.Expect(body).NotTo(ContainSubstring("<script>alert"))
	cards := article.FindAllStringSubmatch(body, -1)
	g.Expect(cards).To(HaveLen(2))
	g.Expect(cards[0][1]).To(Equal("i1"))
	g.Expect(cards[0][2]).To(Equal("live"))
	g.Expect(one(cards[0][3], `<h2 class="title">(.*?)</h2>`)).To(Equal([]string{`Title <b>&"'`}))
	g.Expect(one(cards[0][3], `<span class="badge status">(.*?)</span>`)).To(Equal([]string{"doing"}))
	g.Expect(one(cards[0][3], `<span class="text">(.*?)</span>`)).To(Equal(awkward))
	g.Expect(cards[0][3]).To(ContainSubstring(`action="/items/i1/delete"`))

	listed := decode[[]page.Card](t, d.ask("GET", "/cards", ""))
	g.Expect(listed).To(HaveLen(2))
	texts := []string{}
	for _, n := range listed[0].Notes {
		texts = append(texts, n.Text)
	}
	g.Expect(texts).To(Equal(awkward))
	g.Expect(listed[0].Anchor).To(Equal(sidecar.Live))
	g.Expect(decode[[]page.Item](t, d.ask("GET", "/items", ""))).To(Equal([]page.Item{listed[0].Item, listed[1].Item}))
}

// one finds what a pattern captures, as a browser would show it.
func one(body, pattern string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?s)`+pattern).FindAllStringSubmatch(body, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

func TestThePageNeedsNothingFromElsewhere(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	d.account.as("a")
	got := d.ask("GET", "/", "")
	g.Expect(got.Header().Get("Content-Security-Policy")).To(HavePrefix("default-src 'none';"))
	nonce := one(got.Header().Get("Content-Security-Policy"), `script-src 'nonce-(.*?)'`)
	g.Expect(nonce).To(HaveLen(1))
	g.Expect(strings.Count(got.Body.String(), `nonce="`+nonce[0]+`"`)).To(Equal(2))
	g.Expect(got.Body.String()).NotTo(MatchRegexp(`(src|href)=`))
	again := d.ask("GET", "/", "").Header().Get("Content-Security-Policy")
	g.Expect(again).NotTo(Equal(got.Header().Get("Content-Security-Policy")), "a nonce is used once")
}

func TestThePageShowsWhatWaitsAndWhatFailed(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	d.record("a", "i1", "Title")
	d.account.as("a")
	ctx := t.Context()
	note, err := d.sidecar.Append(ctx, sidecar.Follow{ItemID: "i1", Kind: sidecar.NoteKind, Key: "k1", Digest: "d"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.sidecar.Fail(ctx, note.Intent.Seq, sidecar.Failure{Class: sidecar.Permanent, Code: "attachment_missing", Reason: "no <file>"})).To(Succeed())
	_, err = d.sidecar.Append(ctx, sidecar.Follow{ItemID: "i1", Kind: sidecar.NoteKind, Key: "k2", Digest: "d"})
	g.Expect(err).NotTo(HaveOccurred())
	late, err := d.sidecar.OpenWork(ctx, sidecar.Open{ItemID: "i2", TaskKey: "i2", Key: "i2", Digest: "d"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.sidecar.TryLater(ctx, late.Start.Seq, sidecar.Failure{Class: sidecar.Transient, Code: "library_busy", Reason: "busy now"})).To(Succeed())
	body := d.ask("GET", "/", "").Body.String()
	g.Expect(article.FindAllString(body, -1)).To(HaveLen(1), "what has no item yet is no card")
	g.Expect(body).To(ContainSubstring(`<p class="failure" data-code="attachment_missing">A note failed: no &lt;file&gt;</p>`))
	g.Expect(body).To(ContainSubstring("1 waiting</span>"))
	g.Expect(body).To(ContainSubstring(`data-expected-id="i2"`))
	g.Expect(body).To(ContainSubstring("busy now"))
	card := decode[[]page.Card](t, d.ask("GET", "/cards", ""))[0]
	g.Expect(card.Waiting).To(Equal(1))
	g.Expect(card.Failures).To(Equal([]page.Trouble{{Kind: sidecar.NoteKind, Code: "attachment_missing", Reason: "no <file>"}}))
	g.Expect(decode[sidecar.Numbers](t, d.ask("GET", "/numbers", ""))).To(Equal(sidecar.Numbers{Retrying: 1, Permanent: 1, Pending: 1, Applied: 1}))
}

func TestThePageShowsNothingOfAnotherAccount(t *testing.T) {
	states := map[string]func(a *account){
		"another account":  func(a *account) { a.as("b") },
		"before the login": func(a *account) { a.state = session.State{Phase: session.Unresolved} },
		"revoked":          func(a *account) { a.state = session.State{Phase: session.Denied, Account: "a"} },
	}
	for name, set := range states {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d := newDesk(t)
			d.record("a", "i1", "Canary title")
			_, err := d.sidecar.OpenWork(t.Context(), sidecar.Open{ItemID: "i2", TaskKey: "i2", Key: "i2", Digest: "d"})
			g.Expect(err).NotTo(HaveOccurred())
			set(d.account)
			got := d.ask("GET", "/", "")
			g.Expect(got.Code).To(Equal(200))
			g.Expect(got.Body.String()).NotTo(Or(ContainSubstring("Canary"), ContainSubstring("i1"), ContainSubstring("i2")))
		})
	}
}

func TestTheWriteLogCountsWhatEachWriteLeft(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	d.record("a", "i1", "Title", "note")
	d.account.as("a")
	g.Expect(d.ask("DELETE", "/items/i1", "").Code).To(Equal(200))
	writes := decode[[]map[string]any](t, d.ask("GET", "/library/writes", ""))
	g.Expect(writes).To(HaveLen(3))
	for n, op := range []string{"create", "update", "delete"} {
		g.Expect(writes[n]).To(And(HaveKeyWithValue("op", op), HaveKeyWithValue("item_id", "i1"),
			HaveKeyWithValue("envelopes", BeNumerically("==", 1)), HaveKeyWithValue("events", BeNumerically("==", 1))))
	}
	log := decode[struct{ Counts map[string]int }](t, d.ask("GET", "/library/log", ""))
	g.Expect(log.Counts).To(Equal(map[string]int{"writes": 3, "envelopes": 3, "events": 3}))
}

func TestThePersonSignsInLocksAndUnblocks(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	type answer struct {
		State, Account string
		Locked         bool
	}
	g.Expect(decode[answer](t, d.ask("POST", "/account/sign-in", `{"token":"b"}`))).To(Equal(answer{"restored", "b", false}))
	g.Expect(decode[answer](t, d.ask("POST", "/library/lock", ""))).To(Equal(answer{"restored", "b", true}))
	g.Expect(d.told.reconsider.Load()).To(BeEquivalentTo(1))
	g.Expect(decode[answer](t, d.ask("GET", "/account", "")).Locked).To(BeTrue())
	g.Expect(decode[answer](t, d.ask("POST", "/unblock", `{"token":"a"}`))).To(Equal(answer{"restored", "a", false}))
	g.Expect(d.told.reconsider.Load()).To(BeEquivalentTo(2))
	d.ask("POST", "/library/lock", "")
	g.Expect(decode[answer](t, d.ask("POST", "/library/unlock", ""))).To(Equal(answer{"restored", "a", false}))
	g.Expect(decode[answer](t, d.ask("POST", "/account/sign-out", ""))).To(Equal(answer{State: "signed_out"}))
	bad := d.ask("POST", "/account/sign-in", `{"token": secret-token`)
	g.Expect(bad.Code).To(Equal(400))
	g.Expect(bad.Body.String()).NotTo(ContainSubstring("secret-token"))
}

func TestTheVersionMovesWithThePage(t *testing.T) {
	g := NewWithT(t)
	d := newDesk(t)
	d.account.as("a")
	version := func() string { return d.ask("GET", "/version", "").Body.String() }
	seen := map[string]bool{version(): true}
	for _, step := range []func(){
		func() { d.record("a", "i1", "Title") },
		func() { d.ask("POST", "/library/lock", "") },
		func() { d.account.as("b") },
	} {
		step()
		g.Expect(seen[version()]).To(BeFalse())
		seen[version()] = true
	}
	g.Expect(seen[version()]).To(BeTrue())
}
