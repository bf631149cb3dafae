package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
)

// callee is the far end of an HTTP wire.
type callee struct {
	base      atomic.Pointer[url.URL]
	transport *http.Transport
}

// OpenHTTP opens a wire to an HTTP callee (Config.Callee). Every request goes
// over a connection of its own, so that net/http never sends one twice by itself
// and what is counted is what was sent.
func OpenHTTP(c Config) (*Wire, error) {
	w, err := newWire(c)
	if err != nil {
		return nil, err
	}
	w.keep = true
	w.arrivals = newArrivals()
	w.callee = &callee{transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	if err := w.SetCallee(c.Callee); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("wire %s: listening on 127.0.0.1 for the message proxy: %w", c.Name, err)
	}
	if w.front, err = openFront(c.Name, listener.Addr().String()); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:   http.HandlerFunc(w.serve),
		ErrorLog:  log.New(io.Discard, "", 0),
		ConnState: w.arrivals.note,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(context.WithValue(ctx, epochKey{}, w.age()), connKey{}, conn)
		},
	}
	server.SetKeepAlivesEnabled(!c.Fresh)
	w.shut = func() {
		server.Close() // it only says that connections were closed already
		w.callee.transport.CloseIdleConnections()
	}
	w.work.Go(func() { server.Serve(listener) }) // ends with server.Close
	return w, nil
}

// SetCallee points an HTTP wire at another base URL: a callee that was started
// again. Exchanges under way stay with the old one.
func (w *Wire) SetCallee(base string) error {
	if w.callee == nil {
		return fmt.Errorf("wire %s speaks stdio: a new process needs a new wire (OpenStdio)", w.Name())
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return fmt.Errorf("wire %s: %q is no base URL of a callee: expected http://host:port", w.Name(), base)
	}
	w.callee.base.Store(u)
	return nil
}

// epochKey finds the epoch of a connection in its requests' contexts.
type epochKey struct{}

// connKey finds the connection of a request in its context.
type connKey struct{}

// exchange is one HTTP request with its way back.
type exchange struct {
	w       *Wire
	rw      http.ResponseWriter
	r       *http.Request
	request *Message
	session string
	up      context.Context // of the callee's side
	cancel  context.CancelFunc
}

// serve carries one request to the callee and its answer back.
func (w *Wire) serve(rw http.ResponseWriter, r *http.Request) {
	if !w.enter() {
		panic(http.ErrAbortHandler)
	}
	defer w.work.Done()
	if conn, _ := r.Context().Value(connKey{}).(net.Conn); w.arrivals.came(conn, r.Header.Get(fenceHeader)) {
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // half a request is no message
	}
	x := &exchange{w: w, rw: rw, r: r, session: r.Header.Get("Mcp-Session-Id")}
	x.up, x.cancel = context.WithCancel(w.ctx)
	defer x.cancel()
	number := w.attach(caller{gone: r.Context().Done(), sever: x.cancel})
	defer w.detach(number)
	x.request = &Message{Exchange: number, HTTPMethod: r.Method, Path: r.URL.Path, Body: body}
	x.request.describe()
	w.remember(x.session, x.request)

	epoch, _ := r.Context().Value(epochKey{}).(int)
	p := w.arrive(x.request, epoch)
	d := p.decide()
	switch {
	case p.lost:
		panic(http.ErrAbortHandler)
	case d.act == drop:
		x.lose(d)
	case d.act == replace:
		x.answerInstead(p, d)
	default:
		x.forward(p, d.copies)
	}
}

// forward sends the request, copies times, and relays the first copy's answer.
func (x *exchange) forward(p *passage, copies int) {
	defer context.AfterFunc(x.r.Context(), x.callerLeft)()
	second := make(chan struct{})
	if copies > 1 {
		x.w.duplicated(x.request)
		go func() {
			defer close(second)
			x.drain(x.send(p))
		}()
	} else {
		close(second)
	}
	response, err := x.send(p)
	// Also when the handler is aborted by a panic: the copy belongs to it.
	defer func() { <-second }()
	if err != nil {
		panic(http.ErrAbortHandler) // the callee said nothing, and nothing is made up for it
	}
	defer response.Body.Close()
	x.relay(response)
}

// callerLeft runs when the caller's connection ended before the answer was out.
func (x *exchange) callerLeft() {
	x.w.mu.Lock()
	stays := x.w.side == CallerOnly || x.w.side == 0 && x.w.keep && x.r.Method != http.MethodGet
	x.w.mu.Unlock()
	if !stays {
		x.cancel()
	}
}

// send makes one HTTP request of its own. The request is recorded as sent when
// its connection stands, and as dropped when none came about.
func (x *exchange) send(p *passage) (*http.Response, error) {
	sent := false
	ctx := httptrace.WithClientTrace(x.up, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { sent = true; p.sent() },
		WroteRequest: func(httptrace.WroteRequestInfo) { p.settle() },
	})
	base := x.w.callee.base.Load()
	target := *x.r.URL
	target.Scheme, target.Host = base.Scheme, base.Host
	target.Path = strings.TrimSuffix(base.Path, "/") + x.r.URL.Path
	target.RawPath = ""
	out, err := http.NewRequestWithContext(ctx, x.r.Method, target.String(), bytes.NewReader(x.request.Body))
	if err != nil {
		p.drop()
		return nil, err
	}
	copyHeader(out.Header, x.r.Header)
	out.Header.Del("Accept-Encoding") // the proxy must be able to read the answer
	if out.Header.Get("User-Agent") == "" {
		out.Header["User-Agent"] = nil // none was sent, so none is added
	}
	response, err := x.w.callee.transport.RoundTrip(out)
	if err != nil && !sent {
		p.drop()
	}
	return response, err
}

// drain reads the answer to a duplicate, which the caller does not get.
func (x *exchange) drain(response *http.Response, err error) {
	if err != nil {
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return
	}
	m := &Message{Answer: true, Status: response.StatusCode, Body: body}
	m.describe()
	m.answerTo(x.request)
	x.w.count(m).drop()
}

// lose lets the caller wait, or ends its connection. It never returns.
func (x *exchange) lose(d decision) {
	if d.ends {
		panic(http.ErrAbortHandler)
	}
	x.starve()
}

// starve lets the caller wait until it leaves or is cut: a lost message makes no
// sound. It never returns.
func (x *exchange) starve() {
	select {
	case <-x.r.Context().Done():
	case <-x.w.ctx.Done():
	}
	panic(http.ErrAbortHandler)
}

// answerInstead answers a request that does not reach the callee.
func (x *exchange) answerInstead(p *passage, d decision) {
	x.w.record(x.request, actionReplaced)
	p.settle()
	m := &Message{Answer: true, Status: d.status, Body: d.body}
	m.answerTo(x.request)
	x.w.record(m, actionReplaced)
	x.write(http.Header{"Content-Type": {"application/json"}}, d.status, d.body)
}

// write sends a whole answer to the caller.
func (x *exchange) write(header http.Header, status int, body []byte) {
	if status == 0 {
		status = http.StatusOK
	}
	copyHeader(x.rw.Header(), header)
	if len(body) > 0 {
		x.rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	x.rw.WriteHeader(status)
	if _, err := x.rw.Write(body); err == nil {
		http.NewResponseController(x.rw).Flush() // an error shows at the next write, and there is none
	}
}

// hopByHop headers belong to one connection (RFC 9110, 7.6.1).
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func copyHeader(to, from http.Header) {
	for name, values := range from {
		to[name] = append([]string(nil), values...)
	}
	for _, name := range hopByHop {
		to.Del(name)
	}
}
