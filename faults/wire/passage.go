package wire

import (
	"slices"
	"sync"
)

// What the proxy did with a message: the words of history.Request.Action. A
// message is recorded as forwarded, dropped or replaced; a held one as held and
// then as released, dropped or replaced. So the messages that came are those
// with forwarded, held, or (never held) dropped and replaced; those that reached
// the other side are forwarded and released.
const (
	actionForwarded = "forwarded"
	actionHeld      = "held"
	actionReleased  = "released"
	actionDropped   = "dropped"
	actionReplaced  = "replaced"
)

type act int

const (
	pass act = iota
	drop
	replace
)

// decision is what is to happen to a message.
type decision struct {
	act    act
	copies int  // of a passed request: 1, or 2
	ends   bool // a dropped message takes the caller's connection along
	status int
	body   []byte
}

// hook is a trap, a gate or a refusal: it may claim a message.
type hook struct {
	match Match
	live  bool
	// claim takes a fitting message or leaves it (nil, false). It runs under the
	// wire's lock.
	claim func(*Message) (hold *station, instead *decision)
}

// passage is the way of one message through the proxy.
type passage struct {
	w       *Wire
	msg     *Message
	sight   *sighting
	holds   []*station
	instead *decision // what the proxy answers itself, nil where it does not
	lost    bool      // it came after the cut
	wasHeld bool
	settled sync.Once
}

// arrive counts a message and finds out who claims it. epoch is that of the
// connection that it came on.
func (w *Wire) arrive(m *Message, epoch int) *passage {
	w.mu.Lock()
	hooks := append([]*hook(nil), w.hooks...)
	w.mu.Unlock()
	// A match may look deep into the message; not under the lock.
	fits := make([]bool, len(hooks))
	for i, h := range hooks {
		fits[i] = h.match.fits(m)
	}
	p := w.count(m)
	w.mu.Lock()
	defer w.mu.Unlock()
	p.lost = !m.Answer && (w.side != 0 || epoch < w.epoch)
	if p.lost {
		return p
	}
	for i, h := range hooks {
		if !h.live || !fits[i] {
			continue
		}
		hold, instead := h.claim(m)
		if p.instead == nil {
			p.instead = instead
		}
		if hold != nil {
			p.holds = append(p.holds, hold)
		}
	}
	if len(p.holds) > 0 {
		w.stations = append(slices.DeleteFunc(w.stations, func(s *station) bool { return !s.undecided() }), p.holds...)
	}
	return p
}

// count takes a message into account that nobody may claim.
func (w *Wire) count(m *Message) *passage {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &passage{w: w, msg: m, sight: &sighting{msg: m}}
	w.seen = append(w.seen, p.sight)
	return p
}

// free says that decide will not block.
func (p *passage) free() bool { return len(p.holds) == 0 || p.lost || p.instead != nil }

// decide blocks while the message is held, and says what is to happen to it.
func (p *passage) decide() decision {
	switch {
	case p.lost:
		p.drop()
		return decision{act: drop}
	case p.instead != nil:
		for _, h := range p.holds {
			h.settle(decision{})
		}
		d := *p.instead
		if d.body == nil {
			d.body = p.refusal()
		}
		return d
	}
	result := decision{act: pass, copies: 1}
	for i, h := range p.holds {
		d := p.hold(h)
		if d.act != pass {
			for _, rest := range p.holds[i+1:] {
				rest.settle(decision{})
			}
			result = d
			break
		}
		result.copies = max(result.copies, d.copies)
	}
	if result.act == drop {
		p.drop()
	}
	return result
}

func (p *passage) hold(s *station) decision {
	if !p.wasHeld {
		p.wasHeld = true
		p.w.record(p.msg, actionHeld)
		if p.w.config.OnHold != nil {
			p.w.config.OnHold(*p.msg)
		}
	}
	s.show()
	select {
	case <-s.decided:
		return s.decision
	case <-p.w.ctx.Done():
		s.settle(decision{act: drop})
		return decision{act: drop}
	}
}

// sent records that the message goes to the other side, just before it does.
func (p *passage) sent() {
	p.w.mu.Lock()
	p.sight.passed++
	p.w.mu.Unlock()
	if p.wasHeld {
		p.w.record(p.msg, actionReleased)
	} else {
		p.w.record(p.msg, actionForwarded)
	}
}

// failed records that a message which was sent, copies times, did not get through.
func (p *passage) failed(copies int) {
	p.w.mu.Lock()
	p.sight.passed -= copies
	p.w.mu.Unlock()
	p.drop()
}

// drop records the loss and settles.
func (p *passage) drop() {
	p.w.record(p.msg, actionDropped)
	p.settle()
}

// settle tells those who hold the message that it is over.
func (p *passage) settle() {
	p.settled.Do(func() {
		for _, h := range p.holds {
			close(h.over)
		}
	})
}

// refusal is what the caller reads of a refused request.
func (p *passage) refusal() []byte {
	if p.msg.RPCID == "" {
		return []byte(`{"error":"unavailable: refused on the wire"}`)
	}
	return []byte(`{"jsonrpc":"2.0","id":` + p.msg.RPCID + `,"error":{"code":-32000,"message":"unavailable: refused on the wire"}}`)
}
