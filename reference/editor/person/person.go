// Package person is the editor's surface for a person, over loopback HTTP: what
// they see, what they type, reloading, and signing in and out.
package person

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"unicode/utf8"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// Seat is where the person sits.
type Seat interface {
	Show(ctx context.Context, draft string) (ports.View, error)
	Reload(ctx context.Context, draft string) (ports.View, error)
	Type(ctx context.Context, draft string, field ports.Field, text string) (ports.View, error)
	SignIn(ctx context.Context, user, password string) error
	SignOut(ctx context.Context) error
}

// surface answers over a seat. code says why something failed.
type surface struct {
	seat Seat
	code func(error) ports.Code
}

// Handler serves requests that are addressed to this machine only, and changes
// nothing for a page of another origin.
func Handler(seat Seat, code func(error) ports.Code) http.Handler {
	s := surface{seat, code}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, map[string]bool{"ok": true}) })
	mux.HandleFunc("GET /editor/{draft}", s.shown(seat.Show))
	mux.HandleFunc("POST /editor/{draft}/reload", s.shown(seat.Reload))
	mux.HandleFunc("POST /editor/{draft}/type", s.types)
	mux.HandleFunc("POST /session", s.signIn)
	mux.HandleFunc("DELETE /session", s.signOut)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, ports.CodeNotFound, "this editor has no such request")
	})
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusForbidden, ports.CodeForbidden, "a page of another origin changes nothing here")
	}))
	return addressedHere(own.Handler(mux))
}

// addressedHere refuses a name that was bent to this machine (DNS rebinding).
func addressedHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			refuse(w, http.StatusMisdirectedRequest, ports.CodeInvalid, "this editor answers to 127.0.0.1 and localhost only")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// seen is what the person sees.
type seen struct {
	Draft             string          `json:"draft"`
	User              string          `json:"user"` // "" while nobody is signed in
	Fields            ports.Fields    `json:"fields"`
	Revision          int             `json:"revision"` // 0 while nothing was read
	Status            string          `json:"status"`
	State             ports.State     `json:"state"`
	HasUnsavedChanges bool            `json:"hasUnsavedChanges"`
	Unresolved        *ports.Attached `json:"unresolved"` // null while every outcome is known
	Code              ports.Code      `json:"code,omitempty"`
	Reason            string          `json:"reason,omitempty"`
}

func (s surface) say(w http.ResponseWriter, v ports.View, err error) {
	if err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, seen{
		Draft: v.Draft, User: v.User, Fields: v.Fields, Revision: v.Revision, Status: v.Status,
		State: v.State, HasUnsavedChanges: v.HasUnsavedChanges, Unresolved: v.Unresolved, Code: v.Code, Reason: v.Reason,
	})
}

func (s surface) shown(show func(context.Context, string) (ports.View, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := show(r.Context(), r.PathValue("draft"))
		s.say(w, v, err)
	}
}

func (s surface) types(w http.ResponseWriter, r *http.Request) {
	var typed struct {
		Field ports.Field `json:"field"`
		Text  *string     `json:"text"`
	}
	if !read(w, r, &typed) {
		return
	}
	if typed.Text == nil {
		refuse(w, http.StatusBadRequest, ports.CodeInvalid, `the body lacks "text"; expected {"field": one of destination, purpose, starts and ends, "text": what it shows from now on}`)
		return
	}
	v, err := s.seat.Type(r.Context(), r.PathValue("draft"), typed.Field, *typed.Text)
	s.say(w, v, err)
}

func (s surface) signIn(w http.ResponseWriter, r *http.Request) {
	var who struct {
		User     string `json:"user"`
		Password string `json:"password"`
	}
	if !read(w, r, &who) {
		return
	}
	if err := s.seat.SignIn(r.Context(), who.User, who.Password); err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, map[string]string{"user": who.User})
}

// signOut ends the session here whatever the server says, and tells if it said nothing.
func (s surface) signOut(w http.ResponseWriter, r *http.Request) {
	body := map[string]string{"user": ""}
	if err := s.seat.SignOut(r.Context()); err != nil && s.code(err) != ports.CodeSignedOut {
		body["reason"] = "signed out here; the server did not confirm it: " + ports.MeaningOf(s.code(err))
	}
	say(w, http.StatusOK, body)
}

// statuses are those of the codes that say more than a gateway's 502.
var statuses = map[ports.Code]int{
	ports.CodeInvalid: http.StatusBadRequest, ports.CodeSignedOut: http.StatusUnauthorized, ports.CodeSignInRefused: http.StatusUnauthorized,
	ports.CodeForbidden: http.StatusForbidden, ports.CodeNotFound: http.StatusNotFound,
	ports.CodeUnresolved: http.StatusConflict, ports.CodeBusy: http.StatusConflict, ports.CodeDeadline: http.StatusGatewayTimeout,
}

func (s surface) fail(w http.ResponseWriter, err error) {
	code := s.code(err)
	status, known := statuses[code]
	if !known {
		status = http.StatusBadGateway
	}
	refuse(w, status, code, ports.MeaningOf(code))
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a caller that is gone cannot be told so
}

func refuse(w http.ResponseWriter, status int, code ports.Code, reason string) {
	say(w, status, map[string]string{"code": string(code), "reason": reason})
}

// maxBody bounds a request's body, in bytes.
const maxBody = 64 << 10

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err = errors.Join(err, json.Unmarshal(raw, into)); err != nil || !utf8.Valid(raw) { // which would show another text than was typed
		// The body may hold a password, so it is not repeated.
		refuse(w, http.StatusBadRequest, ports.CodeInvalid, "the body is not the expected JSON object")
		return false
	}
	return true
}
