package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Client speaks to the account service.
type Client struct {
	base     string
	sessions *http.Client
	accesses *http.Client
}

// restoreLimit bounds one attempt to restore; the next attempt follows. It is
// long, because a slow account service is slow for everybody.
const restoreLimit = 30 * time.Second

// accessLimit bounds one access check, which a write waits for.
const accessLimit = 5 * time.Second

// NewClient makes a client of the account service at a base URL.
func NewClient(base string) *Client {
	return &Client{
		base: base,
		// A fresh connection an attempt, so that net/http never sends one twice.
		sessions: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: restoreLimit},
		accesses: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2}, Timeout: accessLimit},
	}
}

// Close lets go of idle connections.
func (c *Client) Close() error {
	c.accesses.CloseIdleConnections()
	return nil
}

// Restore asks for the session behind a token. An answer that names a revoked
// account is a State in Denied; every other failure is an error and leaves the
// account unresolved.
func (c *Client) Restore(ctx context.Context, token string) (State, error) {
	body, err := json.Marshal(map[string]string{"token": token})
	if err != nil {
		return State{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/session", bytes.NewReader(body))
	if err != nil {
		return State{}, fmt.Errorf("restoring the session: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	status, answer, err := do[struct {
		Account string `json:"account"`
		Key     []byte `json:"key"`
		Reason  string `json:"reason"`
	}](c.sessions, request)
	switch {
	case err != nil:
		return State{}, fmt.Errorf("restoring the session: %w", err)
	case status == http.StatusOK && answer.Account != "" && len(answer.Key) == keyBytes:
		return State{Phase: Restored, Account: answer.Account, Key: answer.Key}, nil
	case status == http.StatusForbidden && answer.Account != "":
		return State{Phase: Denied, Account: answer.Account, Reason: answer.Reason}, nil
	case status == http.StatusOK:
		return State{}, errors.New("restoring the session: the account service answered 200 without an account and a library key of 32 bytes")
	}
	return State{}, fmt.Errorf("restoring the session: the account service answered %d", status)
}

const keyBytes = 32

// Check asks whether an account has access now. Errors: ErrAccessDenied,
// ErrAccessUnknown.
func (c *Client) Check(ctx context.Context, account string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/access?account="+url.QueryEscape(account), nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAccessUnknown, err)
	}
	status, answer, err := do[struct {
		Allowed *bool `json:"allowed"`
	}](c.accesses, request)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrAccessUnknown, err)
	case status == http.StatusOK && answer.Allowed != nil && *answer.Allowed:
		return nil
	case status == http.StatusOK && answer.Allowed != nil:
		return ErrAccessDenied
	}
	return fmt.Errorf("%w: it answered %d", ErrAccessUnknown, status)
}

func do[T any](client *http.Client, request *http.Request) (int, T, error) {
	var answer T
	response, err := client.Do(request)
	if err != nil {
		return 0, answer, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return 0, answer, err
	}
	// The status decides; a body that is no JSON has none of the fields.
	_ = json.Unmarshal(raw, &answer)
	return response.StatusCode, answer, nil
}
