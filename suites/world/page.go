package world

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// PageMark tells of a session with the tools of a page: its "session", and the page's
// "address". No wire counts its calls.
const PageMark = "page opened"

// onPage says whether the helper is a page.
func (w *World) onPage() bool { return w.Target.Processes[w.Target.Helper()].IsPage() }

// openPage opens the caller's own tab in the world's window, signs the first account
// in where the page asks for it, and shakes hands with the page's tools.
func (c *Caller) openPage(address string, as manner) error {
	w := c.w
	if as.file != nil || as.wrapped != nil || as.env != nil {
		Inconclusive("the helper is a page in the browser, so there is no process of it to be started in another manner")
	}
	address, err := w.known(nil).Expand(address)
	if err != nil {
		return fmt.Errorf("the address of the page %s: %w", c.name, err)
	}
	if c.page, err = w.chromium().Keep(w.ctx, address); err != nil {
		return err
	}
	w.Mark(PageMark, map[string]any{"session": c.name, "address": address})
	w.mu.Lock()
	w.callers = append(w.callers, c)
	w.mu.Unlock()
	if err := c.signIn(account.First); err != nil {
		return fmt.Errorf("%s: signing in: %w", c.name, err)
	}
	if err := c.offered(w.ctx); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return c.shakeHands()
}

// offered waits until the page has announced the tools that the target file names in
// this profile. A page registers them one after another, so that one that is there
// says nothing of the next. What stays away is missed when it is called.
func (c *Caller) offered(ctx context.Context) error {
	var names []string
	if c.w.config.Profile == target.ProfileReceipts {
		for _, tool := range c.w.Target.Profiles.Receipts.Tools {
			names = append(names, tool.Name)
		}
	}
	slices.Sort(names)
	_, err := c.page.Offers(ctx, slices.Compact(names))
	return err
}

// theLine is the wire between the caller and its helper.
func (c *Caller) theLine() wire.Line {
	if c.line == nil {
		Inconclusive("the helper is a page in the browser: there is no wire between %s and it on which anything could be lost, held or counted", c.name)
	}
	return c.line
}

// theProcess is the helper's.
func (c *Caller) theProcess() *launch.Process {
	if c.process == nil {
		Inconclusive("the helper is a page in the browser: %s has no process of its own that could be killed or looked into", c.name)
	}
	return c.process
}

// theTab is the page that the caller has open.
func (c *Caller) theTab() *browser.Page {
	if c.page == nil {
		Inconclusive("the helper is no page, so %s has none open", c.name)
	}
	return c.page
}

// Visible is what a person sees on the caller's page at selectors of the target file,
// by their names; without names at all of them. What is not visible is left out, and
// nothing is loaded or clicked.
func (c *Caller) Visible(names ...string) (map[string]string, error) {
	page := c.theTab()
	all := c.w.Target.Selectors
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(all))
	}
	asked := map[string]string{}
	for _, name := range names {
		selector, there := all[name]
		if !there {
			Inconclusive("the target file has no selector %q; add it under selectors", name)
		}
		asked[name] = selector
	}
	return page.Visible(c.w.ctx, asked)
}

// HasPage says whether the caller's helper is a page, of which a picture can be kept.
func (c *Caller) HasPage() bool { return c.page != nil }

// Shoot keeps a picture of the caller's page as World.Shoot does.
func (c *Caller) Shoot(name string) { c.w.keepPicture(c.theTab(), name) }

// signIn signs an account in by the target file's act on the page (sign_in_editor),
// where there is one and the page asks for it: another tab of the window may have.
func (c *Caller) signIn(user string) error {
	const name = "sign_in_editor"
	action, there := c.w.Target.Actions[name]
	if !there || !action.OnOwnPage() {
		return nil
	}
	asked, err := c.asksToSignIn(action)
	if err != nil || !asked {
		return err
	}
	if err := c.onOwnPage(c.w.ctx, name, action, map[string]string{"user": user, "password": c.w.Password(user)}); err != nil {
		return err
	}
	c.w.Mark("person", map[string]any{"action": name, "editor": c.name, "user": user})
	return nil
}

// asksToSignIn waits until the page shows what is filled in and clicked to sign in,
// or what it shows once that is done (until). Where nothing says the latter, a page
// that has come to rest without a form does not ask.
func (c *Caller) asksToSignIn(action target.Action) (asks bool, err error) {
	form := map[string]string{}
	for selector := range action.Fill {
		form[selector] = selector
	}
	if action.Click != "" {
		form[action.Click] = action.Click
	}
	looks := 0
	done := func(ctx context.Context) (bool, error) {
		looks++
		seen, err := c.page.Visible(ctx, form)
		if asks = len(seen) == len(form); err != nil || asks {
			return asks, err
		}
		if action.Until == "" {
			const still = 3
			return looks >= still, nil
		}
		in, err := c.page.Visible(ctx, map[string]string{"in": action.Until})
		return len(in) > 0, err
	}
	err = wait.For(c.w.ctx, "the form to sign in, or what the page shows when that is done", c.w.config.Limits.Ready, done)
	return asks, err
}

// actOnPage does what a person would do on the caller's own page.
func (c *Caller) actOnPage(ctx context.Context, action target.Action, params target.Scope) error {
	page := c.theTab()
	if action.Reload {
		if err := page.Reload(ctx); err != nil {
			return err
		}
		if err := page.Ready(ctx); err != nil {
			return err
		}
		if err := c.offered(ctx); err != nil {
			return err
		}
	}
	for _, field := range slices.Sorted(maps.Keys(action.Fill)) {
		selector, err := c.w.expanded(field, params, target.EscapeCSS)
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
		text, err := c.w.known(params).Expand(action.Fill[field])
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
		if err := page.Fill(ctx, selector, text); err != nil {
			return err
		}
	}
	if action.Click != "" {
		selector, err := c.w.expanded(action.Click, params, target.EscapeCSS)
		if err != nil {
			return fmt.Errorf("click: %w", err)
		}
		if err := page.Click(ctx, selector); err != nil {
			return err
		}
	}
	if action.Until == "" {
		return nil
	}
	selector, err := c.w.expanded(action.Until, params, target.EscapeCSS)
	if err != nil {
		return fmt.Errorf("until: %w", err)
	}
	return page.Await(ctx, selector)
}

// onOwnPage is actOnPage with the action's name in what it says.
func (c *Caller) onOwnPage(ctx context.Context, name string, action target.Action, params map[string]string) error {
	if err := c.actOnPage(ctx, action, target.Scope(params)); err != nil {
		return fmt.Errorf("action %s in the tab of %s: %w", name, c.name, err)
	}
	return nil
}

// lastTab is the caller whose page was opened last, nil where none is open.
func (w *World) lastTab() *Caller {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range slices.Backward(w.callers) {
		if c.page != nil {
			return c
		}
	}
	return nil
}
