package world

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// Caller is one client of the helper: a helper process of its own, the wire in
// front of it, and the session over that wire; or a tab of the browser, where the
// helper is a page, and the session with its tools.
type Caller struct {
	w       *World
	name    string
	process *launch.Process // nil of a page, as are wire and line
	wire    *wire.Wire
	line    wire.Line     // the wire as faults see it
	page    *browser.Page // nil of a process
	session *mcp.Session
	path    string // of an HTTP helper
	known   target.Scope
	file    *target.File   // of a helper in another contract version, else nil
	cut     bool           // its connection was cut by a fault
	asked   string         // the revision to shake hands in
	agreed  string         // the one that was agreed on
	offers  []byte         // the server's capabilities, as JSON
	beside  []*mcp.Session // further ones with the same process
}

// NewCaller starts a helper process on the target's stores and shakes hands.
func (w *World) NewCaller() *Caller {
	c, err := w.newCaller()
	if err != nil {
		w.cannotStart(err)
	}
	return c
}

func (w *World) newCaller() (*Caller, error) { return w.newCallerAs(manner{}) }

// NewReader starts a helper whose caller may only read, as the target file says
// how, and shakes hands.
func (w *World) NewReader() *Caller {
	return w.NewCallerWith(w.Target.Profiles.WorkRecords.Access.ReadOnly, "a caller that may only read")
}

func (w *World) newCallerAs(as manner) (*Caller, error) {
	w.openWires()
	name := w.Target.Helper()
	entry := w.process(name)
	w.mu.Lock()
	entry.instance++
	instance := entry.instance
	w.mu.Unlock()
	c := &Caller{w: w, name: fmt.Sprintf("%s.%d", name, instance), path: entry.spec.MCP.HTTP, known: target.Scope{}, file: as.file, asked: cmp.Or(as.revision, w.Target.Revision)}
	if entry.spec.IsPage() {
		return c, c.openPage(entry.spec.MCP.WebMCP, as)
	}
	more := target.Scope{}
	if w.Target.Serves(name) {
		port, err := w.config.Run.Ports.Next()
		if err != nil {
			return nil, fmt.Errorf("finding a port for process %s: %w", name, err)
		}
		host := fmt.Sprintf("127.0.0.1:%d", port)
		more[name+".port"] = fmt.Sprint(port)
		more[name+".url"] = (&url.URL{Scheme: "http", Host: host}).String()
	}
	process, err := w.spawn(name, entry.spec, instance, more, as)
	if err != nil {
		return nil, err
	}
	c.process, c.known = process, more
	w.mu.Lock()
	w.callers = append(w.callers, c)
	w.mu.Unlock()
	callee := ""
	if !entry.spec.MCP.Stdio {
		callee = more[name+".url"]
	}
	if err := c.connect(callee); err != nil {
		return nil, err
	}
	return c, nil
}

// target is the target as the caller's helper is of it.
func (c *Caller) target() *target.File {
	if c.file != nil {
		return c.file
	}
	return c.w.Target
}

// connect opens the wire to the process and shakes hands over it.
func (c *Caller) connect(callee string) (err error) {
	config := wire.Config{Name: target.HelperWire, Callee: callee, Recorder: c.w.config.Recorder, Limits: c.w.config.Limits}
	if callee != "" {
		c.wire, err = wire.OpenHTTP(config)
	} else {
		c.wire, err = wire.OpenStdio(config, c.process.Stdin, c.process.Stdout)
	}
	if err != nil {
		return fmt.Errorf("opening the wire to the helper: %w", err)
	}
	c.line = c.w.config.Seams.line(c.wire)
	return c.shakeHands()
}

// shakeHands begins a session over the caller's wire.
func (c *Caller) shakeHands() error {
	options := mcp.Options{Name: c.name, Recorder: c.w.config.Recorder, Revision: c.asked, Version: c.w.config.Version}
	if c.page != nil {
		c.session = mcp.DialPage(c.page, options)
	} else if c.path != "" {
		c.session = mcp.DialHTTP(c.wire.URL()+c.path, options)
	} else {
		conn, err := net.Dial("tcp", c.wire.Addr())
		if err != nil {
			return fmt.Errorf("connecting to the helper's wire: %w", err)
		}
		c.session = mcp.DialStdio(conn, options)
	}
	ctx, cancel := context.WithTimeout(c.w.ctx, c.w.config.Limits.Ready)
	defer cancel()
	server, err := c.session.Handshake(ctx)
	if err != nil && c.page != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if err != nil {
		return c.noHandshake(err)
	}
	c.agreed, c.offers = server.Revision, server.Capabilities
	if c.page == nil {
		c.process.MarkReady("shook hands")
	}
	return nil
}

// noHandshake says why there is no session, with what the helper itself said. A
// helper whose stream has ended is about to be reaped.
func (c *Caller) noHandshake(err error) error {
	var none *mcp.NoAnswer
	if errors.As(err, &none) && none.Reason != mcp.Deadline {
		select {
		case <-c.process.Done():
		case <-time.After(c.w.config.Limits.Stop):
		}
	}
	garbage := c.session.Garbage()
	select {
	case <-c.process.Done():
		err = c.process.Failed("before it had shaken hands", "run the command by hand and see what it says; an MCP server reads JSON-RPC from stdin until it ends")
	default:
		if garbage.Count == 0 {
			return fmt.Errorf("shaking hands with the helper (%s): expected an answer to initialize within %v: %w; is the command an MCP server, and does the target file name its transport (mcp) and revision rightly?\n%s",
				c.name, c.w.config.Limits.Ready, err, c.process.Said())
		}
	}
	if garbage.Count == 0 {
		return err
	}
	return fmt.Errorf("shaking hands with the helper (%s): its stdout has bytes that are no MCP message: %q is %s; an MCP server writes nothing but messages there, and its log to stderr: %w",
		c.name, firstLine(garbage.First), garbage.Why, err)
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}

// end ends the session, the helper and the wire in order.
func (c *Caller) end() {
	c.w.forget(c)
	if err := c.close(c.w.ctx, func(ctx context.Context) error { return c.process.Stop(ctx) }); err != nil {
		Broken("ending %s: %v", c.name, err)
	}
}

// discard ends them in any way; a helper may have left by itself.
func (c *Caller) discard(ctx context.Context) error {
	return c.close(ctx, func(ctx context.Context) error { return gone(c.process.Kill(ctx)) })
}

// gone takes it for no error that a process had ended before it was killed.
func gone(err error) error {
	if errors.Is(err, launch.ErrEnded) {
		return nil
	}
	return err
}

func (c *Caller) close(ctx context.Context, end func(context.Context) error) error {
	var errs []error
	for _, s := range slices.Concat(c.beside, []*mcp.Session{c.session}) {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if c.page != nil {
		c.page.Close()
	} else {
		errs = append(errs, end(ctx))
	}
	if c.wire != nil {
		errs = append(errs, c.wire.Close())
	}
	return errors.Join(errs...)
}

func (w *World) forget(c *Caller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, known := range w.callers {
		if known == c {
			w.callers = append(w.callers[:i], w.callers[i+1:]...)
			return
		}
	}
}

// EndCallers ends every helper in order.
func (w *World) EndCallers() {
	w.mu.Lock()
	callers := append([]*Caller(nil), w.callers...)
	w.mu.Unlock()
	for _, c := range callers {
		c.end()
	}
}

// Restarted ends the helper in order and returns a caller of a new one.
func (c *Caller) Restarted() *Caller {
	c.end()
	return c.w.NewCaller()
}
