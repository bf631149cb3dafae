package world

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/login"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// accountWire is the wire between the app and the account service.
const accountWire = "account"

// restoration is the request with which an app restores its session.
var restoration = wire.Match{HTTPMethod: http.MethodPost, Path: account.SessionPath}

// HoldLogin holds every restoration of the app's session until it is released.
func (w *World) HoldLogin() *Trouble {
	return w.loginTrouble(login.Hold{Line: w.accountLine(), Match: restoration, Limits: w.config.Limits}.Arm(w.ledger))
}

// RefuseLogin turns the next restorations away.
func (w *World) RefuseLogin(times int) *Trouble {
	return w.loginTrouble(login.Refuse{Line: w.accountLine(), Match: restoration, Times: times, Limits: w.config.Limits}.Arm(w.ledger))
}

// AnotherAccount lets the account service restore another account than the
// app's until it is released, when the person signs in again.
func (w *World) AnotherAccount() *Trouble {
	another := login.Another{
		Line: w.accountLine(), Match: restoration, Limits: w.config.Limits,
		Switch: func(ctx context.Context) error { return w.restoreTo(ctx, account.Second) },
		Signed: faults.Condition{What: "the account service's word that the other account was restored", Fact: func(ctx context.Context) (map[string]any, bool, error) {
			n, err := w.restorations(ctx, account.Second)
			return map[string]any{"account": account.Second, "restorations": n}, n > 0, err
		}},
		Back: func(ctx context.Context) error {
			if err := w.restoreTo(ctx, ""); err != nil {
				return err
			}
			return w.act(ctx, "sign_in", nil)
		},
	}
	trouble, err := another.Arm(w.ctx, w.ledger)
	w.placed(err)
	return w.loginTrouble(trouble)
}

func (w *World) loginTrouble(t login.Trouble) *Trouble {
	return w.trouble(func() { w.placed(t.Release(w.ctx, nil)) }, func() { _ = t.Heal() })
}

func (w *World) accountLine() wire.Line {
	w.openWires()
	line, there := w.wires[accountWire]
	if !there {
		Inconclusive("the target file has no wire %q from the app to its account service, so the login cannot be delayed", accountWire)
	}
	return w.config.Seams.line(line)
}

// restorations asks the account service, past the wire, how often it has
// restored an account.
func (w *World) restorations(ctx context.Context, name string) (int, error) {
	service := w.known(nil)[w.Target.Wires[accountWire].To+".url"]
	said, err := w.ask(ctx, http.MethodGet, service+account.StatePath, "")
	if err != nil {
		return 0, err
	}
	var state account.State
	if err := json.Unmarshal(said, &state); err != nil {
		return 0, fmt.Errorf("reading the account service's state: %w", err)
	}
	for _, a := range state.Accounts {
		if a.Name == name {
			return a.Restorations, nil
		}
	}
	return 0, fmt.Errorf("the account service has no account %q", name)
}

// restoreTo tells the account service, past the wire, whom it restores.
func (w *World) restoreTo(ctx context.Context, name string) error {
	service := w.known(nil)[w.Target.Wires[accountWire].To+".url"]
	return w.request(ctx, http.MethodPost, service+account.RestoreToPath, fmt.Sprintf(`{"account": %q}`, name))
}

// Allow gives an account its access back, past the wire, as whoever revoked it can.
func (w *World) Allow(name string) {
	service := w.known(nil)[w.Target.Wires[accountWire].To+".url"]
	if err := w.request(w.ctx, http.MethodPost, service+"/control/allow", fmt.Sprintf(`{"account": %q}`, name)); err != nil {
		Broken("giving account %s its access back: %v", name, err)
	}
	w.Mark("access given back", map[string]any{"account": name})
}

// Act does what a person would do, by an action of the target file.
func (w *World) Act(name string, params map[string]string) {
	if err := w.act(w.ctx, name, params); err != nil {
		Inconclusive("%v", err)
	}
	data := map[string]any{"action": name}
	for key, value := range params {
		data[key] = value
	}
	w.Mark("person", data)
}

func (w *World) act(ctx context.Context, name string, params map[string]string) error {
	return w.actKnowing(ctx, name, params, nil)
}

// actKnowing acts with the templates of one process beside the world's.
func (w *World) actKnowing(ctx context.Context, name string, params map[string]string, more target.Scope) error {
	action, there := w.Target.Actions[name]
	if !there {
		return fmt.Errorf("the target file has no action %q; add it under actions", name)
	}
	if action.OnOwnPage() {
		tab := w.lastTab()
		if tab == nil {
			return fmt.Errorf("action %s: it is an act on the helper's own page, and none is open", name)
		}
		return tab.onOwnPage(ctx, name, action, params)
	}
	if action.Page != "" {
		if err := w.click(ctx, action, params); err != nil {
			return fmt.Errorf("action %s: %w", name, err)
		}
		return nil
	}
	scope := w.known(more).With(params)
	if action.HTTP == "" {
		return w.run(ctx, name, action.Command, scope)
	}
	line, err := scope.Expand(action.HTTP)
	if err != nil {
		return fmt.Errorf("action %s: %w", name, err)
	}
	body, err := scope.Expand(action.Body)
	if err != nil {
		return fmt.Errorf("action %s: %w", name, err)
	}
	method, url, _ := strings.Cut(line, " ")
	if err := w.request(ctx, method, strings.TrimSpace(url), body); err != nil {
		return fmt.Errorf("action %s: %w", name, err)
	}
	return nil
}
