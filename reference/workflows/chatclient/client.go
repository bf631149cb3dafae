// Package chatclient speaks to the chat service. It never sends a request twice,
// and it says exactly whether one may have left.
package chatclient

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
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Client is the outside service behind its HTTP interface.
type Client struct {
	base      string
	tokenFile string
	http      *http.Client
}

// New makes a client. tokenFile holds the token to show, "" for none; it is read
// for every request. An answer is waited for as long as timeout.
func New(base, tokenFile string, timeout time.Duration) *Client {
	return &Client{strings.TrimRight(base, "/"), tokenFile, &http.Client{
		Timeout: timeout,
		// A connection is used once: on a reused one that breaks, a request could be
		// sent again by itself.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// body is what a change carries.
type body struct {
	Content string   `json:"content,omitempty"`
	Topic   string   `json:"topic,omitempty"`
	Parts   []string `json:"parts,omitempty"`
	Key     string   `json:"key,omitempty"`
}

func place(channel string, more ...string) string {
	path := "/channels/" + url.PathEscape(channel)
	for _, m := range more {
		path += "/" + url.PathEscape(m)
	}
	return path
}

// ReadMessages reads the newest messages of a channel, at most limit of them.
func (c *Client) ReadMessages(ctx context.Context, channel string, limit int) (json.RawMessage, error) {
	raw, err := c.do(ctx, http.MethodGet, place(channel, "messages"), nil)
	if err != nil {
		return nil, err
	}
	var found struct {
		Messages []json.RawMessage `json:"messages"`
		Topic    string            `json:"topic"`
	}
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, errors.New("the chat service's answer has not the expected form")
	}
	if more := len(found.Messages) - limit; more > 0 {
		found.Messages = found.Messages[more:]
	}
	return json.Marshal(found)
}

// Publish posts a message.
func (c *Client) Publish(ctx context.Context, channel, content, key string) (json.RawMessage, error) {
	return c.do(ctx, http.MethodPost, place(channel, "messages"), body{Content: content, Key: key})
}

// Update replaces a message's content.
func (c *Client) Update(ctx context.Context, channel, message, content, key string) (json.RawMessage, error) {
	return c.do(ctx, http.MethodPatch, place(channel, "messages", message), body{Content: content, Key: key})
}

// SetTopic sets a channel's topic.
func (c *Client) SetTopic(ctx context.Context, channel, topic, key string) (json.RawMessage, error) {
	return c.do(ctx, http.MethodPut, place(channel, "topic"), body{Topic: topic, Key: key})
}

// Nudge posts a message that harms nobody when it comes twice.
func (c *Client) Nudge(ctx context.Context, channel, content, key string) (json.RawMessage, error) {
	return c.do(ctx, http.MethodPost, place(channel, "nudges"), body{Content: content, Key: key})
}

// Compose posts parts in order. A receipt that says nothing of the delivery is
// one that could not be verified.
func (c *Client) Compose(ctx context.Context, channel string, parts []string, key string) (json.RawMessage, ports.Delivery, error) {
	raw, err := c.do(ctx, http.MethodPost, place(channel, "posts"), body{Parts: parts, Key: key})
	if err != nil {
		return nil, "", err
	}
	var receipt struct {
		Delivery ports.Delivery `json:"delivery"`
	}
	if json.Unmarshal(raw, &receipt) != nil || receipt.Delivery != ports.Complete && receipt.Delivery != ports.Partial {
		receipt.Delivery = ports.Unverified
	}
	return raw, receipt.Delivery, nil
}

// do sends one request. Its errors hold nothing of what was sent.
func (c *Client) do(ctx context.Context, method, path string, content any) (json.RawMessage, error) {
	var left atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { left.Store(true) }})
	req, err := c.request(ctx, method, path, content)
	if err != nil {
		return nil, errors.Join(ports.ErrUnsent, err)
	}
	resp, err := c.http.Do(req)
	if err != nil && !left.Load() {
		return nil, fmt.Errorf("%w: %w", ports.ErrUnsent, reason(err))
	}
	if err != nil {
		return nil, fmt.Errorf("no answer came from the chat service: %w", reason(err))
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if resp.StatusCode >= 400 {
		return nil, refusal(resp, raw)
	}
	if err != nil {
		return nil, fmt.Errorf("the chat service's answer broke off: %w", reason(err))
	}
	if resp.StatusCode >= 300 || !json.Valid(raw) {
		return nil, fmt.Errorf("the chat service answered %d with something that is no receipt", resp.StatusCode)
	}
	return raw, nil
}

// reason takes the URL, which holds the caller's words, out of an error.
func reason(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (c *Client) request(ctx context.Context, method, path string, content any) (*http.Request, error) {
	var reader io.Reader
	if content != nil {
		raw, err := json.Marshal(content)
		if err != nil {
			return nil, errors.New("the request cannot be written as JSON")
		}
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, reader)
	if err != nil {
		return nil, errors.New("the chat service's address is none; set CHAT_URL to its base URL")
	}
	req.GetBody = nil // what has left is not written again
	req.Header.Set("Content-Type", "application/json")
	if c.tokenFile != "" {
		token, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("read the token of the chat service: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return req, nil
}

// refusal says whether an answer of 400 or more is a definite no. One below 500
// is; of the others only one that states it: a gateway's 502 or 504 knows nothing.
func refusal(resp *http.Response, raw []byte) error {
	var said struct {
		Applied *bool `json:"applied"`
	}
	stated := json.Unmarshal(raw, &said) == nil && said.Applied != nil && !*said.Applied
	if resp.StatusCode >= 500 && !stated {
		return fmt.Errorf("the chat service answered %d and does not say what came of the request", resp.StatusCode)
	}
	after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	return &ports.RefusedError{Status: resp.StatusCode, RetryAfter: time.Duration(after) * time.Second}
}
