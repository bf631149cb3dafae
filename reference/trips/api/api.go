// Package api is the HTTP API of trips, and the page of a draft.
package api

import (
	"context"
	"encoding/json"
	"html/template"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path"

	"github.com/holdfast-mcp/holdfast/reference/trips/commands"
	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/sessions"
)

// Server answers over its ports.
type Server struct {
	Store    ports.Store
	Sessions ports.Sessions
	Accounts ports.Accounts
	Gate     ports.Gate
	Access   ports.Access
	Commands commands.Commands
	Refusals ports.Refusals
	// Page are the page and its assets, see the package page.
	Page      fs.FS
	Deadlines Deadlines
	Log       *slog.Logger

	face *template.Template
}

// Handler serves requests that are addressed to this machine only, and changes
// nothing for a page of another origin.
func (s *Server) Handler() (http.Handler, error) {
	var err error
	if s.face, err = faceOf(s.Page); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, map[string]bool{"ok": true}) })
	mux.HandleFunc("GET /trips/{draft}", s.page)
	mux.HandleFunc("GET /assets/", s.asset)

	mux.HandleFunc("POST /api/session", s.signIn)
	mux.HandleFunc("GET /api/session", s.signedIn(s.session))
	mux.HandleFunc("DELETE /api/session", s.signedIn(s.signOut))
	mux.HandleFunc("DELETE /api/sessions", s.signedIn(s.signOutAll))
	mux.HandleFunc("GET /api/trips", s.signedIn(s.trips))
	mux.HandleFunc("GET /api/trips/{draft}", s.signedIn(s.trip))
	mux.HandleFunc("PATCH /api/trips/{draft}", s.signedIn(s.mutation(ports.Update)))
	mux.HandleFunc("POST /api/trips/{draft}/submit", s.signedIn(s.mutation(ports.Submit)))
	mux.HandleFunc("GET /api/trips/{draft}/commands/{command}", s.signedIn(s.receipt))
	mux.HandleFunc("POST /api/trips/{draft}/commands/{command}/fence", s.signedIn(s.fence))
	mux.HandleFunc("/", nothing)
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(http.HandlerFunc(foreign))
	return addressedHere(asWritten(own.Handler(mux))), nil
}

// nothing answers what no request of the API is, whatever its method.
func nothing(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusNotFound, ports.Refusal{Code: CodeNotFound, Reason: "this server has no such request; nothing was stored"})
}

// foreign answers a page of another origin that wants something changed.
func foreign(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusForbidden, ports.Refusal{Code: CodeForbidden, Reason: "a page of another origin changes nothing here; nothing was stored"})
}

// asWritten answers a path that stands for another one (//, /../) like any that is not
// there. A redirect would have the caller send its command a second time.
func asWritten(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := r.URL.EscapedPath(); path.Clean(at) != at {
			nothing(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// addressedHere refuses a name that was bent to this machine (DNS rebinding).
func addressedHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			say(w, http.StatusMisdirectedRequest, ports.Refusal{Code: CodeInvalid, Reason: "this server answers to 127.0.0.1 and localhost only"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answering answers the request of a user.
type answering func(w http.ResponseWriter, r *http.Request, user string) (body any, err error)

// signedIn is an answer for who is signed in.
func (s *Server) signedIn(do answering) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user, err := s.Gate.Caller(r)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		// No store is asked for what can be no name: what that does to a database is its own.
		if draft := r.PathValue("draft"); draft != "" && !ValidName(draft) {
			s.refuse(w, r, ports.ErrNoDraft)
			return
		}
		body, err := do(w, r, user)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		say(w, http.StatusOK, body)
	}
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	refusal := s.Refusals.Of(err)
	if refusal.Code == CodeUnavailable {
		s.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err.Error())
	}
	say(w, refusal.Status, refusal)
}

type user struct {
	User string `json:"user"`
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	who, err := s.admit(w, r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	token, err := s.Sessions.Begin(r.Context(), who)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	http.SetCookie(w, sessions.Bake(token))
	say(w, http.StatusOK, user{who})
}

func (s *Server) admit(w http.ResponseWriter, r *http.Request) (string, error) {
	body, err := members(w, r, []string{"user", "password"})
	if err != nil {
		return "", err
	}
	who, noUser := text(body["user"])
	password, noPassword := text(body["password"])
	if noUser != nil || noPassword != nil {
		return "", ports.Invalid("user and password must be given, as strings; nobody was signed in")
	}
	return who, s.Accounts.Check(r.Context(), who, password)
}

func (s *Server) session(_ http.ResponseWriter, _ *http.Request, who string) (any, error) {
	return user{who}, nil
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request, who string) (any, error) {
	if err := s.Sessions.End(r.Context(), sessions.Token(r)); err != nil {
		return nil, err
	}
	http.SetCookie(w, sessions.Crumble())
	return user{who}, nil
}

func (s *Server) signOutAll(w http.ResponseWriter, r *http.Request, who string) (any, error) {
	if err := s.Sessions.EndAll(r.Context(), who); err != nil {
		return nil, err
	}
	http.SetCookie(w, sessions.Crumble())
	return user{who}, nil
}

func (s *Server) trips(_ http.ResponseWriter, r *http.Request, who string) (any, error) {
	all, err := s.Store.Drafts(r.Context(), who)
	return map[string]any{"trips": all}, err
}

func (s *Server) trip(_ http.ResponseWriter, r *http.Request, who string) (any, error) {
	d, err := s.Store.Draft(r.Context(), r.PathValue("draft"))
	if err == nil && !s.Access.MayRead(who, d) {
		err = ports.ErrNoDraft
	}
	return d, err
}

func (s *Server) mutation(kind ports.Kind) answering {
	return func(w http.ResponseWriter, r *http.Request, who string) (any, error) {
		c, err := command(w, r, who, kind)
		if err != nil {
			return nil, err
		}
		result, err := s.Commands.Apply(whole(r), c)
		word := "confirmed"
		if err != nil {
			word = s.Refusals.Of(err).Code
		}
		s.Log.Info("command", "kind", kind, "draft", c.Draft, "command", c.ID, "outcome", word)
		return result, err
	}
}

// receipt looks a command up under its owner, so that another user's is as if it
// had never been (RC-13).
func (s *Server) receipt(_ http.ResponseWriter, r *http.Request, who string) (any, error) {
	command := r.PathValue("command")
	if !ValidName(command) {
		return nil, ports.ErrNoReceipt
	}
	found, err := s.Store.Receipt(r.Context(), who, r.PathValue("draft"), command)
	return found.Result, err
}

func (s *Server) fence(_ http.ResponseWriter, r *http.Request, who string) (any, error) {
	draft, command := r.PathValue("draft"), r.PathValue("command")
	if !ValidName(command) {
		return nil, ports.Invalid("no command can have this commandId; nothing was stored")
	}
	fenced, err := s.Commands.Fence(whole(r), who, draft, command)
	if err == nil {
		s.Log.Info("fence", "draft", draft, "command", command, "outcome", fenced.Outcome)
	}
	return fenced, err
}

// whole keeps what a caller asked for from being cut in half when it leaves.
func whole(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// A caller that is gone cannot be told so.
	_ = json.NewEncoder(w).Encode(body)
}
