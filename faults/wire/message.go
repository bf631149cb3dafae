package wire

import (
	"bytes"
	"encoding/json"
)

// Message is one message as the message proxy saw it on a wire.
type Message struct {
	// Exchange is the proxy's own number; a request and its answer share it.
	Exchange int64
	// Answer: it goes from the callee to the caller.
	Answer bool
	// Method is the JSON-RPC method, "" on a wire that does not speak JSON-RPC.
	// An answer carries the method, tool and path of its request.
	Method string
	Tool   string // of a tools/call
	RPCID  string // JSON-RPC id as raw JSON
	// HTTPMethod and Path are empty on a stdio wire.
	HTTPMethod string
	Path       string
	Status     int // HTTP status of an answer
	// Body is what was sent: the HTTP body, one event of a stream, or one line.
	Body []byte
	// Request is the request that an answer belongs to. It is nil for a request,
	// and for what a callee says unasked (a notification, garbage).
	Request *Message

	// calls are the JSON-RPC parts; more than one in a batch.
	calls []call
}

// Arguments are the arguments of the tools/call that the message is, or answers.
func (m Message) Arguments() json.RawMessage {
	if m.Request != nil {
		return m.Request.Arguments()
	}
	for _, c := range m.calls {
		if c.tool != "" {
			return c.arguments
		}
	}
	return nil
}

// Result is the JSON-RPC result of an answer, nil when it has none (an error,
// or no JSON-RPC).
func (m Message) Result() json.RawMessage {
	for _, c := range m.calls {
		if c.result != nil {
			return c.result
		}
	}
	return nil
}

// call is one JSON-RPC object.
type call struct {
	method, tool, id string
	arguments        json.RawMessage
	result           json.RawMessage
	answers          bool // it carries a result or an error
}

type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// parse reads the JSON-RPC objects of a body: one, a batch, or none when the
// body is anything else (which is no error: it passes unharmed).
func parse(body []byte) []call {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return nil
	}
	var all []envelope
	switch body[0] {
	case '{':
		var one envelope
		if json.Unmarshal(body, &one) != nil {
			return nil
		}
		all = []envelope{one}
	case '[':
		if json.Unmarshal(body, &all) != nil {
			return nil
		}
	}
	var calls []call
	for _, e := range all {
		if e.JSONRPC != "2.0" {
			continue
		}
		c := call{method: e.Method, id: string(e.ID), result: e.Result}
		c.answers = e.Method == "" && (e.Result != nil || e.Error != nil)
		if e.Method == "tools/call" {
			var p struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if json.Unmarshal(e.Params, &p) == nil {
				c.tool, c.arguments = p.Name, p.Arguments
			}
		}
		calls = append(calls, c)
	}
	return calls
}

// describe fills the JSON-RPC fields of m from its body.
func (m *Message) describe() {
	m.calls = parse(m.Body)
	if len(m.calls) > 0 {
		m.Method, m.Tool, m.RPCID = m.calls[0].method, m.calls[0].tool, m.calls[0].id
	}
}

// answerTo makes m the answer of a request.
func (m *Message) answerTo(request *Message) {
	m.Request, m.Exchange = request, request.Exchange
	m.Method, m.Tool, m.RPCID = request.Method, request.Tool, request.RPCID
	m.HTTPMethod, m.Path = request.HTTPMethod, request.Path
}
