package world

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/disk"
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// request makes one request past the wires and wants a 2xx answer.
func (w *World) request(ctx context.Context, method, url, body string) error {
	_, err := w.ask(ctx, method, url, body)
	return err
}

// ask makes one request past the wires, wants a 2xx answer, and returns its body.
func (w *World) ask(ctx context.Context, method, url, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, w.config.Limits.Answer)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Close = true
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	const most, shown = 64 << 10, 300
	said, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return nil, fmt.Errorf("%s %s: expected 2xx, answered %s: %s", method, url, answer.Status, said[:min(len(said), shown)])
	}
	return said, err
}

// run runs an action's command.
func (w *World) run(ctx context.Context, name string, command []string, scope target.Scope) error {
	argv := make([]string, len(command))
	for i, word := range command {
		expanded, err := scope.Expand(word)
		if err != nil {
			return fmt.Errorf("action %s: %w", name, err)
		}
		argv[i] = expanded
	}
	env, err := launch.Private(w.dir, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, w.config.Limits.Answer)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env, c.Dir = env, w.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("action %s: running %q: %w: %s", name, argv, err, out)
	}
	return nil
}

// Occupy lets another writer hold the lock of a SQLite store until it is released.
func (w *World) Occupy(store string) *Trouble {
	fault := w.ledger.Arm("store-busy", "store "+store+" · write lock")
	files := w.store(store)
	if len(files) == 0 {
		Inconclusive("the store %q does not exist, so it cannot be occupied", store)
	}
	fault.Reach(history.Matched, map[string]any{"file": files[0]})
	lock, err := disk.Occupy(w.ctx, files[0])
	if err != nil {
		Inconclusive("%v", err)
	}
	give := func() { _ = lock.Release(context.WithoutCancel(w.ctx)) }
	t := w.trouble(func() {
		// That it still holds at the end is what the harness itself can observe; what
		// ran into it meanwhile is in the looks that the judges read.
		still, err := lock.Refuses(w.ctx)
		if err != nil {
			Inconclusive("%v", err)
		}
		fault.Reach(history.Observed, map[string]any{"still refused just before the release": still})
		if err := lock.Release(w.ctx); err != nil {
			Broken("%v", err)
		}
		fault.Reach(history.Healed, nil)
	}, give)
	fault.Reach(history.Held, map[string]any{"lock": "taken"})
	told, err := lock.Refuses(w.ctx)
	if err != nil {
		Inconclusive("%v", err)
	}
	fault.Prove(faults.Committed, "a second connection, which could not begin to write", map[string]any{"told": told})
	fault.Reach(history.Fired, nil)
	return t
}

// writeAccounts gives the account fixture, where the target has one, accounts of
// this world alone: {{dir}}/accounts.json, and each account's token in
// {{dir}}/account-NAME.token.
func writeAccounts(dir string, accounts account.Accounts) error {
	if err := accounts.Write(filepath.Join(dir, "accounts.json")); err != nil {
		return err
	}
	for _, a := range accounts.Accounts {
		if err := os.WriteFile(filepath.Join(dir, "account-"+a.Name+".token"), []byte(a.Token+"\n"), 0o600); err != nil {
			return fmt.Errorf("writing the token of account %s: %w", a.Name, err)
		}
	}
	return nil
}
