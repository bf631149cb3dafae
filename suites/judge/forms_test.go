package judge

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// sentBack is a refusal with an answer of its own.
func sentBack(isError bool, outcome history.Outcome, raw string) ending {
	return ending{Outcome: outcome, IsError: isError, Answer: json.RawMessage(raw)}
}

const (
	toolErrorAnswer     = `{"isError":true,"content":[{"type":"text","text":"no"}]}`
	protocolErrorAnswer = `{"code":-32602,"message":"no"}`
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

// text1 is an answer of one text.
func text1(text string) ending {
	return ending{Outcome: history.Done, Answer: json.RawMessage(`{"content":[{"type":"text","text":` + string(payloadOf(text)) + `}]}`)}
}

func payloadOf(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// breachesBetweenReads is a tool of which the valid call (c2) writes and two that break
// the schema (c4, c6) are refused; reads stand before and behind all of them.
func breachesBetweenReads() history.History {
	s := newStory()
	shows := func(values ...string) { s.call("read", params("moment", "between"), done("values", list(values...))) }
	shows("a")                                                                                      // c1
	s.call("invalid", params("violation", "the valid one"), text1("Added note b."))                 // c2
	shows("a", "b")                                                                                 // c3
	s.call("invalid", params("violation", "one"), sentBack(true, history.Refused, toolErrorAnswer)) // c4
	shows("a", "b")                                                                                 // c5
	s.call("invalid", params("violation", "two"), sentBack(true, history.Refused, toolErrorAnswer)) // c6
	shows("a", "b")                                                                                 // c7
	return with(s.told(), each("c2", isCall("c2", history.Invoked), func(e *history.Event) { e.Call.Role, e.Call.Params = "call", nil }))
}

// blind lets nothing show that the valid call does.
func blind(all []history.Event) []history.Event {
	for _, id := range []string{"c3", "c5", "c7"} {
		all = field(id, "values", list("a"))(all)
	}
	return all
}

// wrongType gives c6 an argument of the wrong type, and takes it for a result.
func wrongType(all []history.Event) []history.Event {
	all = each("c6", isCall("c6", history.Invoked), func(e *history.Event) { e.Call.Arguments = json.RawMessage(`{"text":{"not":"of the right type"}}`) })(all)
	return ends("c6", text1("Added note c."))(all)
}

// readsAs gives the reads before and behind c6 answers in which the values stand among
// other things, of which the target file's jq reads nothing.
func readsAs(before, after string) edit {
	answered := func(id, text string) edit {
		return each(id, isCall(id, history.Returned), func(e *history.Event) { e.Call.Answer = text1(text).Answer })
	}
	return func(all []history.Event) []history.Event { return answered("c7", after)(answered("c5", before)(all)) }
}

const notToldOf = "not judged: whether work_invalid refused call c6 (two) cannot be told by its effect or by the form of its answer; say in the target file by refused what its refusals look like; its answer: "

func TestBreachesRefused(t *testing.T) {
	readsAfter := func(values ...string) edit { return field("c7", "values", list(values...)) }
	accepted := func(why string) []reports.Finding {
		return finds(broken("DU-08/refused", "work_invalid acknowledged 1 of 2 calls that its own inputSchema forbids", `call c6: two: {"violation":"two"}; `+why))
	}
	unmapped := ends("c6", ending{Outcome: history.Refused, Unmapped: true, Reason: "jq", Answer: json.RawMessage(`{"content":[]}`)})
	rules(t, BreachesRefused, breachesBetweenReads(),
		variant{"one takes effect", edits(ends("c6", text1("ok")), readsAfter("a", "b", "")), accepted("it changed what can be read back"), nil},
		variant{"one takes effect where the jq of the read does not look", edits(wrongType, readsAs("1: a, 2: b", "1: a, 2: b, 3: {'not': 'of the right type'}")),
			finds(broken("DU-08/refused", "work_invalid acknowledged 1 of 2 calls that its own inputSchema forbids", `call c6: two: {"text":{"not":"of the right type"}}; it changed what can be read back`)), nil},
		variant{"what one takes stood there before", edits(wrongType, readsAs("1: a, 2: b, 3: of the right type", "3: of the right type, 2: b, 1: a")), nil, nil},
		variant{"one is answered as the valid one is, without its effect", edits(ends("c6", text1("Added note b."))), nil, nil},
		variant{"one is answered as the valid one is, where none shows an effect", edits(blind, ends("c6", text1("Added note b."))), accepted(`it is answered as the valid call c2 is: ` + string(text1("Added note b.").Answer)), nil},
		variant{"one is refused in words only", edits(ends("c6", text1("Error: no such note"))), nil, nil},
		variant{"one is refused in other words", edits(ends("c6", text1("Das geht nicht."))), nil, nil},
		variant{"one is refused by protocol", edits(ends("c6", sentBack(true, history.Refused, protocolErrorAnswer))), nil, nil},
		variant{"one got no answer", edits(ends("c6", unknown())), nil, []string{"call c6 (work_invalid) got no answer, so that it is not known to be refused"}},
		variant{"the answer of one fits nothing", edits(unmapped), nil, nil},
		variant{"the valid one is refused", edits(ends("c2", refused("", "")), ends("c6", text1("ok"))), nil, []string{noBreach}},
		variant{"there is no valid one", edits(noCall("c2")), nil, []string{noBreach}},
		variant{"there is no invalid one", edits(noCall("c4", "c6")), nil, []string{noBreach}},
		variant{"nothing shows an effect, and one is told in words", edits(field("c3", "values", list("a")), field("c5", "values", list("a")), readsAfter("a"), ends("c6", text1("ok"))), nil, nil},
		variant{"nothing shows an effect, and the only one is told in words", edits(noCall("c4"), field("c3", "values", list("a")), field("c5", "values", list("a")), readsAfter("a"), ends("c6", text1("ok"))), nil,
			[]string{"whether a call was refused cannot be told of any: " + notToldOf + string(text1("ok").Answer)}},
	)
}

func TestAnswersOfOneForm(t *testing.T) {
	of := func(answer string) history.Operation {
		return history.Operation{Returned: &history.Call{Answer: json.RawMessage(answer)}}
	}
	texts := func(all ...string) history.Operation {
		parts := []map[string]string{}
		for _, text := range all {
			parts = append(parts, map[string]string{"type": "text", "text": text})
		}
		return of(string(payloadOf(map[string]any{"content": parts})))
	}
	for name, c := range map[string]struct {
		one, other history.Operation
		want       bool
	}{
		"the same words":                          {texts("No notes."), texts("No notes."), true},
		"other words":                             {texts("No notes."), texts("Cannot read notes."), false},
		"JSON with more in it":                    {texts(`{"notes": []}`), texts(`{"notes": [{"a": 1}]}`), true},
		"a JSON list and an empty one":            {texts(`[]`), texts(`[1, 2]`), true},
		"JSON with other keys":                    {texts(`{"notes": []}`), texts(`{"error": "no"}`), false},
		"JSON in which true is false":             {texts(`{"ok": true, "message": "done"}`), texts(`{"ok": false, "message": "no"}`), false},
		"JSON in which something is null":         {texts(`{"id": "a"}`), texts(`{"id": null}`), false},
		"JSON and words":                          {texts(`{"notes": []}`), texts("Error"), false},
		"words that look like the form of JSON":   {texts(`[]`), texts("list"), false},
		"structured content goes before the text": {of(`{"structuredContent": {"n": 1}, "content": [{"type": "text", "text": "x"}]}`), of(`{"structuredContent": {"n": 2}, "content": []}`), true},
		"structured content of another form":      {of(`{"structuredContent": {"n": 1}}`), of(`{"structuredContent": {"m": 1}}`), false},
		"JSON of nothing but texts":               {texts(`{"message": "Added."}`), texts(`{"message": "Cannot add."}`), false},
		"the same JSON of nothing but texts":      {texts(`{"message": "Added."}`), texts(`{"message": "Added."}`), true},
		"a JSON text":                             {texts(`"Added."`), texts(`"Cannot add."`), false},
		"nothing at all":                          {of(`{"content": []}`), of(`{"content": []}`), true},
	} {
		if got := sameForm(c.one, c.other); got != c.want {
			t.Errorf("%s: sameForm is %t, expected %t", name, got, c.want)
		}
	}
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
	worded := func(k, call, why string) []reports.Finding {
		return finds(broken("DU-19", "work_invalid answered "+k+" refusals as a result, which only its wording tells", call+" ("+why+")"))
	}
	declared := each("c6", isCall("c6", history.Invoked), func(e *history.Event) { e.Call.Params["declared"] = "yes" })
	rules(t, RefusedByStructure, breachesBetweenReads(),
		variant{"one that took no effect is a result", edits(ends("c6", text1("Error: no such note"))),
			worded("1 of 2", `call c6: {"violation":"two"}: "Error: no such note"`, "two; it changed nothing that can be read back, as a valid call does"), nil},
		variant{"no word of it matters", edits(ends("c6", text1("Danke!"))),
			worded("1 of 2", `call c6: {"violation":"two"}: "Danke!"`, "two; it changed nothing that can be read back, as a valid call does"), nil},
		variant{"one that took effect was no refusal", edits(ends("c6", text1("Error? No.")), field("c7", "values", list("a", "b", "c"))), nil, nil},
		variant{"one that took effect where the jq of the read does not look was no refusal", edits(wrongType, readsAs("1: a, 2: b", "1: a, 2: b, 3: {'not': 'of the right type'}")), nil, nil},
		variant{"behind one the read shows more, and not of whom", edits(wrongType, readsAs("2 notes: a, b", "3 notes: a, b")), nil, nil},
		variant{"behind one the read shows the same in another order", edits(wrongType, readsAs("2 notes: a, b", "2 notes: b, a")),
			worded("1 of 2", `call c6: {"text":{"not":"of the right type"}}: "Added note c."`, "two; it changed nothing that can be read back, as a valid call does"), nil},
		variant{"one that is answered as a valid one is may be none", edits(ends("c6", text1("Added note b."))), nil, nil},
		variant{"the target file takes a result for a refusal", edits(ends("c6", sentBack(false, history.Refused, `{"content":[{"type":"text","text":"try later"}]}`))),
			worded("1 of 2", `call c6: {"violation":"two"}: "try later"`, "two; a refusal, as the target file's predicates have it"), nil},
		variant{"a valid call begins as an error", edits(ends("c2", text1("Error, or so it seems"))), nil, nil},
		variant{"a JSON-RPC error is structure", edits(ends("c6", sentBack(true, history.Refused, protocolErrorAnswer))), nil, nil},
		variant{"a call got no answer", edits(ends("c6", unknown())), nil, nil},
		variant{"nothing of the tool shows", edits(blind, ends("c6", text1("Error: no such note"))), nil, nil},
		variant{"nothing of the tool shows, and the target file says that the call must be refused", edits(blind, declared, ends("c6", text1("Error: no such note"))),
			worded("1 of 2", `call c6: {"violation":"two"}: "Error: no such note"`, "two; the target file says that it must be refused, and it changed nothing that can be read back"), nil},
		variant{"nothing was refused", edits(noCall("c4", "c6")), nil, []string{"nothing was refused, so that nothing is known of what a refusal looks like"}},
	)
	r := RefusedByStructure(with(breachesBetweenReads(), blind, ends("c6", text1("no"))))
	if want := []string{notToldOf + string(text1("no").Answer), "1 refusal told by their structure"}; !slices.Equal(r.Tried, want) {
		t.Errorf("told as tried: %q, expected %q", r.Tried, want)
	}
}

func TestACallThatFitsNothingVoidsNoOther(t *testing.T) {
	h := with(breachesBetweenReads(), ends("c4", ending{Outcome: history.Refused, Unmapped: true, Answer: json.RawMessage(`{}`)}), ends("c6", text1("Error")))
	expectRuling(t, func(h history.History) Ruling { return Ruled(RefusedByStructure, h) }, h, finds(broken("DU-19", "work_invalid answered 1 of 1 refusal as a result, which only its wording tells",
		`call c6: {"violation":"two"}: "Error" (two; it changed nothing that can be read back, as a valid call does)`)), nil)
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
