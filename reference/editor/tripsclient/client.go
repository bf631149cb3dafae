// Package tripsclient speaks to the trips server. It never sends a request twice,
// and it says exactly whether one may have left.
package tripsclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// sessionCookie is the cookie that a signed-in request carries.
const sessionCookie = "trips_session"

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 1 << 20

// Client is the server behind its HTTP interface. It holds one session.
type Client struct {
	base string
	http *http.Client

	mu      sync.Mutex
	session string // the cookie's value, "" while nobody is signed in
}

// New makes a client without a session. Every wait is bounded by its caller.
func New(base string) *Client {
	return &Client{base: strings.TrimRight(base, "/"), http: &http.Client{
		// A connection is used once: on a reused one that breaks, a request could be
		// sent again by itself.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func place(draft string, more ...string) string {
	path := "/api/trips/" + url.PathEscape(draft)
	for _, m := range more {
		path += "/" + url.PathEscape(m)
	}
	return path
}

// SignIn begins a session; the one before is kept if it is refused.
func (c *Client) SignIn(ctx context.Context, user, password string) error {
	answer, err := c.do(ctx, http.MethodPost, "/api/session", map[string]string{"user": user, "password": password})
	if err != nil {
		return err
	}
	for _, cookie := range answer.cookies {
		if cookie.Name == sessionCookie && cookie.Value != "" {
			c.keep(cookie.Value)
			return nil
		}
	}
	return fmt.Errorf("the trips server accepted the sign-in of %s without a cookie %s: %w", user, sessionCookie, ports.ErrUnreliable)
}

// SignOut ends the session here in any case, and at the server if it can be reached.
func (c *Client) SignOut(ctx context.Context) error {
	_, err := c.send(ctx, c.keep(""), http.MethodDelete, "/api/session", nil)
	return err
}

// keep keeps a session, and returns the one before. Whoever signs in meanwhile
// keeps their own.
func (c *Client) keep(session string) (before string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.session = c.session, session
	return before
}

func (c *Client) current() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// Draft reads a draft.
func (c *Client) Draft(ctx context.Context, draft string) (ports.Draft, error) {
	d, err := asked[ports.Draft](ctx, c, http.MethodGet, place(draft), nil)
	if err == nil && (d.ID != draft || d.Revision < 1) {
		return ports.Draft{}, fmt.Errorf("read draft %s: %w", draft, ports.ErrUnreliable)
	}
	return d, err
}

// mutation is what a command carries.
type mutation struct {
	ExpectedRevision int         `json:"expectedRevision"`
	CommandID        string      `json:"commandId"`
	Patch            ports.Patch `json:"patch,omitempty"`
}

// Update sends an update.
func (c *Client) Update(ctx context.Context, m ports.Command) (ports.Receipt, error) {
	return c.receipt(ctx, http.MethodPatch, place(m.Draft), m, mutation{m.ExpectedRevision, m.ID, m.Patch})
}

// Submit sends a submission.
func (c *Client) Submit(ctx context.Context, m ports.Command) (ports.Receipt, error) {
	return c.receipt(ctx, http.MethodPost, place(m.Draft, "submit"), m, mutation{m.ExpectedRevision, m.ID, nil})
}

func (c *Client) receipt(ctx context.Context, method, path string, of ports.Command, body any) (ports.Receipt, error) {
	r, err := asked[ports.Receipt](ctx, c, method, path, body)
	if err == nil && !r.Of(of) {
		return ports.Receipt{}, fmt.Errorf("the answer is no receipt of command %s: %w", of.ID, ports.ErrUnreliable)
	}
	return r, err
}

// Receipt looks up the receipt of a command. Whose it is, its caller knows.
func (c *Client) Receipt(ctx context.Context, draft, command string) (ports.Receipt, error) {
	return asked[ports.Receipt](ctx, c, http.MethodGet, place(draft, "commands", command), nil)
}

// Fence gives a command up.
func (c *Client) Fence(ctx context.Context, draft, command string) (ports.Fenced, error) {
	return asked[ports.Fenced](ctx, c, http.MethodPost, place(draft, "commands", command, "fence"), nil)
}

// asked reads an answer as what it should be.
func asked[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var into T
	answer, err := c.do(ctx, method, path, body)
	if err != nil {
		return into, err
	}
	if err := json.Unmarshal(answer.body, &into); err != nil {
		return into, fmt.Errorf("the trips server's answer has not the expected form: %w", ports.ErrUnreliable)
	}
	return into, nil
}

// answer is what came whole, below 300.
type answer struct {
	body    []byte
	cookies []*http.Cookie
}

// do sends one request under the session that is kept.
func (c *Client) do(ctx context.Context, method, path string, body any) (answer, error) {
	return c.send(ctx, c.current(), method, path, body)
}

// send sends one request. Its errors hold nothing of what was sent.
func (c *Client) send(ctx context.Context, session, method, path string, body any) (answer, error) {
	var left atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { left.Store(true) }})
	req, err := c.request(ctx, session, method, path, body)
	if err != nil {
		return answer{}, errors.Join(ports.ErrUnsent, err)
	}
	resp, err := c.http.Do(req)
	if err != nil && !left.Load() {
		return answer{}, fmt.Errorf("%w: %w", ports.ErrUnsent, reason(err))
	}
	if err != nil {
		return answer{}, fmt.Errorf("no answer came from the trips server: %w", reason(err))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode >= 400:
		// The status is the answer, also where its words broke off.
		return answer{}, refusal(resp.StatusCode, raw)
	case err != nil:
		return answer{}, fmt.Errorf("the trips server's answer broke off: %w", reason(err))
	case resp.StatusCode >= 300:
		return answer{}, fmt.Errorf("the trips server answered %d: %w", resp.StatusCode, ports.ErrUnreliable)
	}
	return answer{raw, resp.Cookies()}, nil
}

// reason takes the URL, which holds the caller's words, out of an error.
func reason(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (c *Client) request(ctx context.Context, session, method, path string, body any) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, errors.New("the request cannot be written as JSON")
		}
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, reader)
	if err != nil {
		return nil, errors.New("the trips server's address is none; set TRIPS_URL to its base URL")
	}
	req.GetBody = nil // what has left is not written again
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if session != "" {
		req.AddCookie(&http.Cookie{Name: sessionCookie, Value: session})
	}
	return req, nil
}

func refusal(status int, raw []byte) error {
	var said struct {
		Code     string `json:"code"`
		Revision int    `json:"revision"`
	}
	if json.Unmarshal(raw, &said) != nil {
		said.Code = "" // a gateway's page
	}
	return &ports.AnswerError{Status: status, Code: said.Code, Revision: said.Revision}
}
