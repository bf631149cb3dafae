package session_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/app/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answered is one scripted answer of the account service.
type answered struct {
	state session.State
	err   error
}

// scripted answers attempts one by one, each when the test sends its answer.
type scripted struct {
	tokens  chan string
	answers chan answered
}

func newScripted() *scripted {
	return &scripted{tokens: make(chan string), answers: make(chan answered)}
}

func (s *scripted) Restore(ctx context.Context, token string) (session.State, error) {
	select {
	case s.tokens <- token:
	case <-ctx.Done():
		return session.State{}, ctx.Err()
	}
	select {
	case a := <-s.answers:
		return a.state, a.err
	case <-ctx.Done():
		return session.State{}, ctx.Err()
	}
}

func (s *scripted) attempt(t *testing.T, token string, a answered) {
	t.Helper()
	if got := <-s.tokens; got != token {
		t.Fatalf("attempt with token %q, expected %q", got, token)
	}
	s.answers <- a
}

func run(t *testing.T, s *session.Session) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

func phase(s *session.Session) func() session.Phase {
	return func() session.Phase { return s.Current().Phase }
}

var restoredA = session.State{Phase: session.Restored, Account: "a", Key: []byte("k")}

func TestRestorationIsTriedUntilItWorks(t *testing.T) {
	g := NewWithT(t)
	service := newScripted()
	s := session.New(service, "ta", time.Millisecond)
	g.Expect(s.Current().Phase).To(Equal(session.Unresolved))
	changed := s.Changed()
	run(t, s)
	for range 30 {
		service.attempt(t, "ta", answered{err: errors.New("not now")})
		g.Expect(changed).NotTo(BeClosed())
	}
	service.attempt(t, "ta", answered{state: restoredA})
	g.Eventually(changed).Should(BeClosed())
	got := s.Current()
	g.Expect(got.Phase).To(Equal(session.Restored))
	g.Expect(got.Account).To(Equal("a"))
	g.Expect(got.Refusals).To(BeZero())
}

func TestALateAnswerForAnotherTokenChangesNothing(t *testing.T) {
	g := NewWithT(t)
	service := newScripted()
	s := session.New(service, "ta", time.Millisecond)
	run(t, s)
	g.Expect(<-service.tokens).To(Equal("ta"))
	s.SignIn("tb")
	g.Expect(<-service.tokens).To(Equal("tb"), "the attempt with the old token must be given up")
	service.answers <- answered{state: session.State{Phase: session.Restored, Account: "b"}}
	g.Eventually(phase(s)).Should(Equal(session.Restored))
	g.Expect(s.Current().Account).To(Equal("b"))
}

func TestSignOutAndInAgain(t *testing.T) {
	g := NewWithT(t)
	service := newScripted()
	s := session.New(service, "ta", time.Millisecond)
	run(t, s)
	service.attempt(t, "ta", answered{state: restoredA})
	g.Eventually(phase(s)).Should(Equal(session.Restored))
	before := s.Current().Generation
	s.SignOut()
	out := s.Current()
	g.Expect(out.Phase).To(Equal(session.SignedOut))
	g.Expect(out.Account).To(BeEmpty())
	g.Expect(out.Key).To(BeEmpty())
	g.Expect(out.Generation).To(BeNumerically(">", before))
	s.SignIn("")
	service.attempt(t, "ta", answered{state: restoredA})
	g.Eventually(phase(s)).Should(Equal(session.Restored))
}

func TestARevokedAccountIsKnownAndComesBack(t *testing.T) {
	g := NewWithT(t)
	service := newScripted()
	s := session.New(service, "ta", time.Millisecond)
	run(t, s)
	denied := answered{state: session.State{Phase: session.Denied, Account: "a"}}
	service.attempt(t, "ta", denied)
	service.attempt(t, "ta", denied)
	generation := s.Current().Generation
	service.attempt(t, "ta", denied)
	service.attempt(t, "ta", answered{err: errors.New("not now")})
	g.Expect(<-service.tokens).To(Equal("ta"))
	g.Expect(s.Current().Phase).To(Equal(session.Denied))
	g.Expect(s.Current().Generation).To(Equal(generation), "the same refusal again is no change")
	service.answers <- answered{state: restoredA}
	g.Eventually(phase(s)).Should(Equal(session.Restored))
}

func TestNobodySignedIn(t *testing.T) {
	g := NewWithT(t)
	service := newScripted()
	s := session.New(service, "", time.Millisecond)
	run(t, s)
	g.Expect(s.Current().Phase).To(Equal(session.SignedOut))
	s.SignIn("")
	g.Expect(s.Current().Phase).To(Equal(session.SignedOut), "there is no token to sign in with")
	s.SignIn("tb")
	service.attempt(t, "tb", answered{state: restoredA})
	g.Eventually(phase(s)).Should(Equal(session.Restored))
}

const key = `"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`

func TestRestoreReadsTheAnswer(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		phase  session.Phase
		says   string
	}{
		{"restored", 200, `{"account":"a","key":` + key + `}`, session.Restored, ""},
		{"revoked", 403, `{"account":"a","code":"access_denied"}`, session.Denied, ""},
		{"forbidden without an account", 403, `{"code":"refused"}`, "", "answered 403"},
		{"unknown token", 401, `{}`, "", "answered 401"},
		{"not now", 503, `busy`, "", "answered 503"},
		{"without a key", 200, `{"account":"a"}`, "", "library key of 32 bytes"},
		{"short key", 200, `{"account":"a","key":"AAAA"}`, "", "library key of 32 bytes"},
		{"no JSON", 200, `<html>`, "", "without an account"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			state, err := session.NewClient(server.URL).Restore(t.Context(), "secret-token")
			if tt.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tt.says)))
				g.Expect(err).NotTo(MatchError(ContainSubstring("secret-token")))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(state.Phase).To(Equal(tt.phase))
			g.Expect(state.Account).To(Equal("a"))
		})
	}
}

func TestCheckReadsTheAnswer(t *testing.T) {
	tests := []struct {
		status int
		body   string
		want   error
	}{
		{200, `{"allowed":true}`, nil},
		{200, `{"allowed":false}`, session.ErrAccessDenied},
		{200, `{}`, session.ErrAccessUnknown},
		{404, `{}`, session.ErrAccessUnknown},
		{503, `{"allowed":true}`, session.ErrAccessUnknown},
	}
	for _, tt := range tests {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("account") != "a&b" {
				t.Errorf("asked for account %q", r.URL.Query().Get("account"))
			}
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.body))
		}))
		client := session.NewClient(server.URL)
		err := client.Check(t.Context(), "a&b")
		client.Close()
		server.Close()
		if tt.want == nil {
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			continue
		}
		NewWithT(t).Expect(err).To(MatchError(tt.want), "%d %s", tt.status, tt.body)
	}
}

func TestAnUnreachableServiceDecidesNothing(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client := session.NewClient(server.URL)
	_, err := client.Restore(t.Context(), "secret-token")
	g.Expect(err).To(HaveOccurred())
	g.Expect(strings.Contains(err.Error(), "secret-token")).To(BeFalse())
	g.Expect(client.Check(t.Context(), "a")).To(MatchError(session.ErrAccessUnknown))
}
