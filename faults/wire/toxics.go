package wire

import (
	"sync"
	"sync/atomic"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Two toxics of our own beside toxiproxy's. Its reset_peer cuts only when data
// comes and its timeout only after a timer; a placed cut comes at once.
const (
	cutToxic   = "holdfast_cut"
	guardToxic = "holdfast_guard"
)

func init() {
	toxics.Register(cutToxic, new(cut))
	toxics.Register(guardToxic, new(guard))
}

// cut closes the receiving end at once and drains the sending one, so that
// whoever writes into the link never blocks on it.
type cut struct{}

// Pipe implements toxics.Toxic.
func (*cut) Pipe(s *toxics.ToxicStub) {
	s.Close()
	discard(s.Input)
}

// guard passes everything. It stands behind every toxic that could block on a
// receiver which has left: toxiproxy then leaves the link's goroutines behind,
// and a toxic that is added or taken away at that moment would wait for ever.
type guard struct {
	// Wire finds the channel that is closed with the wire. toxiproxy makes toxics
	// from JSON and starts them at once, so that only a number can be handed in.
	Wire int64 `json:"wire"`
}

var (
	wires   atomic.Int64
	closing sync.Map // number of a wire → its chan struct{}
)

// ended is for a guard whose wire has already left the table.
var ended = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func closingOf(number int64) <-chan struct{} {
	if c, ok := closing.Load(number); ok {
		return c.(chan struct{})
	}
	return ended
}

// queue is what a guard has in hand; it outlives an interruption.
type queue struct {
	chunks []*stream.StreamChunk
	bytes  int
	ended  bool
}

// queueLimit bounds what a guard takes before its receiver does, in bytes;
// then the sender feels that the receiver is slow.
const queueLimit = 1 << 20

// NewState implements toxics.StatefulToxic.
func (*guard) NewState() any { return new(queue) }

// Pipe implements toxics.Toxic.
func (g *guard) Pipe(s *toxics.ToxicStub) {
	q, done := s.State.(*queue), closingOf(g.Wire)
	for {
		if q.ended && len(q.chunks) == 0 {
			s.Close()
			return
		}
		in, out, end := s.Input, s.Output, done
		var first *stream.StreamChunk
		if len(q.chunks) > 0 {
			first = q.chunks[0]
		} else {
			out, end = nil, nil // nothing to lose: the end of the input ends the guard
		}
		if q.ended || q.bytes >= queueLimit {
			in = nil
		}
		select {
		case c := <-in:
			q.take(c)
		case out <- first:
			q.chunks, q.bytes = q.chunks[1:], q.bytes-len(first.Data)
		case <-s.Interrupt:
			return
		case <-end:
			s.Close()
			discard(s.Input)
			return
		}
	}
}

// take adds a chunk; nil is the end of the input.
func (q *queue) take(c *stream.StreamChunk) {
	if c == nil {
		q.ended = true
		return
	}
	q.chunks, q.bytes = append(q.chunks, c), q.bytes+len(c.Data)
}

func discard(in <-chan *stream.StreamChunk) {
	for range in {
	}
}
