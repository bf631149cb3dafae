package judge

import (
	"encoding/json"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// sentCall is one tools/call, or one request about a task, as a session recorded it;
// group is what tells the
// call that it belongs to.
type sentCall struct {
	position
	session string
	group   string
	seq     int64 // the number of its event
}

func sentCalls(h history.History) []sentCall {
	var all []sentCall
	for _, e := range h.Events {
		if e.Kind != history.KindMessage || !e.Message.Outgoing {
			continue
		}
		if id, call, ok := firstCall([]byte(e.Message.Raw)); ok {
			all = append(all, sentCall{
				position: position{tool: call.Name, id: id},
				session:  e.Message.Session,
				group:    groupOf(e.Message.Session, call.Name, call.Arguments),
				seq:      e.Seq,
			})
		}
	}
	return all
}

// envelope is what is read of a JSON-RPC message.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// named are the parameters of a tools/call.
type named struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// firstCall reads a message as the proxy does: a batch is known by its first
// part, and what is no JSON-RPC is no call.
func firstCall(raw []byte) (id string, call named, ok bool) {
	var parts []envelope
	if json.Unmarshal(raw, &parts) != nil {
		var one envelope
		if json.Unmarshal(raw, &one) != nil {
			return "", named{}, false
		}
		parts = []envelope{one}
	}
	for _, part := range parts {
		if part.JSONRPC != "2.0" {
			continue
		}
		if json.Unmarshal(part.Params, &call) != nil {
			call = named{} // parameters of another shape name no tool
		}
		if aboutTasks(part.Method) {
			call = named{Name: part.Method, Arguments: part.Params}
		}
		return string(part.ID), call, isCounted(part.Method)
	}
	return "", named{}, false
}

// isCounted says whether a method is that of a call.
func isCounted(method string) bool { return method == "tools/call" || aboutTasks(method) }

// aboutTasks says whether a method is one of MCP Tasks, whose name stands for the tool.
func aboutTasks(method string) bool { return strings.HasPrefix(method, "tasks/") }

// groupOf names the calls of one session with the same tool and arguments.
func groupOf(session, tool string, arguments json.RawMessage) string {
	var value any
	if json.Unmarshal(arguments, &value) == nil {
		if canonical, err := json.Marshal(value); err == nil {
			arguments = canonical
		}
	}
	return session + "\x00" + tool + "\x00" + string(arguments)
}
