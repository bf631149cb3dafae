// Package wire is a controlled link between two processes:
// caller ↔ toxiproxy ↔ message proxy ↔ callee. The message proxy understands
// HTTP requests, event streams and newline-framed JSON-RPC; it counts every
// message, can hold, lose, replace and duplicate one, and knows which answer
// belongs to which request. toxiproxy carries what happens to bytes.
package wire

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// ErrSevered says that a cut stdio wire stays cut: its caller comes back with a
// new process on a new wire.
var ErrSevered = errors.New("a cut stdio wire cannot be healed; start a new process on a new wire")

// Config is what a wire is made of.
type Config struct {
	// Name is the wire's name in the target file; it stands in every event.
	Name string
	// Callee is the base URL behind an HTTP wire; unused on stdio.
	Callee string
	// Recorder takes one event a message and action; it must be set.
	Recorder *history.Recorder
	// Limits bound how long a cut may take to be seen; zero takes the defaults.
	Limits wait.Limits
	// Fresh ends the caller's connection behind every answer of an HTTP wire. A browser
	// sends a request again by itself, of any method, when a connection that it used
	// before breaks under it, and no page can keep it from that.
	Fresh bool
	// OnHold, when set, is told of every message that begins to be held, before
	// anything can be decided of it (for a person who freezes the world there).
	OnHold func(Message)
}

// Wire is one open wire. All methods are safe for concurrent use and after Close.
type Wire struct {
	config Config
	front  *front
	// shut closes what is particular to the transport, after front and ctx.
	shut func()
	// stdio wires stay cut once they are cut.
	stdio  bool
	callee *callee // of an HTTP wire
	// arrivals are those of an HTTP wire, nil on stdio.
	arrivals *arrivals

	ctx    context.Context // ends with the wire
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	side     Side // of the cut, 0 for none
	epoch    int  // how many cuts were healed
	keep     bool // the callee is kept open when its caller leaves by itself
	exchange int64
	seen     []*sighting
	hooks    []*hook
	stations []*station // those that are undecided, and some that are not
	requests map[string]*outstanding
	callers  map[int64]caller
}

// sighting is a message with what became of it.
type sighting struct {
	msg    *Message
	passed int // how often it was let through
}

// outstanding is a request that an answer can be matched with.
type outstanding struct {
	request  *Message
	copies   int // how often it was sent
	answered int
}

// caller is one live end on the caller's side.
type caller struct {
	gone  <-chan struct{} // closed when the caller's end is gone
	sever func()          // makes the callee see the disconnect
}

func newWire(c Config) (*Wire, error) {
	if c.Name == "" || c.Recorder == nil {
		return nil, errors.New("opening a wire: expected a name and a recorder; set Config.Name and Config.Recorder")
	}
	if c.Limits == (wait.Limits{}) {
		c.Limits = wait.Default()
	}
	w := &Wire{config: c, requests: map[string]*outstanding{}, callers: map[int64]caller{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w, nil
}

// Name is the wire's name.
func (w *Wire) Name() string { return w.config.Name }

// Addr is where the caller connects: host:port on 127.0.0.1.
func (w *Wire) Addr() string { return w.front.addr() }

// URL is the base URL for the caller of an HTTP wire.
func (w *Wire) URL() string { return "http://" + w.Addr() }

// KeepCallee says what happens when the caller leaves by itself, with no cut. On:
// the callee's side is kept open and drained, as after a lost answer; that is the
// default over HTTP, where it does not hold for GET streams. Off: the callee sees
// the disconnect, the default on stdio.
func (w *Wire) KeepCallee(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep = on
}

// Delay sets toxiproxy's latency on both directions, in whole milliseconds; zero
// takes it away.
func (w *Wire) Delay(toCallee, toCaller time.Duration) error {
	return w.front.delay(toCallee, toCaller)
}

// Away makes the callee one that nobody listens for: connections to the wire's
// address are refused by the operating system, so that no request can leave.
// Those that are open end. With false the address is taken again.
func (w *Wire) Away(on bool) error { return w.front.away(on) }

// Close ends the wire: undecided messages are dropped, both sides are closed,
// and nothing of it is left when Close returns but the last turns of toxiproxy's
// own goroutines. It may be called twice.
func (w *Wire) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		w.work.Wait()
		return nil
	}
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	w.front.close()
	w.shut()
	w.work.Wait()
	return nil
}

// age is the epoch of a connection that is accepted now.
func (w *Wire) age() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.epoch
}

// enter counts a piece of work that Close waits for; false when it is too late.
func (w *Wire) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.work.Add(1)
	return true
}

// attach notes a caller's end that came; the number takes it off again, and is
// that of the exchange over HTTP.
func (w *Wire) attach(c caller) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exchange++
	w.callers[w.exchange] = c
	return w.exchange
}

func (w *Wire) detach(number int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.callers, number)
}

// number is the next exchange.
func (w *Wire) number() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exchange++
	return w.exchange
}

// remember makes a request findable by the ids of its JSON-RPC parts.
func (w *Wire) remember(session string, request *Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range request.calls {
		if c.method != "" && c.id != "" {
			w.requests[session+"\x00"+c.id] = &outstanding{request: request, copies: 1}
		}
	}
}

// asked finds the request that a message of the callee answers. surplus says
// that it is a second answer which only the wire's own duplicate has caused.
func (w *Wire) asked(session string, answer *Message) (request *Message, surplus bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range answer.calls {
		if o := w.requests[session+"\x00"+c.id]; c.answers && o != nil {
			o.answered++
			return o.request, o.copies > 1 && o.answered > 1
		}
	}
	return nil, false
}

// duplicated notes that a request was sent twice.
func (w *Wire) duplicated(request *Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.requests {
		if o.request == request {
			o.copies = 2
		}
	}
}

// record puts a message and what was done with it into the history.
func (w *Wire) record(m *Message, action string) {
	method := m.Method
	if method == "" {
		method = m.HTTPMethod
	}
	w.config.Recorder.Record(history.Event{Kind: history.KindRequest, Request: &history.Request{
		Wire: w.config.Name, ID: m.Exchange, IsAnswer: m.Answer,
		Method: method, Path: m.Path, Tool: m.Tool, RPCID: m.RPCID,
		Status: m.Status, Bytes: len(m.Body), Action: action,
	}})
}

// String names the wire in errors.
func (w *Wire) String() string { return fmt.Sprintf("wire %s", w.config.Name) }
