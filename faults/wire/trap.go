package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync"
)

// station is one held message, waiting for its decision.
type station struct {
	msg      *Message
	shown    chan struct{} // closed when the message has come to be held here
	decided  chan struct{}
	over     chan struct{}
	decision decision
	show     func()
	once     sync.Once
}

func newStation(m *Message) *station {
	s := &station{msg: m, shown: make(chan struct{}), decided: make(chan struct{}), over: make(chan struct{})}
	s.show = sync.OnceFunc(func() { close(s.shown) })
	return s
}

// settle takes the first decision.
func (s *station) settle(d decision) {
	s.once.Do(func() {
		s.decision = d
		close(s.decided)
	})
}

func (s *station) undecided() bool {
	select {
	case <-s.decided:
		return false
	default:
		return true
	}
}

// The methods of Held.

func (s *station) Message() Message         { return *s.msg }
func (s *station) Release()                 { s.settle(decision{act: pass, copies: 1}) }
func (s *station) Drop()                    { s.settle(decision{act: drop}) }
func (s *station) Break()                   { s.settle(decision{act: drop, ends: true}) }
func (s *station) Duplicate()               { s.settle(decision{act: pass, copies: 2}) }
func (s *station) Settled() <-chan struct{} { return s.over }
func (s *station) Replace(status int, body []byte) {
	s.settle(decision{act: replace, status: status, body: append([]byte(nil), body...)})
}

// trap holds one message.
type trap struct {
	w     *Wire
	hook  *hook
	since int // messages seen when it was armed
	// caught and off are closed when a message was claimed, or the trap disarmed.
	caught, off chan struct{}
	station     *station // set before caught is closed
	disarm      func()
}

// Trap holds one message: the match's occurrence, counted from now.
func (w *Wire) Trap(m Match) Trap {
	t := &trap{w: w, caught: make(chan struct{}), off: make(chan struct{})}
	t.disarm = sync.OnceFunc(func() { close(t.off) })
	count := 0
	t.hook = &hook{match: m, claim: func(msg *Message) (*station, *decision) {
		count++
		if count != m.occurrence() {
			return nil, nil
		}
		t.hook.live = false
		t.station = newStation(msg)
		close(t.caught)
		return t.station, nil
	}}
	t.since = w.hang(t.hook)
	return t
}

// Held implements Trap. A message that is held already is given even if ctx is over.
func (t *trap) Held(ctx context.Context) (Held, error) {
	if err := t.await(ctx, t.caught, t.off, "the trap was disarmed"); err != nil {
		return nil, err
	}
	if err := t.await(ctx, t.station.shown, t.station.decided, "the message was decided of before this trap could hold it"); err != nil {
		return nil, err
	}
	return t.station, nil
}

// await waits for fact unless it is over, and prefers the fact.
func (t *trap) await(ctx context.Context, fact, over <-chan struct{}, why string) error {
	var missed error
	select {
	case <-fact:
		return nil
	case <-over:
		missed = errors.New(why)
	case <-t.w.ctx.Done():
		missed = errors.New("the wire was closed")
	case <-ctx.Done():
		missed = ctx.Err()
	}
	select {
	case <-fact:
		return nil
	default:
		return fmt.Errorf("wire %s: waited for %s to be held: %w; %s", t.w.Name(), t.hook.match, missed, t.w.cameSince(t.since))
	}
}

// Disarm implements Trap.
func (t *trap) Disarm() {
	t.w.unhang(t.hook)
	t.disarm()
	select {
	case <-t.caught:
		t.station.Release()
	default:
	}
}

// hang arms a hook and returns how many messages came before it.
func (w *Wire) hang(h *hook) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.live = true
	// Spent hooks leave here, so that a long run does not carry them along.
	kept := w.hooks[:0:0]
	for _, old := range w.hooks {
		if old.live {
			kept = append(kept, old)
		}
	}
	w.hooks = append(kept, h)
	return len(w.seen)
}

func (w *Wire) unhang(h *hook) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.live = false
}

// cameSince says in words which messages came since a number of them.
func (w *Wire) cameSince(since int) string {
	w.mu.Lock()
	counts := map[string]int{}
	for _, s := range w.seen[since:] {
		m := Match{Method: s.msg.Method, Tool: s.msg.Tool, HTTPMethod: s.msg.HTTPMethod, Path: s.msg.Path, Answer: s.msg.Answer}
		counts[m.Call()+" ("+m.Phase()+")"]++
	}
	w.mu.Unlock()
	if len(counts) == 0 {
		return "since it was armed no message came at all: was the call made, and through this wire?"
	}
	words := make([]string, 0, len(counts))
	for call, n := range counts {
		words = append(words, fmt.Sprintf("%d× %s", n, call))
	}
	sort.Strings(words)
	return "since it was armed came " + strings.Join(words, ", ")
}

// gate holds everything that fits.
type gate struct {
	w    *Wire
	hook *hook
	held []*station // under the wire's lock
}

// Gate holds every matching message from now until it is opened.
func (w *Wire) Gate(m Match) Gate {
	g := &gate{w: w}
	g.hook = &hook{match: m, claim: func(msg *Message) (*station, *decision) {
		s := newStation(msg)
		g.held = append(g.held, s)
		return s, nil
	}}
	w.hang(g.hook)
	return g
}

// Waiting implements Gate.
func (g *gate) Waiting() int {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	n := 0
	for _, s := range g.held {
		if s.undecided() {
			n++
		}
	}
	return n
}

// Open implements Gate.
func (g *gate) Open() {
	g.w.unhang(g.hook)
	g.w.mu.Lock()
	held := append([]*station(nil), g.held...)
	g.w.mu.Unlock()
	for _, s := range held {
		s.Release()
	}
}

// refusing answers the next requests itself.
type refusing struct {
	w    *Wire
	hook *hook
	used int // under the wire's lock
}

// Refuse answers the next n matching requests itself; see Line.
func (w *Wire) Refuse(n int, m Match) Refusal {
	return w.instead(n, m, decision{act: replace, status: http.StatusServiceUnavailable})
}

// Instead answers the next n matching requests itself; see Line.
func (w *Wire) Instead(n int, m Match, status int, body []byte) Refusal {
	return w.instead(n, m, decision{act: replace, status: status, body: append([]byte{}, body...)})
}

func (w *Wire) instead(n int, m Match, d decision) Refusal {
	m.Answer = false
	r := &refusing{w: w}
	r.hook = &hook{match: m, claim: func(*Message) (*station, *decision) {
		if r.used >= n {
			return nil, nil
		}
		r.used++
		r.hook.live = r.used < n
		return nil, &d
	}}
	w.hang(r.hook)
	return r
}

// Used implements Refusal.
func (r *refusing) Used() int {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.used
}

// Stop implements Refusal.
func (r *refusing) Stop() { r.w.unhang(r.hook) }
