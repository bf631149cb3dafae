package judge

import (
	"encoding/json"
	"strconv"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// as is an answer with an outcome; all but confirmed and not_applied are errors.
func as(outcome string, fields ...any) ending {
	e := ending{Outcome: history.Refused, IsError: true, Fields: row(fields...), Answer: json.RawMessage(`{}`)}
	e.Fields["outcome"] = outcome
	if outcome == "confirmed" || outcome == "not_applied" {
		e.Outcome, e.IsError = history.Done, false
	}
	return e
}

// confirms is a confirmation of a command from a revision to the next.
func confirms(id string, from int) ending {
	return as("confirmed", "command_id", id, "from_revision", from, "to_revision", from+1)
}

// mutating are the spec's values behind an update of draft d1, or a submission where
// it sets nothing.
func mutating(id string, revision int, text string, more ...string) map[string]string {
	p := params("draft", "d1", "command_id", id, "revision", strconv.Itoa(revision))
	if text != "" {
		p["text"] = text
	}
	return and(p, more...)
}

// draftIs tells what store and editor show of draft d1 at a moment, with its receipts.
func draftIs(s *story, when string, revision int, changed, status string, receipts ...string) {
	of := params("draft", "d1")
	s.look("draft", when, of, row("revision", revision, "changed", changed, "other", "Fair", "status", status))
	var rows []map[string]any
	for i, id := range receipts {
		rows = append(rows, row("command_id", id, "from_revision", i+1, "to_revision", i+2))
	}
	s.look("receipts", when, of, rows...)
	s.look("editor", when, of, row("changed", changed, "other", "Fair", "save_state", "saved", "revision", revision))
}

// asks tells of a request past the editor.
func asks(s *story, name, when, user string, p map[string]string, status int, body string) {
	s.look("server-"+name, when, and(p, "user", user), row("user", user, "status", status, "body", body))
}

// reply changes the answer to the nth request of a name past the editor.
func reply(name string, n int, column string, value any) edit {
	seen := 0
	return each("request "+name, func(e history.Event) bool {
		if e.Kind != history.KindLook || e.Look.Probe != "server-"+name {
			return false
		}
		seen++
		return seen == n+1
	}, func(e *history.Event) { e.Look.Rows[0][column] = value })
}

// neverAsked takes away the requests of a name whose parameter is a value.
func neverAsked(name, param, value string) edit {
	return removed("request "+name, func(e history.Event) bool {
		return e.Kind == history.KindLook && e.Look.Probe == "server-"+name && e.Look.Params[param] == value
	})
}
