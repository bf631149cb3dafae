package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// spoken is a story in which the raw messages are told as well.
type spoken struct {
	*story
	id int
}

// exchange is one request and its answer, as raw messages.
func (w *spoken) exchange(session, method, params, result string) {
	w.id++
	say := func(outgoing bool, raw string) {
		w.rec.Record(history.Event{Kind: history.KindMessage, Message: &history.Message{Session: session, Outgoing: outgoing, Raw: raw}})
	}
	say(true, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.id, method, params))
	say(false, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, w.id, result))
}

// asked is a call of work_note with its messages.
func (w *spoken) asked(session, content string, e ending) string {
	result := fmt.Sprintf(`{"content":[],"structuredContent":%s,"isError":%t}`, content, e.IsError)
	w.exchange(session, "tools/call", `{"name":"work_note","arguments":{}}`, result)
	e.Answer = json.RawMessage(result)
	return w.callOn(session, "note", params("key", "k"), e)
}

const noteOutput = `{"type":"object","required":["state"],"properties":{
	"state":{"type":"string","enum":["queued","failed"]},
	"commands":{"type":"array","items":{"properties":{"state":{"enum":["queued","failed"]}}}},
	"failure":{"$ref":"#/$defs/failure"}},
	"$defs":{"failure":{"type":"object","properties":{"class":{"enum":["transient","permanent","blocked"]},"code":{"anyOf":[{"enum":["gone"]},{"enum":["busy"]}]}}}}}`

func (w *spoken) listed(session string) {
	w.exchange(session, "tools/list", "{}", `{"tools":[{"name":"work_note","inputSchema":{"properties":{"status":{"enum":["doing","done"]}}},"outputSchema":`+noteOutput+`}]}`)
}

// answers is WR-35: two sessions, an answer, an error, and a JSON-RPC error.
func answers() history.History {
	w := &spoken{story: newStory()}
	w.listed("helper.1")
	w.asked("helper.1", `{"state":"queued","commands":[{"state":"failed"}]}`, done("state", "queued"))                                       // c1
	w.asked("helper.1", `{"state":"failed","failure":{"class":"permanent","code":"gone"}}`, refused("permanent", "gone", "state", "failed")) // c2
	w.listed("helper.2")
	w.asked("helper.2", `{"state":"queued"}`, done("state", "queued")) // c3
	return w.told()
}

// message changes the nth message that holds a text.
func message(holds string, nth int, old, new string) edit {
	return func(events []history.Event) []history.Event {
		n := 0
		return each(holds, func(e history.Event) bool {
			if e.Message == nil || !strings.Contains(e.Message.Raw, holds) {
				return false
			}
			n++
			return n == nth
		}, func(e *history.Event) { e.Message.Raw = strings.ReplaceAll(e.Message.Raw, old, new) })(events)
	}
}

func TestAnswersMatchSchemas(t *testing.T) {
	const note, list = `"structuredContent"`, `"tools":[`
	different := broken("WR-35", "tools/list is not the same for every session", "session helper.1 and session helper.2 are told different things", "different: work_note")
	rules(t, AnswersMatchSchemas, answers(),
		variant{"a restarted helper tells another schema", edits(message(list, 2, `"queued","failed"`, `"failed","queued"`)), finds(different), nil},
		variant{"a restarted helper tells another description", edits(message(list, 2, `"name":"work_note"`, `"name":"work_note","description":"since 12:03"`)), finds(different), nil},
		variant{"a restarted helper tells of another tool", edits(message(list, 2, `"tools":[`, `"tools":[{"name":"work_new"},`)),
			finds(broken("WR-35", "tools/list is not the same for every session", "session helper.1 and session helper.2 are told different things", "different: work_new")), nil},
		variant{"no outputSchema is declared", edits(message(list, 1, "outputSchema", "other"), message(list, 2, "outputSchema", "other")),
			finds(broken("WR-35", "1 tools declare no outputSchema", "work_note"),
				broken("WR-35", "states are no enumeration in the outputSchema", `work_note: state ("failed" at /state)`, `work_note: state ("queued" at /state)`)), nil},
		variant{"an answer without structured content", edits(message(note, 1, "structuredContent", "other")),
			finds(broken("WR-35", "1 of 3 answers have no structured content", "work_note in session helper.1")), nil},
		variant{"an error without structured content is as good", edits(message(note, 2, "structuredContent", "other")), nil,
			[]string{"of 3 structured answers 2 were successes and 0 were errors; at least one of each is needed"}},
		variant{"one session only", edits(message(list, 2, `"tools":[`, `"toolz":[`), func(events []history.Event) []history.Event { return events[:len(events)-6] }), nil,
			[]string{"tools/list was told to 1 sessions; it is needed before and after a restart"}},
	)
}

func TestAnswersThatDoNotMatch(t *testing.T) {
	for _, tt := range []struct{ name, old, new, why string }{
		{"a word of no enumeration", `"state":"queued"`, `"state":"waiting"`, "at '/state': value must be one of 'queued', 'failed'"},
		{"what is required is missing", `"state":"queued",`, ``, "missing property 'state'"},
		{"another type", `"state":"queued"`, `"state":7`, "at '/state': got number, want string"},
		{"within a list", `[{"state":"failed"}]`, `[{"state":"late"}]`, "at '/commands/0/state': value must be one of 'queued', 'failed'"},
	} {
		r := AnswersMatchSchemas(with(answers(), message(`"structuredContent"`, 1, tt.old, tt.new)))
		if len(r.Findings) != 1 || r.Findings[0].Summary != "1 of 3 answers do not match the outputSchema of their tool" || !strings.Contains(r.Findings[0].Facts[0], tt.why) {
			t.Errorf("%s is judged\n%s%q", tt.name, told(r.Findings), r.Doubts)
		}
	}
	r := AnswersMatchSchemas(newStory().told())
	if len(r.Findings) != 0 || len(r.Doubts) != 1 {
		t.Errorf("an empty history is judged\n%s%q", told(r.Findings), r.Doubts)
	}
}

// everyWord is WR-41: an answer for each state and class of the contract.
func everyWord() history.History {
	w := &spoken{story: newStory()}
	output := strings.NewReplacer(`"queued","failed"`, `"queued","retrying","applied","failed"`, `"failure":`, `"anchor":{"enum":["provisional","live","dead"]},"failure":`).Replace(noteOutput)
	w.exchange("helper.1", "tools/list", "{}", `{"tools":[{"name":"work_note","outputSchema":`+output+`}]}`)
	for _, a := range []struct{ state, anchor, class string }{
		{"queued", "provisional", "blocked"}, {"retrying", "provisional", "transient"}, {"applied", "live", ""}, {"failed", "dead", "permanent"},
	} {
		failure, fields := "", []any{"state", a.state, "anchor", a.anchor}
		if a.class != "" {
			failure = fmt.Sprintf(`,"failure":{"class":%q,"code":"gone"}`, a.class)
			fields = append(fields, "failure_class", a.class, "failure_code", "gone")
		}
		w.asked("helper.1", fmt.Sprintf(`{"state":%q,"anchor":%q,"title":"applied","commands":[{"state":%q}]%s}`, a.state, a.anchor, a.state, failure), done(fields...))
	}
	return w.told()
}

// answered changes the answer of a call, and what was mapped of it.
func answered(id, old, new string) edit {
	return each(id, isCall(id, history.Returned), func(e *history.Event) {
		e.Call.Answer = json.RawMessage(strings.ReplaceAll(string(e.Call.Answer), old, new))
	})
}

func TestWordsAreListed(t *testing.T) {
	unlisted := func(fact string) variant {
		return variant{finds: finds(broken("WR-41", "1 answered words are in no enumeration of the outputSchema", fact))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, WordsAreListed, everyWord(),
		named(unlisted(`work_note: "locked" as failure_code`), "a code of its own", answered("c4", `"gone"`, `"locked"`), field("c4", "failure_code", "locked")),
		named(unlisted(`work_note: "fatal" at /failure/class`), "a class of its own that is not mapped", answered("c4", `"permanent"`, `"fatal"`)),
		named(unlisted(`work_note: "late" at /commands/0/state`), "a state of its own further down", answered("c1", `[{"state":"queued"}]`, `[{"state":"late"}]`)),
		variant{"the states are free texts", edits(message(`"tools":[`, 1, `"enum":["queued","retrying","applied","failed"]`, `"minLength":1`)),
			finds(broken("WR-41", "4 answered words are in no enumeration of the outputSchema", `work_note: "applied" as state`, `work_note: "failed" as state`,
				`work_note: "queued" as state`, `work_note: "retrying" as state`)), nil},
		variant{"a word that the vocabulary changed is not looked for", edits(answered("c1", `"queued"`, `"failed"`)), nil, nil},
		variant{"a state was not answered", edits(noCall("c2")), nil, []string{`no answer had the state "retrying"`, `no answer had the failure_class "transient"`}},
		variant{"tools/list was not asked", edits(message(`"method":"tools/list"`, 1, "tools/list", "ping")), nil, []string{"tools/list was not seen, so that no outputSchema is known"}},
	)
}

// offered is WR-41: both values of an enumeration, applied.
func offeredValues() history.History {
	w := &spoken{story: newStory()}
	w.exchange("helper.1", "tools/list", "{}", `{"tools":[{"name":"work_status","inputSchema":{"properties":{"status":{"enum":["doing","done"]}}}}]}`)
	for i, value := range []string{"doing", "done"} {
		id := fmt.Sprintf("i%d", i+1)
		w.call("status", and(item(id), "offered", value, "property", "status"), done("item_id", id)) // c1, c2
		w.look("intents", "converged", item(id), row("seq", 1, "state", "applied"), row("seq", 2, "state", "applied"))
		w.look("item", "converged", item(id), row("item_id", id, "status", value))
	}
	return w.told()
}

func TestOfferedIsApplied(t *testing.T) {
	second := `call c2: work_status with status "done"`
	rules(t, OfferedIsApplied, offeredValues(),
		variant{"one is refused", edits(ends("c2", refused("permanent", "invalid"))),
			finds(broken("WR-41", "a value that the inputSchema offers was refused", second, `answer: {"isError":true}`)), nil},
		variant{"one fails", edits(lookOf("i2", "intents", "converged", func(l *history.Look) { l.Rows[1]["state"] = "failed" }), lookOf("i2", "intents", "converged", func(l *history.Look) { l.Rows[1]["code"] = "invalid_content" })),
			finds(broken("WR-41", "a value that the inputSchema offers was not applied", second, `intent 2 is "failed", code "invalid_content": `)), nil},
		variant{"one is applied and does nothing", edits(lookOf("i2", "item", "converged", func(l *history.Look) { l.Rows[0]["status"] = "todo" })),
			finds(broken("WR-41", "an offered status was applied and is not on the record", second, `the record shows "todo"`)), nil},
		variant{"one is stored nowhere", edits(lookOf("i2", "intents", "converged", func(l *history.Look) { l.Rows = nil })),
			finds(broken("WR-41", "an offered value was acknowledged, and nothing of it is stored", second)), nil},
		variant{"one got no answer", edits(ends("c2", unknown())), nil, []string{second + " got no answer, so that it is not known to be accepted"}},
		variant{"one was not tried", edits(noCall("c2")), nil, []string{"the offered value was not tried: work_status status done"}},
		variant{"none was tried", edits(noCall("c1", "c2")), nil, []string{"no value of an enumeration was tried"}},
		variant{"the records were not seen", edits(noLook("item", "converged")), nil, []string{
			`call c1: work_status with status "doing": its intents and its record were not both seen at the end`,
			second + ": its intents and its record were not both seen at the end"}},
	)
}

// A server that asks its caller for something counts its own requests, from the same
// numbers.
func TestAnAnswerToTheServersOwnRequestEndsNoExchange(t *testing.T) {
	message := func(outgoing bool, raw string) history.Event {
		return history.Event{Kind: history.KindMessage, Message: &history.Message{Session: "helper.1", Outgoing: outgoing, Raw: raw}}
	}
	h := history.History{Events: []history.Event{
		message(true, `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`),
		message(false, `{"jsonrpc":"2.0","id":4,"method":"roots/list"}`),
		message(true, `{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no roots"}}`),
		message(false, `{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"add"}]}}`),
	}}
	lists := toolLists(h)
	if len(lists) != 1 || !slices.Equal(lists[0].names(), []string{"add"}) {
		t.Errorf("the lists are %v, expected one that names add", lists)
	}
}
