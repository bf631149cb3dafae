package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// pipe bridges a child's stdin and stdout over loopback.
type pipe struct {
	w        *Wire
	listener net.Listener
	// in and out are the child's; the wire closes both.
	in  *sink
	out io.ReadCloser
}

// sink is written to by several messages at once, each of them whole.
type sink struct {
	mu sync.Mutex
	io.WriteCloser
}

func (s *sink) line(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.Write(b)
	return err
}

// OpenStdio opens a wire to a child: in is its stdin, out its stdout. The wire
// owns both from now on. One caller connects to Addr; a child that is started
// again gets a wire of its own.
//
// When the caller ends its side the child's stdin is closed (see KeepCallee).
// When the child ends its stdout the caller's connection is closed, after all
// that the child said is through or decided of. Held messages are overtaken by
// later ones: JSON-RPC promises no order between calls.
func OpenStdio(c Config, in io.WriteCloser, out io.ReadCloser) (*Wire, error) {
	w, err := newWire(c)
	if err != nil {
		return nil, err
	}
	w.stdio = true
	p := &pipe{w: w, in: &sink{WriteCloser: in}, out: out}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("wire %s: listening on 127.0.0.1 for the message proxy: %w", c.Name, err)
	}
	if w.front, err = openFront(c.Name, p.listener.Addr().String()); err != nil {
		return nil, errors.Join(err, p.listener.Close())
	}
	w.shut = func() {
		p.listener.Close() // all three may be closed already
		p.in.Close()
		p.out.Close()
	}
	w.work.Go(p.accept)
	return w, nil
}

// accept serves the first connection and turns every other one away.
func (p *pipe) accept() {
	first := true
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // the wire was closed
		}
		if !first || !p.w.enter() {
			conn.Close()
			continue
		}
		first = false
		go func() {
			defer p.w.work.Done()
			p.bridge(conn)
		}()
	}
}

// bridge pumps both directions until both have ended.
func (p *pipe) bridge(conn net.Conn) {
	gone := make(chan struct{})
	number := p.w.attach(caller{gone: gone, sever: func() {
		p.in.Close() // may be closed already
		p.out.Close()
	}})
	defer p.w.detach(number)
	stop := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		select {
		case <-p.w.ctx.Done():
		case <-stop:
		}
		conn.Close() // ends the requests' pump
	})
	back := &sink{WriteCloser: conn}
	both.Go(func() { p.requests(conn, back, gone) })
	p.answers(back, gone)
	close(stop)
	both.Wait()
}

// requests carries what the caller says to the child.
func (p *pipe) requests(conn io.Reader, back *sink, gone chan struct{}) {
	var parked sync.WaitGroup
	lines(conn, func(line []byte) {
		m := &Message{Exchange: p.w.number(), Body: bytes.TrimRight(line, "\r\n")}
		m.describe()
		p.w.remember("", m)
		passage := p.w.arrive(m, 0)
		if passage.free() {
			p.request(passage, line, back)
			return
		}
		parked.Go(func() { p.request(passage, line, back) })
	})
	close(gone)
	parked.Wait()
	p.w.mu.Lock()
	stays := p.w.side == CallerOnly || p.w.keep
	p.w.mu.Unlock()
	if !stays {
		p.in.Close() // an error says that the child is gone, which its stdout shows
	}
}

func (p *pipe) request(passage *passage, line []byte, back *sink) {
	d := passage.decide()
	switch d.act {
	case drop:
	case replace:
		p.w.record(passage.msg, actionReplaced)
		passage.settle()
		m := &Message{Answer: true, Body: d.body}
		m.answerTo(passage.msg)
		p.w.record(m, actionReplaced)
		back.line([]byte(oneLine(d.body) + "\n")) // a caller that left needs no answer
	default:
		if d.copies > 1 {
			p.w.duplicated(passage.msg)
		}
		for range d.copies {
			passage.sent()
		}
		// Copies go in one write, so that nothing comes between them.
		if p.in.line(bytes.Repeat(line, d.copies)) != nil {
			passage.failed(d.copies)
			return
		}
		passage.settle()
	}
}

// answers carries what the child says to the caller. It reads to the end also
// when nobody listens any more, so that the child never blocks on its stdout.
func (p *pipe) answers(back *sink, gone chan struct{}) {
	var parked sync.WaitGroup
	lines(p.out, func(line []byte) {
		m := &Message{Answer: true, Body: bytes.TrimRight(line, "\r\n")}
		m.describe()
		request, surplus := p.w.asked("", m)
		if request != nil {
			m.answerTo(request)
		} else {
			m.Exchange = p.w.number()
		}
		if surplus {
			p.w.count(m).drop()
			return
		}
		passage := p.w.arrive(m, 0)
		switch {
		case passage.free():
			p.answer(passage, line, back, gone)
		default:
			parked.Go(func() { p.answer(passage, line, back, gone) })
		}
	})
	parked.Wait()
}

func (p *pipe) answer(passage *passage, line []byte, back *sink, gone chan struct{}) {
	d := passage.decide()
	if d.act == drop {
		return
	}
	select {
	case <-gone:
		passage.drop()
		return
	default:
	}
	if d.act == replace {
		p.w.record(passage.msg, actionReplaced)
		back.line([]byte(oneLine(d.body) + "\n")) // lost with its caller, like any answer
		passage.settle()
		return
	}
	passage.sent()
	if back.line(line) != nil {
		passage.failed(1)
		return
	}
	passage.settle()
}

// longest is how much of a line without an end is kept together, in bytes; what
// is longer passes in pieces, none of which is a message.
const longest = 64 << 20

// lines gives every line with its end, and what stands after the last end.
func lines(in io.Reader, each func([]byte)) {
	buffered := bufio.NewReaderSize(in, 32<<10)
	var line []byte
	for {
		part, err := buffered.ReadSlice('\n')
		line = append(line, part...)
		full := errors.Is(err, bufio.ErrBufferFull)
		if full && len(line) < longest {
			continue
		}
		if len(line) > 0 {
			each(line)
			line = nil
		}
		if err != nil && !full {
			return
		}
	}
}

// oneLine makes JSON fit into one line; other text keeps none of its line ends.
func oneLine(body []byte) string {
	var compact bytes.Buffer
	if json.Compact(&compact, body) == nil {
		return compact.String()
	}
	return string(bytes.Join(bytes.Fields(body), []byte(" ")))
}
