package editor

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// trips is a small trips server with one trouble at a time: it can hold a request
// before or after its effect, lose its answer, or answer something else.
type trips struct {
	*httptest.Server

	mu       sync.Mutex
	drafts   map[string]ports.Draft
	owner    map[string]string
	receipts map[string]ports.Receipt
	fenced   map[string]bool
	sessions map[string]string // by cookie
	asked    []string          // "METHOD path" of every request
	trouble  map[string]trouble
}

// trouble befalls every request of a method and the end of a path, until it is lifted.
type trouble struct {
	status int    // answer this, and apply nothing
	code   string // of status
	raw    string // answer this with 200, and apply nothing
	hide   bool   // apply it, and answer 404
	lose   bool   // apply it, and cut the connection
	before bool   // hold it before its effect, until it is let go or its caller leaves
	after  bool   // hold its answer
	held   chan struct{}
	let    chan struct{}
}

func newTrips(t *testing.T) *trips {
	f := &trips{
		drafts: map[string]ports.Draft{}, owner: map[string]string{}, receipts: map[string]ports.Receipt{}, fenced: map[string]bool{},
		sessions: map[string]string{}, trouble: map[string]trouble{},
	}
	for _, d := range []struct{ id, owner string }{{"trip-1", "ada"}, {"trip-2", "ada"}, {"trip-b", "bob"}} {
		f.drafts[d.id] = ports.Draft{ID: d.id, Revision: 2, Status: "draft", Fields: ports.Fields{Destination: "JFK", Purpose: "Workshop", Starts: "2027-01-04", Ends: "2027-01-06"}}
		f.owner[d.id] = d.owner
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// falls lays trouble on requests; the channels tell that one is held, and let it go.
func (f *trips) falls(method, end string, x trouble) (held <-chan struct{}, let func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x.held, x.let = make(chan struct{}, 8), make(chan struct{})
	f.trouble[method+" "+end] = x
	return x.held, sync.OnceFunc(func() { close(x.let) })
}

func (f *trips) lift() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trouble = map[string]trouble{}
}

// signOutAll ends every session, so that the next request meets a 401.
func (f *trips) signOutAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions = map[string]string{}
}

func (f *trips) count(method, end string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.asked {
		if m, path, _ := strings.Cut(a, " "); m == method && strings.HasSuffix(path, end) {
			n++
		}
	}
	return n
}

func (f *trips) draft(id string) ports.Draft {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.drafts[id]
}

// elsewhere is a change by somebody else.
func (f *trips) elsewhere(id string, field ports.Field, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.drafts[id]
	d.Revision++
	d.Fields = d.With(field, text)
	f.drafts[id] = d
}

func (f *trips) find(r *http.Request) trouble {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.Method+" "+r.URL.Path)
	for _, key := range slices.Sorted(maps.Keys(f.trouble)) {
		method, end, _ := strings.Cut(key, " ")
		if r.Method == method && strings.HasSuffix(r.URL.Path, end) {
			return f.trouble[key]
		}
	}
	return trouble{}
}

func (f *trips) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := f.find(r)
	if x.status != 0 {
		tell(w, x.status, map[string]string{"code": x.code})
		return
	}
	if x.raw != "" {
		_, _ = io.WriteString(w, x.raw)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if x.before && !wait(r, x) {
		return
	}
	status, answer := f.apply(w, r, body)
	if x.after && !wait(r, x) {
		return
	}
	switch {
	case x.lose:
		panic(http.ErrAbortHandler)
	case x.hide:
		tell(w, http.StatusNotFound, map[string]string{"code": "no_receipt"})
	default:
		tell(w, status, answer)
	}
}

// wait says whether a held request is let go before its caller leaves.
func wait(r *http.Request, x trouble) bool {
	x.held <- struct{}{}
	select {
	case <-x.let:
		return true
	case <-r.Context().Done():
		return false
	}
}

func tell(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func no(code string) map[string]string { return map[string]string{"code": code} }

func (f *trips) apply(w http.ResponseWriter, r *http.Request, raw []byte) (int, any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var body struct {
		User, Password, CommandID string
		ExpectedRevision          int
		Patch                     ports.Patch
	}
	_ = json.Unmarshal(raw, &body)
	if r.URL.Path == "/api/session" && r.Method == http.MethodPost {
		if body.Password != "pw-"+body.User {
			return http.StatusUnauthorized, no("sign_in_refused")
		}
		cookie := fmt.Sprintf("s%d", len(f.asked))
		f.sessions[cookie] = body.User
		http.SetCookie(w, &http.Cookie{Name: "trips_session", Value: cookie, HttpOnly: true})
		return http.StatusOK, map[string]string{"user": body.User}
	}
	cookie, err := r.Cookie("trips_session")
	if err != nil || f.sessions[cookie.Value] == "" {
		return http.StatusUnauthorized, no("signed_out")
	}
	if r.URL.Path == "/api/session" {
		delete(f.sessions, cookie.Value)
		return http.StatusOK, map[string]string{}
	}
	part := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/trips/"), "/")
	d, there := f.drafts[part[0]]
	if !there || f.owner[part[0]] != f.sessions[cookie.Value] {
		return http.StatusNotFound, no("not_found")
	}
	switch {
	case r.Method == http.MethodGet && len(part) == 1:
		return http.StatusOK, d
	case r.Method == http.MethodGet:
		if receipt, found := f.receipts[part[2]]; found {
			return http.StatusOK, receipt
		}
		return http.StatusNotFound, no("no_receipt")
	case part[len(part)-1] == "fence":
		if receipt, found := f.receipts[part[2]]; found {
			return http.StatusOK, ports.Fenced{Outcome: ports.Confirmed, Receipt: receipt}
		}
		f.fenced[part[2]] = true
		return http.StatusOK, map[string]string{"outcome": "not_applied"}
	}
	return f.command(d, ports.Command{ID: body.CommandID, ExpectedRevision: body.ExpectedRevision, Patch: body.Patch, Kind: map[string]ports.Kind{http.MethodPatch: ports.Update, http.MethodPost: ports.Submission}[r.Method]})
}

func (f *trips) command(d ports.Draft, c ports.Command) (int, any) {
	if receipt, found := f.receipts[c.ID]; found {
		return http.StatusOK, receipt
	}
	switch {
	case f.fenced[c.ID]:
		return http.StatusConflict, no("fenced")
	case d.Revision != c.ExpectedRevision:
		return http.StatusConflict, map[string]any{"code": "revision_conflict", "revision": d.Revision}
	case d.Status == "submitted":
		return http.StatusConflict, no("submitted")
	}
	for field, text := range c.Patch {
		d.Fields = d.With(field, text)
	}
	if c.Kind == ports.Submission {
		d.Status = "submitted"
	}
	d.Revision++
	f.drafts[d.ID] = d
	f.receipts[c.ID] = ports.Receipt{CommandID: c.ID, Kind: c.Kind, FromRevision: d.Revision - 1, ToRevision: d.Revision, Draft: d}
	return http.StatusOK, f.receipts[c.ID]
}
