package page

import (
	"net/http"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
)

// accountAnswer is who is signed in; it holds no token and no key.
type accountAnswer struct {
	State      session.Phase `json:"state"`
	Account    string        `json:"account"`
	Generation int64         `json:"generation"` // rises with every change of the account
	Refusals   int           `json:"refusals"`   // failed attempts to restore since the last change
	Reason     string        `json:"reason,omitempty"`
	Locked     bool          `json:"locked"` // the library is closed to commands
}

func (s *Server) accountNow(r *http.Request) (accountAnswer, error) {
	state := s.Account.Current()
	locked, err := s.Library.Locked(r.Context())
	return accountAnswer{State: state.Phase, Account: state.Account, Generation: state.Generation,
		Refusals: state.Refusals, Reason: state.Reason, Locked: locked}, err
}

func (s *Server) account(w http.ResponseWriter, r *http.Request) {
	now, err := s.accountNow(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, now)
}

// sayAccount answers an action with the account that it led to.
func (s *Server) sayAccount(w http.ResponseWriter, r *http.Request) {
	now, err := s.accountNow(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	done(w, r, now)
}

// signIn restores the session behind a token, without one that which the app
// was started with. It does not wait for the account service.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Token string `json:"token"`
	}
	if !read(w, r, &ask) {
		return
	}
	s.Account.SignIn(ask.Token)
	s.sayAccount(w, r)
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	s.Account.SignOut()
	s.sayAccount(w, r)
}

func (s *Server) lock(locked bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.Library.SetLocked(whole(r), locked); err != nil {
			s.fail(w, err)
			return
		}
		s.Settling.Reconsider()
		s.sayAccount(w, r)
	}
}

// unblock lifts every cause that a person can lift here: it opens the library,
// signs in if a token is given, and has blocked intents tried once more.
func (s *Server) unblock(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Token string `json:"token"`
	}
	if !read(w, r, &ask) {
		return
	}
	if err := s.Library.SetLocked(whole(r), false); err != nil {
		s.fail(w, err)
		return
	}
	if ask.Token != "" {
		s.Account.SignIn(ask.Token)
	}
	s.Settling.Reconsider()
	s.sayAccount(w, r)
}

func (s *Server) numbers(w http.ResponseWriter, r *http.Request) {
	numbers, err := s.Records.Numbers(r.Context())
	if err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, numbers)
}

// writeAnswer is one library write with what it left behind (WR-29): one
// envelope and one event, if it came through the repository.
type writeAnswer struct {
	Seq       int64             `json:"seq"`
	ItemID    string            `json:"item_id"`
	Revision  int64             `json:"revision"`
	Op        library.Operation `json:"op"`
	Envelopes int               `json:"envelopes"`
	Events    int               `json:"events"`
}

type place struct {
	itemID   string
	revision int64
}

func writesOf(log library.Log) []writeAnswer {
	envelopes, events := countOf(log.Envelopes), countOf(log.Events)
	all := []writeAnswer{}
	for _, w := range log.Writes {
		at := place{w.ItemID, w.Revision}
		all = append(all, writeAnswer{Seq: w.Seq, ItemID: w.ItemID, Revision: w.Revision, Op: w.Operation, Envelopes: envelopes[at], Events: events[at]})
	}
	return all
}

func countOf(entries []library.Entry) map[place]int {
	n := map[place]int{}
	for _, e := range entries {
		n[place{e.ItemID, e.Revision}]++
	}
	return n
}

func (s *Server) libraryWrites(w http.ResponseWriter, r *http.Request) {
	log, err := s.Library.Log(r.Context())
	if err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, writesOf(log))
}

func (s *Server) libraryLog(w http.ResponseWriter, r *http.Request) {
	log, err := s.Library.Log(r.Context())
	if err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, map[string]any{
		"counts":    map[string]int{"writes": len(log.Writes), "envelopes": len(log.Envelopes), "events": len(log.Events)},
		"writes":    writesOf(log),
		"envelopes": orNone(log.Envelopes),
		"events":    orNone(log.Events),
	})
}

func orNone(entries []library.Entry) []library.Entry {
	if entries == nil {
		return []library.Entry{}
	}
	return entries
}
