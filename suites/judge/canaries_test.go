package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// structured is an answer with structured content.
func structured(content string, fields ...any) ending {
	e := done(fields...)
	e.Answer = json.RawMessage(`{"structuredContent":` + content + `}`)
	return e
}

func TestAnswersHoldNoContent(t *testing.T) {
	s := newStory()
	s.call("start", params("target", "Guild One"), structured(`{"operation":"wf_1","target":"Guild One","steps":{"total":1}}`, "operation_id", "wf_1"))
	s.call("status", params("operation_id", "wf_1", "target", "Guild One"), structured(`{"operation":"wf_1","state":"failed","code":"approval_invalid"}`))
	const summary = "an answer about an operation holds more than references, states, counts and codes"
	rules(t, AnswersHoldNoContent, s.told(),
		variant{"a result", edits(ends("c2", structured(`{"steps":[{"result":"Good morning"}]}`))),
			finds(broken("WF-23", summary, `status c2 was answered {"structuredContent":{"steps":[{"result":"Good morning"}]}}`, `it has "Good morning"`)), nil},
		variant{"a sentence for a code", edits(ends("c1", structured(`{"code":"No step called Good morning"}`))),
			finds(broken("WF-23", summary, `start c1 was answered {"structuredContent":{"code":"No step called Good morning"}}`, `it has "No step called Good morning"`)), nil},
		variant{"nothing is structured", edits(ends("c1", done()), ends("c2", done())), nil,
			[]string{"no answer about an operation is structured, so that it cannot be told what is in it"}},
	)
}

// message tells of one message of a session.
func (s *story) message(outgoing bool, raw string) {
	s.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "workflows.1", Outgoing: outgoing, Raw: raw}})
}

func TestCanariesStayInside(t *testing.T) {
	s := newStory()
	s.mark("canary", "name", "an argument", "text", "argument ~1", "store", true, "outside", true)
	s.mark("canary", "name", "a reference", "text", "reference ~2", "store", false, "outside", false)
	s.message(true, `{"operation":"../reference ~2"}`)
	s.message(false, `{"code":"unknown"}`)
	s.mark("canary", "name", "a token", "store", false, "outside", true)
	found := func(canary, source string, texts, n int) map[string]any {
		return row("canary", canary, "source", source, "texts", texts, "found", n)
	}
	s.look("canaries", "converged", nil,
		found("an argument", "store", 3, 1), found("an argument", "outside", 2, 1), found("an argument", "audit", 1, 0), found("an argument", "log", 1, 0),
		found("a reference", "store", 3, 0), found("a reference", "log", 1, 0), found("a token", "outside", 2, 1), found("a token", "file policy", 1, 0))
	leaks := func(name string, n int, fact string) variant {
		return variant{name, edits(cell("canaries", "converged", n, "found", 1)), finds(broken("WF-23", "something of a caller's stands where nobody may read it", fact)), nil}
	}
	rules(t, CanariesStayInside, s.told(),
		leaks("in the audit log", 2, "an argument: in 1 text of the audit"),
		leaks("in a log", 3, "an argument: in 1 text of the log"),
		leaks("in another file", 7, "a token: in 1 text of the file policy"),
		variant{"in an answer", edits(each("the answer", func(e history.Event) bool { return e.Kind == history.KindMessage && !e.Message.Outgoing },
			func(e *history.Event) { e.Message.Raw = `{"error":"no operation reference ~2"}` })),
			finds(broken("WF-23", "something of a caller's stands in a message of the server", `a reference: {"error":"no operation reference ~2"}`)), nil},
		variant{"it was never stored", edits(cell("canaries", "converged", 0, "found", 0)), nil, []string{`the canary "an argument" was not found where it may be: store`}},
		variant{"the token is nowhere", edits(cell("canaries", "converged", 6, "found", 0)), nil, []string{`the canary "a token" was not found where it may be: outside`}},
		variant{"it was never sent", edits(removed("messages", func(e history.Event) bool { return e.Kind == history.KindMessage && e.Message.Outgoing })), nil, []string{`the canary "a reference" was not sent`}},
		variant{"no log was searched", edits(noRow("canaries", "converged", 5), noRow("canaries", "converged", 3)), nil, []string{"nothing of the log was searched"}},
		variant{"nobody searched", edits(noLook("canaries", "converged")), nil, []string{"nobody searched for the canaries"}},
		variant{"nothing was planted", edits(noMark("canary")), nil,
			[]string{"no canary was planted", "nothing of the store was searched", "nothing of the outside was searched", "nothing of the audit was searched", "nothing of the log was searched"}},
	)
}
