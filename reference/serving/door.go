package serving

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Door sees what a caller of a revision with sessions sends before its session
// does. What is nil sees nothing.
type Door struct {
	// Message returns what the session gets in the place of a message.
	Message func(raw []byte) []byte
	// Leaving is told that a session is about to end, over HTTP, where the session
	// itself waits for the calls in it.
	Leaving func(sessionID string)
}

// line lets one line of stdio through, whose newline stays.
func (d Door) line(line []byte) []byte {
	if d.Message == nil {
		return line
	}
	raw, ended := bytes.CutSuffix(line, []byte("\n"))
	raw = d.Message(raw)
	if ended {
		raw = append(raw[:len(raw):len(raw)], '\n')
	}
	return raw
}

// request lets an HTTP request through.
func (d Door) request(r *http.Request) error {
	switch {
	case r.Method == http.MethodDelete && d.Leaving != nil:
		d.Leaving(r.Header.Get("Mcp-Session-Id"))
	case r.Method == http.MethodPost && d.Message != nil:
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return fmt.Errorf("read the message: %w", err)
		}
		raw = d.Message(raw)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	}
	return nil
}
