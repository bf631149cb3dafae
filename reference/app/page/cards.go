package page

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
	"github.com/holdfast-mcp/holdfast/reference/app/ports"
	"github.com/holdfast-mcp/holdfast/reference/app/session"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// Card is a record as the page shows it.
type Card struct {
	Item
	Anchor   sidecar.AnchorState `json:"anchor"`
	Waiting  int                 `json:"waiting"`  // commands that are not on the record yet
	Failures []Trouble           `json:"failures"` // commands that never will be
}

// Trouble is a command that ended failed, or waits, with what a person reads about it.
type Trouble struct {
	Kind   sidecar.Kind `json:"kind"`
	Code   string       `json:"code"`
	Reason string       `json:"reason"`
}

// Expected is a record that was accepted and has no item yet. It is no card.
type Expected struct {
	ItemID string
	State  sidecar.IntentState
	Reason string
}

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// Template is the page as it is written, the app's face.
type Template struct{}

// Draw fills the page in. Every text of a record is escaped for where it stands.
func (Template) Draw(w io.Writer, shown any) error { return pageTemplate.Execute(w, shown) }

func (s *Server) cards(w http.ResponseWriter, r *http.Request) {
	g, ok := s.reader(w)
	if !ok {
		return
	}
	cards, err := s.cardsOf(r.Context(), g)
	if err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, cards)
}

func (s *Server) cardsOf(ctx context.Context, g library.Grant) ([]Card, error) {
	items, err := s.Library.Items(ctx, g)
	if err != nil {
		return nil, err
	}
	cards := []Card{}
	for _, i := range items {
		card := Card{Item: itemOf(i), Failures: []Trouble{}}
		anchor, err := s.Records.Anchor(ctx, i.ID)
		if err != nil && !errors.Is(err, sidecar.ErrNeverIssued) {
			return nil, err
		}
		card.Anchor = anchor.State
		intents, err := s.Records.IntentsOf(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		for _, in := range intents {
			switch {
			case !in.State.Terminal():
				card.Waiting++
			case in.State == sidecar.Failed && in.Failure != nil:
				card.Failures = append(card.Failures, Trouble{in.Kind, in.Failure.Code, in.Failure.Reason})
			}
		}
		cards = append(cards, card)
	}
	return cards, nil
}

// expectedOf lists an account's accepted records that have no item yet.
func (s *Server) expectedOf(ctx context.Context, account string) ([]Expected, error) {
	anchors, err := s.Sidecar.ProvisionalAnchors(ctx)
	if err != nil {
		return nil, err
	}
	var all []Expected
	for _, a := range anchors {
		if a.Owner != account {
			continue
		}
		there, err := s.Library.Present(ctx, a.ItemID)
		if err != nil {
			return nil, err
		}
		if there {
			continue
		}
		expected := Expected{ItemID: a.ItemID, State: sidecar.Pending}
		intents, err := s.Records.IntentsOf(ctx, a.ItemID)
		if err != nil {
			return nil, err
		}
		if len(intents) > 0 {
			expected.State = intents[0].State
			if intents[0].Failure != nil {
				expected.Reason = intents[0].Failure.Reason
			}
		}
		all = append(all, expected)
	}
	return all, nil
}

// view is what the page's template sees.
type view struct {
	Nonce    string
	Account  accountAnswer
	Numbers  sidecar.Numbers
	Cards    []Card
	Expected []Expected
	Trouble  string // why there are no cards to see
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	v, err := s.viewOf(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	var page bytes.Buffer
	if err := s.Face.Draw(&page, v); err != nil {
		s.fail(w, err)
		return
	}
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Cache-Control", "no-store")
	head.Set("Referrer-Policy", "same-origin")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'", v.Nonce, v.Nonce))
	// A person who is gone cannot be told so.
	_, _ = page.WriteTo(w)
}

func (s *Server) viewOf(r *http.Request) (v view, err error) {
	v.Nonce = rand.Text()
	if v.Account, err = s.accountNow(r); err != nil {
		return v, err
	}
	if v.Numbers, err = s.Records.Numbers(r.Context()); err != nil {
		return v, err
	}
	state := s.Account.Current()
	switch state.Phase {
	case session.Restored:
	case session.Denied:
		v.Trouble = s.Classifier.Classify(session.ErrAccessDenied).Reason
		return v, nil
	default:
		v.Trouble = s.Classifier.Classify(ports.ErrAccountUnresolved).Reason
		return v, nil
	}
	if v.Cards, err = s.cardsOf(r.Context(), ports.GrantOf(state, s.Account)); err != nil {
		return v, err
	}
	v.Expected, err = s.expectedOf(r.Context(), state.Account)
	return v, err
}

// version changes whenever the page would look different, so that an open one
// knows when to ask again.
func (s *Server) version(w http.ResponseWriter, r *http.Request) {
	log, err := s.Library.Log(r.Context())
	if err != nil {
		s.fail(w, err)
		return
	}
	numbers, err := s.Records.Numbers(r.Context())
	if err != nil {
		s.fail(w, err)
		return
	}
	now, err := s.accountNow(r)
	if err != nil {
		s.fail(w, err)
		return
	}
	say(w, http.StatusOK, map[string]string{"version": fmt.Sprintf("%d-%t-%d-%v", now.Generation, now.Locked, len(log.Events), numbers)})
}
