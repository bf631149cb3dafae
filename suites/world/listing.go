package world

import (
	"encoding/json"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/schemas"
)

// AwaitedMark says for how long a server that declares tools.listChanged was given to
// name the same tools: {"session": NAME, "waited": DURATION}. Without it the list was
// the same at once, or the server declares no such thing.
const AwaitedMark = "tools-awaited"

// ListsTools asks for tools/list, all pages. The judges read the messages themselves.
func (c *Caller) ListsTools() []mcp.Tool { return c.tools() }

// ListsToolsAs asks for tools/list, and for another asking of it. A server that declares
// that its tools change at run time (tools.listChanged) may come to the same list late,
// as one does that looks for its tools while it already answers: it is asked again until
// both name the same, for as long as a caller waits for an answer.
func (c *Caller) ListsToolsAs(other func() []mcp.Tool) {
	same := func() bool { return sameTools(c.tools(), other()) }
	if same() || !c.changesTools() {
		return
	}
	limit := c.w.config.Limits.Answer
	c.w.within(limit, "tools/list to name the same tools", same)
	c.w.Mark(AwaitedMark, map[string]any{"session": c.name, "waited": limit.String()})
}

// changesTools says whether the server declares that its tools change at run time.
func (c *Caller) changesTools() bool {
	var offers struct {
		Tools struct {
			ListChanged bool `json:"listChanged"`
		} `json:"tools"`
	}
	return json.Unmarshal(c.offers, &offers) == nil && offers.Tools.ListChanged
}

// sameTools says whether two lists name the same tools with the same schemas, in
// whatever order.
func sameTools(a, b []mcp.Tool) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(t mcp.Tool) bool {
		return !slices.ContainsFunc(b, func(other mcp.Tool) bool {
			return other.Name == t.Name && schemas.Same(other.InputSchema, t.InputSchema) && schemas.Same(other.OutputSchema, t.OutputSchema)
		})
	})
}

// Another is a second connection at the same time: over HTTP one more session with the
// same process, on stdio one more process on the same stores, and of a page one more tab.
func (c *Caller) Another() *Caller {
	if c.path == "" || c.page != nil {
		return c.w.NewCallerBeside()
	}
	second := &Caller{
		w: c.w, name: c.name + " beside", process: c.process, wire: c.wire, line: c.line, path: c.path,
		known: c.known, file: c.file, asked: c.asked,
	}
	if err := second.shakeHands(); err != nil {
		c.w.cannotStart(err)
	}
	c.beside = append(c.beside, second.session)
	return second
}

// NewCallerBeside is NewCaller while another server runs on the same stores. One that
// ends by itself then has refused to share them, which nothing forbids.
func (w *World) NewCallerBeside() *Caller {
	c, err := w.newCaller()
	if err != nil && !w.killed && ownFault(err) {
		Inapplicable("a second server on the store of one that runs ends before it has shaken hands, so that there are no two of them to look at: %v", err)
	}
	if err != nil {
		w.cannotStart(err)
	}
	return c
}
