// Package page is the app's loopback HTTP API: what the helper asks, what a
// person sees and does, and a page of cards.
package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// VersionHeader is how app and helper tell each other their contract version.
const VersionHeader = "Holdfast-Contract-Version"

// Settling is what the page tells the executor.
type Settling interface {
	// Reconsider says that a person may have lifted what blocked an intent.
	Reconsider()
	// Repair says that an item was deleted.
	Repair()
}

// Server answers over the app's ports.
type Server struct {
	ports.Ports
	Settling Settling
	Contract int
	Log      *slog.Logger
}

// The codes that only this API answers with; the others are the sidecar's.
const (
	codeAccountUnavailable = "account_unavailable" // the record is another account's
	codeItemMissing        = "item_missing"        // the library has no such item
	codeMalformed          = "malformed"           // the request is not what was expected
	codeVersionMismatch    = sidecar.CodeVersionMismatch
)

// Handler serves requests that are addressed to this machine only, and changes
// nothing for a page of another origin.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /agent/contract", s.agentContract)
	mux.HandleFunc("GET /agent/items/{id}", s.agentItem)

	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /version", s.version)
	mux.HandleFunc("GET /cards", s.cards)
	mux.HandleFunc("GET /items", s.items)
	mux.HandleFunc("GET /items/{id}", s.item)
	mux.HandleFunc("DELETE /items/{id}", s.deleteItem)
	mux.HandleFunc("POST /items/{id}/delete", s.deleteItem)

	mux.HandleFunc("GET /account", s.account)
	mux.HandleFunc("POST /account/sign-in", s.signIn)
	mux.HandleFunc("POST /account/sign-out", s.signOut)

	mux.HandleFunc("GET /library/log", s.libraryLog)
	mux.HandleFunc("GET /library/writes", s.libraryWrites)
	mux.HandleFunc("POST /library/lock", s.lock(true))
	mux.HandleFunc("POST /library/unlock", s.lock(false))
	mux.HandleFunc("POST /unblock", s.unblock)
	mux.HandleFunc("GET /numbers", s.numbers)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, codeMalformed, "this app has no such request")
	})
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusForbidden, codeMalformed, "a page of another origin changes nothing here")
	}))
	return versioned(s.Contract, addressedHere(own.Handler(mux)))
}

// addressedHere refuses a name that was bent to this machine (DNS rebinding).
func addressedHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			refuse(w, http.StatusMisdirectedRequest, codeMalformed, "this app answers to 127.0.0.1 and localhost only")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// versioned tells the own contract version with every answer and refuses a
// caller that speaks another one.
func versioned(contract int, next http.Handler) http.Handler {
	own := strconv.Itoa(contract)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(VersionHeader, own)
		if theirs := r.Header.Get(VersionHeader); theirs != "" && theirs != own {
			refuse(w, http.StatusConflict, codeVersionMismatch, "the caller speaks contract version "+theirs+", this app speaks contract version "+own+": run builds that agree")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Refusal is the API of an app that can not use the sidecar: it says its version
// and why, and nothing else.
func Refusal(contract int, why *sidecar.VersionError) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusOK, map[string]any{"ok": false, "contract": contract, "code": codeVersionMismatch, "reason": why.Error()})
	})
	mux.HandleFunc("GET /agent/contract", func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusOK, map[string]any{"version": contract})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusConflict, codeVersionMismatch, why.Error())
	})
	return versioned(contract, addressedHere(mux))
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusOK, map[string]any{"ok": true, "contract": s.Contract, "account": s.Account.Current().Phase})
}

func (s *Server) agentContract(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusOK, map[string]any{"version": s.Contract})
}

// reader is the right to read as the account that is signed in. It refuses and
// returns false while nobody is.
func (s *Server) reader(w http.ResponseWriter) (library.Grant, bool) {
	state := s.Account.Current()
	switch state.Phase {
	case session.Restored:
		return ports.GrantOf(state, s.Account), true
	case session.Denied:
		s.fail(w, session.ErrAccessDenied)
	default:
		s.fail(w, ports.ErrAccountUnresolved)
	}
	return library.Grant{}, false
}

// fail answers with what an error means, by structure.
func (s *Server) fail(w http.ResponseWriter, err error) {
	var version *sidecar.VersionError
	switch {
	case errors.As(err, &version):
		refuse(w, http.StatusConflict, codeVersionMismatch, version.Error())
		return
	case errors.Is(err, library.ErrForeign):
		refuse(w, http.StatusForbidden, codeAccountUnavailable, "this record belongs to another account")
		return
	case errors.Is(err, library.ErrNoItem):
		refuse(w, http.StatusNotFound, codeItemMissing, "the library has no such item")
		return
	case errors.Is(err, sidecar.ErrBusy), errors.Is(err, sidecar.ErrStorage), errors.Is(err, sidecar.ErrUnreadable):
		s.Log.Warn("the sidecar did not answer", "error", err.Error())
		refuse(w, http.StatusInternalServerError, "sidecar_unavailable", "the sidecar cannot be read now")
		return
	}
	f := s.Classifier.Classify(err)
	status := http.StatusInternalServerError
	switch f.Code {
	case sidecar.CodeAccountUnresolved:
		status = http.StatusServiceUnavailable
	case sidecar.CodeAccessDenied, sidecar.CodeLibraryLocked, sidecar.CodeLibraryBusy:
		// 423: a helper takes 403 for another account's record and 503 for an
		// unknown account; this is neither.
		status = http.StatusLocked
	case sidecar.CodeOwnerMismatch:
		status = http.StatusForbidden
	default:
		s.Log.Warn("a request failed", "error", err.Error())
	}
	say(w, status, f)
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// A caller that is gone cannot be told so.
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, code, reason string) {
	say(w, status, map[string]string{"code": code, "reason": reason})
}

// maxBody bounds a request's body, in bytes.
const maxBody = 64 << 10

// read takes a JSON body; an empty one, and that of a form, leaves into as it is.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if isForm(r) {
		return true
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil && len(raw) > 0 {
		err = json.Unmarshal(raw, into)
	}
	if err != nil || !utf8.Valid(raw) {
		// The body may hold a token, so it is not repeated.
		refuse(w, http.StatusBadRequest, codeMalformed, "the body is not the expected JSON object")
		return false
	}
	return true
}

func isForm(r *http.Request) bool {
	return r.Header.Get("Content-Type") == "application/x-www-form-urlencoded"
}

// done answers an action: a form is led back to the page.
func done(w http.ResponseWriter, r *http.Request, body any) {
	if isForm(r) {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	say(w, http.StatusOK, body)
}

// whole keeps what a caller asked for from being cut in half when it leaves.
func whole(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }
