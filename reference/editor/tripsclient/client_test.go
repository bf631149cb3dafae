package tripsclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var command = ports.Command{Draft: "trip-1", ID: "c-1", Kind: ports.Update, ExpectedRevision: 2, Patch: ports.Patch{ports.Destination: "BOS"}}

const receipt = `{"commandId":"c-1","kind":"update","fromRevision":2,"toRevision":3,"draft":{"draft":"trip-1","revision":3,"status":"draft","destination":"BOS"}}`

// serve answers every request and keeps the last.
func serve(t *testing.T, status int, body string) (*Client, *seen) {
	t.Helper()
	s := &seen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		s.requests++
		s.method, s.path, s.header, s.body, s.closes = r.Method, r.URL.EscapedPath(), r.Header, raw, r.Close
		http.SetCookie(w, &http.Cookie{Name: "trips_session", Value: "secret"})
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return New(server.URL + "/"), s
}

type seen struct {
	requests     int
	method, path string
	header       http.Header
	body         []byte
	closes       bool
}

func TestWhatIsSent(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		answer       string
		send         func(*Client) error
		method, path string
		body         map[string]any
	}{
		"an update":    {receipt, func(c *Client) error { _, err := c.Update(ctx, command); return err }, http.MethodPatch, "/api/trips/trip-1", map[string]any{"expectedRevision": 2.0, "commandId": "c-1", "patch": map[string]any{"destination": "BOS"}}},
		"a read":       {`{"draft":"trip-1","revision":2}`, func(c *Client) error { _, err := c.Draft(ctx, "trip-1"); return err }, http.MethodGet, "/api/trips/trip-1", nil},
		"a lookup":     {receipt, func(c *Client) error { _, err := c.Receipt(ctx, "trip-1", "c-1"); return err }, http.MethodGet, "/api/trips/trip-1/commands/c-1", nil},
		"a fence":      {`{"outcome":"not_applied"}`, func(c *Client) error { _, err := c.Fence(ctx, "trip-1", "c-1"); return err }, http.MethodPost, "/api/trips/trip-1/commands/c-1/fence", nil},
		"a sign-out":   {`{}`, func(c *Client) error { return c.SignOut(ctx) }, http.MethodDelete, "/api/session", nil},
		"a sign-in":    {`{}`, func(c *Client) error { return c.SignIn(ctx, "ada", "pw") }, http.MethodPost, "/api/session", map[string]any{"user": "ada", "password": "pw"}},
		"a bent draft": {`{"draft":"../x","revision":2}`, func(c *Client) error { _, err := c.Draft(ctx, "../x"); return err }, http.MethodGet, "/api/trips/..%2Fx", nil},
		"a submission": {`{"commandId":"c-1","kind":"submit","fromRevision":2,"toRevision":3,"draft":{"draft":"trip-1","revision":3}}`, func(c *Client) error {
			_, err := c.Submit(ctx, ports.Command{Draft: "trip-1", ID: "c-1", Kind: ports.Submission, ExpectedRevision: 2})
			return err
		}, http.MethodPost, "/api/trips/trip-1/submit", map[string]any{"expectedRevision": 2.0, "commandId": "c-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			client, s := serve(t, http.StatusOK, c.answer)
			g.Expect(c.send(client)).To(Succeed())
			g.Expect(s.method).To(Equal(c.method))
			g.Expect(s.path).To(Equal(c.path))
			var body map[string]any
			if len(s.body) > 0 {
				g.Expect(json.Unmarshal(s.body, &body)).To(Succeed())
			}
			g.Expect(body).To(Equal(c.body))
			g.Expect(s.header).NotTo(HaveKey("Idempotency-Key"))
			g.Expect(s.closes).To(BeTrue(), "a connection carries one request")
			g.Expect(s.requests).To(Equal(1))
		})
	}
}

func TestTheSessionIsShown(t *testing.T) {
	g := NewWithT(t)
	client, s := serve(t, http.StatusOK, `{"draft":"trip-1","revision":2}`)
	ctx := context.Background()
	read := func() string {
		_, err := client.Draft(ctx, "trip-1")
		g.Expect(err).NotTo(HaveOccurred())
		return s.header.Get("Cookie")
	}
	g.Expect(read()).To(BeEmpty())
	g.Expect(client.SignIn(ctx, "ada", "pw")).To(Succeed())
	g.Expect(read()).To(Equal("trips_session=secret"))
	g.Expect(client.SignOut(ctx)).To(Succeed())
	g.Expect(s.header.Get("Cookie")).To(Equal("trips_session=secret"), "the sign-out says whose")
	g.Expect(read()).To(BeEmpty())
}

func TestARefusedSignInKeepsTheSession(t *testing.T) {
	g := NewWithT(t)
	client, s := serve(t, http.StatusUnauthorized, `{"code":"sign_in_refused"}`)
	client.keep("before")
	var said *ports.AnswerError
	g.Expect(errors.As(client.SignIn(context.Background(), "ada", "no"), &said)).To(BeTrue())
	g.Expect(said).To(Equal(&ports.AnswerError{Status: 401, Code: "sign_in_refused"}))
	_, err := client.Draft(context.Background(), "trip-1")
	g.Expect(err).To(HaveOccurred())
	g.Expect(s.header.Get("Cookie")).To(Equal("trips_session=before"))
}

// What an answer says, and what it does not.
func TestWhatAnAnswerMeans(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		status int
		body   string
		want   error
		said   *ports.AnswerError
	}{
		"a receipt":                {200, receipt, nil, nil},
		"of another command":       {200, `{"commandId":"c-0","kind":"update","fromRevision":2,"toRevision":3,"draft":{"draft":"trip-1"}}`, ports.ErrUnreliable, nil},
		"of another kind":          {200, `{"commandId":"c-1","kind":"submit","fromRevision":2,"toRevision":3,"draft":{"draft":"trip-1"}}`, ports.ErrUnreliable, nil},
		"of another draft":         {200, `{"commandId":"c-1","kind":"update","fromRevision":2,"toRevision":3,"draft":{"draft":"trip-2"}}`, ports.ErrUnreliable, nil},
		"that moved nothing":       {200, `{"commandId":"c-1","kind":"update","fromRevision":2,"toRevision":2,"draft":{"draft":"trip-1"}}`, ports.ErrUnreliable, nil},
		"nothing":                  {204, "", ports.ErrUnreliable, nil},
		"no JSON":                  {200, "<html>", ports.ErrUnreliable, nil},
		"a redirect":               {307, "", ports.ErrUnreliable, nil},
		"a conflict":               {409, `{"code":"revision_conflict","revision":7}`, nil, &ports.AnswerError{Status: 409, Code: "revision_conflict", Revision: 7}},
		"a gateway's page":         {502, "<html>", nil, &ports.AnswerError{Status: 502}},
		"a refusal without a word": {403, "", nil, &ports.AnswerError{Status: 403}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			client, s := serve(t, c.status, c.body)
			_, err := client.Update(ctx, command)
			switch {
			case c.said != nil:
				var said *ports.AnswerError
				g.Expect(errors.As(err, &said)).To(BeTrue())
				g.Expect(said).To(Equal(c.said))
			case c.want != nil:
				g.Expect(err).To(MatchError(c.want))
			default:
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(errors.Is(err, ports.ErrUnsent)).To(BeFalse())
			g.Expect(s.requests).To(Equal(1), "no answer has it sent again")
		})
	}
}

// A request that found no connection never left; one that has had one may have.
func TestWhetherARequestLeft(t *testing.T) {
	g := NewWithT(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	client := New("http://" + listener.Addr().String())
	var accepted atomic.Int64
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			_, _ = conn.Read(make([]byte, 1)) // the request is under way
			_ = conn.Close()
		}
	}()
	_, err = client.Update(context.Background(), command)
	g.Expect(err).To(HaveOccurred())
	g.Expect(err).NotTo(MatchError(ports.ErrUnsent))
	g.Expect(accepted.Load()).To(Equal(int64(1)))

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = client.Update(ctx, command)
	g.Expect(err).To(And(MatchError(ports.ErrUnsent), MatchError(context.Canceled)))

	g.Expect(listener.Close()).To(Succeed())
	<-gone
	_, err = client.Update(context.Background(), command)
	g.Expect(err).To(MatchError(ports.ErrUnsent))
	_, err = New("::no address").Update(context.Background(), command)
	g.Expect(err).To(And(MatchError(ports.ErrUnsent), MatchError(ContainSubstring("set TRIPS_URL"))))
	g.Expect(err.Error()).NotTo(ContainSubstring("trip-1"))
}
