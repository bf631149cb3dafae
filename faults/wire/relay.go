package wire

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
)

// relay brings the callee's answer to the caller, whole or event by event.
func (x *exchange) relay(response *http.Response) {
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		x.relayStream(response)
		return
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the callee broke off; so does the wire
	}
	m := &Message{Answer: true, Status: response.StatusCode, Body: body}
	m.describe()
	m.answerTo(x.request)
	p := x.w.arrive(m, 0)
	switch d := p.decide(); d.act {
	case drop:
		x.lose(d)
	case replace:
		x.w.record(m, actionReplaced)
		p.settle()
		x.write(http.Header{"Content-Type": {"application/json"}}, d.status, d.body)
	default:
		if x.callerGone() {
			p.drop()
			panic(http.ErrAbortHandler)
		}
		p.sent()
		x.write(response.Header, response.StatusCode, body)
		p.settle()
	}
}

func (x *exchange) callerGone() bool { return x.r.Context().Err() != nil }

// relayStream passes server-sent events, one at a time. What the caller no
// longer hears is still read, so that the callee can finish.
func (x *exchange) relayStream(response *http.Response) {
	copyHeader(x.rw.Header(), response.Header)
	x.rw.WriteHeader(response.StatusCode)
	control := http.NewResponseController(x.rw)
	control.Flush() // a caller that left is noticed by its context
	events := bufio.NewReader(response.Body)
	lost := false
	for {
		raw, err := readEvent(events)
		if len(raw) > 0 && !x.relayEvent(raw, response.StatusCode) {
			lost = true
		}
		control.Flush()
		switch {
		case err == io.EOF && !lost:
			return
		case err == io.EOF:
			x.starve() // the end of the stream would tell the caller that no answer comes
		case err != nil:
			panic(http.ErrAbortHandler)
		}
	}
}

// relayEvent passes one event; false when it was an answer that is lost.
func (x *exchange) relayEvent(raw []byte, status int) bool {
	m := &Message{Answer: true, Status: status, Body: dataOf(raw)}
	if len(m.Body) == 0 {
		x.rw.Write(raw) // a comment or a priming event is no message
		return true
	}
	m.describe()
	if request := x.asked(m); request != nil {
		m.answerTo(request)
	} else {
		m.Exchange = x.w.number()
		m.HTTPMethod, m.Path = x.r.Method, x.r.URL.Path
	}
	p := x.w.arrive(m, 0)
	d := p.decide()
	switch {
	case d.act == drop && d.ends:
		panic(http.ErrAbortHandler)
	case d.act == drop:
		return false
	case d.act == replace:
		x.w.record(m, actionReplaced)
		x.rw.Write([]byte("event: message\ndata: " + oneLine(d.body) + "\n\n"))
		p.settle()
	case x.callerGone():
		p.drop()
	default:
		p.sent()
		x.rw.Write(raw)
		http.NewResponseController(x.rw).Flush()
		p.settle()
	}
	return true
}

// asked finds whose answer an event is: of this exchange, whose ids another
// caller may use as well, or of an earlier one that the callee answers here.
func (x *exchange) asked(answer *Message) *Message {
	for _, a := range answer.calls {
		for _, q := range x.request.calls {
			if a.answers && q.method != "" && q.id == a.id {
				return x.request
			}
		}
	}
	request, _ := x.w.asked(x.session, answer)
	return request
}

// readEvent reads up to and with the blank line that ends an event.
func readEvent(in *bufio.Reader) ([]byte, error) {
	var raw []byte
	for {
		line, err := in.ReadBytes('\n')
		raw = append(raw, line...)
		if err != nil {
			return raw, err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return raw, nil
		}
	}
}

// dataOf joins the data lines of an event.
func dataOf(raw []byte) []byte {
	var data [][]byte
	for line := range bytes.Lines(raw) {
		if value, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(value, []byte(" ")))
		}
	}
	return bytes.Join(data, []byte("\n"))
}
