package world

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Visitor is somebody who asks the server past the editor and past every wire:
// an account of the account fixture, or nobody.
type Visitor struct {
	w      *World
	user   string // "" for nobody
	client *http.Client
}

// Visitor signs an account in to the server with a session of its own; "" is
// somebody without one.
func (w *World) Visitor(user string) *Visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		Broken("making a place for cookies: %v", err)
	}
	v := &Visitor{w: w, user: user, client: &http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}}
	if user == "" {
		return v
	}
	status, body, err := v.send("sign_in", map[string]string{"user": user, "password": w.Password(user)})
	if err != nil || status/100 != 2 {
		Inconclusive("account %s cannot sign in to the server: %d %s (%v); look at profiles.receipts.server.sign_in", user, status, body, err)
	}
	return v
}

// Ask makes a request of profiles.receipts.server and records the answer as a look
// at the moment when: its columns are user, status and body.
func (v *Visitor) Ask(name, when string, params map[string]string) (status int, body string) {
	status, body, err := v.send(name, params)
	asked := maps.Clone(params)
	if asked == nil {
		asked = map[string]string{}
	}
	asked["user"] = v.user
	look := history.Look{Surface: history.SurfaceAnswer, Probe: "server-" + name, When: when, Params: asked}
	if err != nil {
		look.Error = err.Error()
	} else {
		look.Rows = []map[string]any{{"user": v.user, "status": status, "body": body}}
	}
	v.w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
	return status, body
}

func (v *Visitor) send(name string, params map[string]string) (status int, body string, err error) {
	action, there := v.w.Target.Profiles.Receipts.Server[name]
	if !there {
		Inconclusive("the target file has no request %q in profiles.receipts.server", name)
	}
	method, address, _ := strings.Cut(action.HTTP, " ")
	given := target.Scope{}
	for key, value := range params {
		given[key] = target.EscapeURL(value)
	}
	if address, err = v.w.known(given).Expand(strings.TrimSpace(address)); err != nil {
		return 0, "", fmt.Errorf("the request %q of the target file: %w", name, err)
	}
	text, err := v.w.known(target.Scope(params)).Expand(action.Body)
	if err != nil {
		return 0, "", fmt.Errorf("the body of the request %q of the target file: %w", name, err)
	}
	ctx, cancel := context.WithTimeout(v.w.ctx, v.w.config.Limits.Answer)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(text))
	if err != nil {
		return 0, "", err
	}
	if text != "" {
		ask.Header.Set("Content-Type", "application/json")
	}
	answer, err := v.client.Do(ask)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	const most = 64 << 10
	said, err := io.ReadAll(io.LimitReader(answer.Body, most))
	return answer.StatusCode, string(said), err
}
