package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// sentBack is a refusal with an answer of its own.
func sentBack(isError bool, outcome history.Outcome, raw string) ending {
	return ending{Outcome: outcome, IsError: isError, Answer: json.RawMessage(raw)}
}

const (
	toolErrorAnswer     = `{"isError":true,"content":[{"type":"text","text":"no"}]}`
	protocolErrorAnswer = `{"code":-32602,"message":"no"}`
	wordedAnswer        = `{"content":[{"type":"text","text":"Error: no such note"}]}`
)

// breachesOf is a valid call (c1) and two that break the schema (c2, c3), all of one
// tool.
func breachesOf(revision string) history.History {
	s := newStory()
	s.mark("agreed", "session", "helper.1", "revision", revision)
	s.call("invalid", params("violation", "the valid one"), done())
	s.call("invalid", params("violation", "one"), sentBack(true, history.Refused, toolErrorAnswer))
	s.call("invalid", params("violation", "two"), sentBack(true, history.Refused, toolErrorAnswer))
	return with(s.told(), each("c1", isCall("c1", history.Invoked), func(e *history.Event) { e.Call.Role = "call" }))
}

const noBreach = "no tool acknowledged a valid call and could then be called with arguments that its inputSchema forbids; name a call of one in profiles.durability.calls"

func TestBreachesRefused(t *testing.T) {
	rules(t, BreachesRefused, breachesOf("2025-11-25"),
		variant{"one is acknowledged", edits(ends("c3", done())),
			finds(broken("DU-08/refused", "work_invalid acknowledged 1 of 2 calls that its own inputSchema forbids", `call c3: two: {"violation":"two"}`)), nil},
		variant{"one is refused in words only", edits(ends("c3", sentBack(false, history.Done, wordedAnswer))), nil, nil},
		variant{"one is refused by protocol", edits(ends("c3", sentBack(true, history.Refused, protocolErrorAnswer))), nil, nil},
		variant{"one got no answer", edits(ends("c3", unknown())), nil, []string{"call c3 (work_invalid) got no answer, so that it is not known to be refused"}},
		variant{"the valid one is refused", edits(ends("c1", refused("", "")), ends("c3", done())), nil, []string{noBreach}},
		variant{"there is no valid one", edits(noCall("c1")), nil, []string{noBreach}},
		variant{"there is no invalid one", edits(noCall("c2", "c3")), nil, []string{noBreach}},
	)
}

func TestRefusalsInForm(t *testing.T) {
	byProtocol := ends("c3", sentBack(true, history.Refused, protocolErrorAnswer))
	noAnswer := ends("c3", ending{Outcome: history.Refused, IsError: true, Reason: "HTTP 400"})
	rules(t, RefusalsInForm, breachesOf("2025-11-25"),
		variant{"one is a protocol error", edits(byProtocol),
			finds(broken("DU-08/form", "1 of 2 refusals of arguments are no tool errors, at revision 2025-11-25", `call c3 (work_invalid), two: a protocol error: `+protocolErrorAnswer)), nil},
		variant{"one is a status of HTTP", edits(noAnswer),
			finds(broken("DU-08/form", "1 of 2 refusals of arguments are no tool errors, at revision 2025-11-25", "call c3 (work_invalid), two: no answer of MCP: HTTP 400")), nil},
		variant{"one is acknowledged", edits(ends("c3", done())), nil, nil},
		variant{"all are acknowledged", edits(ends("c2", done()), ends("c3", done())), nil, []string{"no call was refused for its arguments"}},
		variant{"the revision is not known", edits(func(all []history.Event) []history.Event {
			return all[1:]
		}), nil, []string{"the revision that was agreed on is not known"}},
	)
	rules(t, RefusalsInForm, breachesOf("2025-06-18"),
		variant{"one is a protocol error", edits(byProtocol), nil, nil},
		variant{"one is a status of HTTP", edits(noAnswer),
			finds(broken("DU-08/form", "1 of 2 refusals of arguments are neither tool errors nor protocol errors, at revision 2025-06-18", "call c3 (work_invalid), two: no answer of MCP: HTTP 400")), nil},
	)
}

func TestRefusedByStructure(t *testing.T) {
	s := newStory()
	s.call("call", params("a", "1"), done())
	s.call("invalid", params("a", "2"), sentBack(true, history.Refused, toolErrorAnswer))
	rules(t, RefusedByStructure, s.told(),
		variant{"a result begins as an error", edits(ends("c1", sentBack(false, history.Done, wordedAnswer))),
			finds(broken("DU-19", "work_call answered 1 refusal as a result, which only its wording tells", `call c1: {"a":"1"}: "Error: no such note"`)), nil},
		variant{"the target file takes a result for a refusal", edits(ends("c1", sentBack(false, history.Refused, `{"content":[{"type":"text","text":"try later"}]}`))),
			finds(broken("DU-19", "work_call answered 1 refusal as a result, which only its wording tells", `call c1: {"a":"1"}: "try later"`)), nil},
		variant{"a result speaks of errors", edits(ends("c1", sentBack(false, history.Done, `{"content":[{"type":"text","text":"3 notes about errors"}]}`))), nil, nil},
		variant{"a JSON-RPC error is structure", edits(ends("c2", sentBack(true, history.Refused, protocolErrorAnswer))), nil, nil},
		variant{"a call got no answer", edits(ends("c1", unknown())), nil, nil},
		variant{"nothing was refused", edits(ends("c2", done())), nil, []string{"nothing was refused, so that nothing is known of what a refusal looks like"}},
	)
}

// TestRefusedChangedNothing leaves to TestErrorChangedNothing what the rule says.
func TestRefusedChangedNothing(t *testing.T) {
	bare := each("c5", isCall("c5", history.Invoked), func(e *history.Event) { e.Call.Arguments = json.RawMessage(`{}`) })
	rules(t, RefusedChangedNothing, with(refusals(), bare),
		variant{"it wrote something", edits(field("c6", "values", list("v0", "v1", ""))),
			finds(broken("DU-08/no-effect", "a call that was answered with an error changed the state",
				"call: work_invalid {}", `its answer: {"isError":true}`, `before: "v0", "v1"`, `after: "v0", "v1", ""`)), nil},
	)
}
