package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/fixtures/probe"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// inBrowser ends the name of a probe whose look was taken in the browser.
const inBrowser = "-in-the-browser"

// ScreenshotMark tells in the history of a picture that was taken: its "file" in
// the spec's folder.
const ScreenshotMark = "screenshot"

// chromium is the world's window of the browser, opened when it is first needed.
func (w *World) chromium() *browser.Window {
	if w.window != nil {
		return w.window
	}
	lender := w.config.Browser
	if lender == nil {
		w.lender = browser.NewLender(w.config.Run.Folder(), w.config.Limits)
		lender = w.lender
	}
	window, err := lender.Window(w.ctx, w.config.Seams.Press)
	if err != nil {
		Broken("%v", err)
	}
	w.window = window
	return w.window
}

// closeWindow closes the window and records what its pages asked other machines
// for, where they did.
func (w *World) closeWindow(ctx context.Context) error {
	if w.window != nil {
		if asked := w.window.Elsewhere(); len(asked) > 0 {
			w.Mark("page asked elsewhere", map[string]any{"addresses": asked})
		}
		w.window.Close()
		w.window = nil
	}
	if w.lender == nil {
		return nil
	}
	return w.lender.Close(ctx)
}

// LookInBrowser looks through a probe of a page as Look does, but opens the page
// in a browser and reads only what is visible there.
func (w *World) LookInBrowser(name, when string, params map[string]string) history.Look {
	look := history.Look{Surface: history.SurfacePerson, Probe: name + inBrowser, When: when, Params: maps.Clone(params)}
	if w.config.Seams.Skip != nil && w.config.Seams.Skip(name, when) {
		return look
	}
	rows, err := w.rowsInBrowser(name, params)
	look.Rows = rows
	if err != nil {
		look.Error = err.Error()
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindLook, Look: &look})
	return look
}

// PeekInBrowser looks without recording, for waiting; a failed look shows nothing.
func (w *World) PeekInBrowser(name string, params map[string]string) []map[string]any {
	rows, err := w.rowsInBrowser(name, params)
	if err != nil {
		return nil
	}
	return rows
}

func (w *World) rowsInBrowser(name string, params map[string]string) ([]map[string]any, error) {
	spec, there := w.probes()[name]
	if !there {
		Inconclusive("the target file has no probe %q in profile %s", name, w.config.Profile)
	}
	view, err := probe.ViewOf(spec, w.known(nil), params)
	if err != nil {
		return nil, err
	}
	return w.chromium().Rows(w.ctx, view.URL, view.Card, view.Fields)
}

// Shoot keeps a picture of the page as the browser shows it now, as NAME.png
// beside the history, or tells in the history why there is none.
func (w *World) Shoot(name string) { w.keepPicture(w.chromium(), name) }

func (w *World) keepPicture(page openPage, name string) {
	file := name + ".png"
	picture, leftOut, err := pictured(w.ctx, page, w.config.Redact)
	if err == nil && leftOut == "" {
		err = os.WriteFile(filepath.Join(w.config.Folder, file), picture, 0o644)
	}
	switch {
	case err != nil:
		Broken("keeping a screenshot: %v", err)
	case leftOut != "":
		w.Mark("screenshot left out", map[string]any{"file": file, "reason": leftOut})
	default:
		w.Mark(ScreenshotMark, map[string]any{"file": file})
	}
}

// openPage is the page that a browser shows.
type openPage interface {
	Text(context.Context) (string, error)
	Screenshot(context.Context) ([]byte, error)
}

// pictured is a picture of a page, or why it is left out. One of a page on which a
// secret can be read is, because nothing can be taken out of a picture; so is one of
// a page that does not answer, which is the target's and told by the looks at it.
func pictured(ctx context.Context, page openPage, redact func([]byte) []byte) (picture []byte, leftOut string, err error) {
	text, err := page.Text(ctx)
	if err == nil && !tells(text, redact) {
		picture, err = page.Screenshot(ctx)
		if err == nil { // what has come since the first look may be in the picture
			text, err = page.Text(ctx)
		}
	}
	if err == nil && tells(text, redact) {
		return nil, "the page shows a secret", nil
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, err.Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	return picture, "", nil
}

// tells says whether a secret stands in a text.
func tells(text string, redact func([]byte) []byte) bool {
	return redact != nil && string(redact([]byte(text))) != text
}

// click is an action that a person takes on a page. That the click has reached its
// element is proven by the page itself, so that what comes of it is the target's.
func (w *World) click(ctx context.Context, action target.Action, params map[string]string) error {
	address, err := w.expanded(action.Page, params, target.EscapeURL)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	selector, err := w.expanded(action.Click, params, target.EscapeCSS)
	if err != nil {
		return fmt.Errorf("click: %w", err)
	}
	b := w.chromium()
	there, err := b.Open(ctx, address)
	if err == nil && !there {
		err = fmt.Errorf("the page %s is not there", address)
	}
	if err != nil {
		return err
	}
	for _, field := range slices.Sorted(maps.Keys(action.Fill)) {
		at, err := w.expanded(field, params, target.EscapeCSS)
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
		text, err := w.known(params).Expand(action.Fill[field])
		if err != nil {
			return fmt.Errorf("fill: %w", err)
		}
		if err := b.Fill(ctx, at, text); err != nil {
			return err
		}
	}
	return b.Click(ctx, selector)
}

// expanded replaces the templates of a text; what the act gives is escaped.
func (w *World) expanded(text string, params map[string]string, escape func(string) string) (string, error) {
	given := target.Scope{}
	for name, value := range params {
		given[name] = escape(value)
	}
	return w.known(given).Expand(text)
}
