package helper

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestWhatTheAppSays(t *testing.T) {
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		is      error
		message string
	}{
		"there": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"item_id":"a/b","title":"T","notes":[{"text":"x","seq":3}]}`)
		}, nil, ""},
		"gone":               {status(404), ErrNotThere, ""},
		"another account's":  {status(403), ErrAccountUnavailable, ""},
		"account unresolved": {status(503), ErrAccountUnresolved, ""},
		"broken":             {status(500), nil, "ask the app for item a/b: it answered 500 Internal Server Error, expected 200, 403, 404 or 503"},
		"prose":              {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `hello`) }, nil, "ask the app for item a/b: its answer is not the item: invalid character 'h' looking for beginning of value"},
		"another item":       {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"item_id":"c"}`) }, nil, `ask the app for item a/b: it answered with item "c"`},
		"another version": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(VersionHeader, "2")
			w.WriteHeader(409)
		}, nil, "the app speaks contract version 2, this helper speaks contract version 3; run builds that agree"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				g.Expect(r.URL.EscapedPath()).To(Equal("/agent/items/a%2Fb"))
				g.Expect(r.Header.Get(VersionHeader)).To(Equal("3"))
				c.answer(w, r)
			}))
			defer app.Close()
			item, err := NewAppClient(app.URL, 10*time.Second).Item(t.Context(), "a/b")
			switch {
			case c.is != nil:
				g.Expect(err).To(MatchError(c.is))
			case c.message != "":
				g.Expect(err).To(MatchError(c.message))
			default:
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(item).To(Equal(Item{ItemID: "a/b", Title: "T", Notes: []ItemNote{{Text: "x", Seq: 3}}}))
			}
		})
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestAnAppThatHangsIsNoAnswer(t *testing.T) {
	g := NewWithT(t)
	app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer app.Close()
	_, err := NewAppClient(app.URL, 30*time.Millisecond).Item(t.Context(), "a")
	g.Expect(err).To(MatchError(ContainSubstring("ask the app for item a")))
	g.Expect(err).To(MatchError(ContainSubstring("deadline exceeded")))
}

func TestVersionsAreComparedWhereTheAppSaysOne(t *testing.T) {
	speaking := func(version string, code int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/agent/contract" {
				code = 500
			}
			w.Header().Set(VersionHeader, version)
			w.WriteHeader(code)
		}
	}
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		message string
	}{
		"the same":              {speaking("3", 200), ""},
		"an older one":          {speaking("2", 409), "the app speaks contract version 2, this helper speaks contract version 3; run builds that agree"},
		"a newer one":           {speaking("4", 200), "the app speaks contract version 4, this helper speaks contract version 3; run builds that agree"},
		"a word":                {speaking("three", 200), "the app speaks contract version 0, this helper speaks contract version 3; run builds that agree"},
		"nothing":               {status(502), ""},
		"no answer for so long": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			app := httptest.NewServer(c.answer)
			defer app.Close()
			err := NewAppClient(app.URL, 10*time.Second).Agree(t.Context())
			if c.message == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(c.message))
			}
		})
	}
	g := NewWithT(t)
	app := httptest.NewServer(status(200))
	app.Close()
	g.Expect(NewAppClient(app.URL, time.Second).Agree(t.Context())).To(Succeed(), "an app that is away may be of the right version")
	app = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.Expect(r.Header.Get(VersionHeader)).To(Equal("2"))
		w.Header().Set(VersionHeader, "2")
	}))
	defer app.Close()
	g.Expect(NewAppClient(app.URL, time.Second).As(2).Agree(t.Context())).To(Succeed())
}
