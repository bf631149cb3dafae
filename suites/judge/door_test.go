package judge

import (
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// atRest looks at a store that holds n intents of one item.
func atRest(s *story, n int) {
	var intents []map[string]any
	for i := range n {
		intents = append(intents, row("seq", i+1, "item_id", "i1"))
	}
	s.look("anchors", "rest", nil, row("item_id", "i1"))
	s.look("intents", "rest", nil, intents...)
}

// door is WR-26: a valid call (c1) and an invalid one (c2) of the same tool.
func door() history.History {
	w := &spoken{story: newStory()}
	w.exchange("helper.1", "tools/list", "{}", `{"tools":[{"name":"work_status","inputSchema":{"type":"object","properties":{
		"status":{"enum":["doing"]},"key":{"type":"string","description":"a key"}}}}]}`)
	s := w.story
	atRest(s, 1)
	valid := s.invoke("status", params("key", "k"))
	s.end(valid, done("state", "queued"))
	atRest(s, 2)
	s.call("invalid", params("violation", "an unknown value", "keyword", "enum", "at", "status"), refused("permanent", "invalid_arguments"))
	atRest(s, 2)
	h := s.told()
	for _, e := range h.Events {
		if e.Call != nil {
			e.Call.Tool = "work_status"
		}
	}
	return h
}

// restRows sets what the nth look at rest through a probe showed.
func restRows(probe string, nth int, rows ...map[string]any) edit {
	return func(events []history.Event) []history.Event {
		n := 0
		return each(probe, func(e history.Event) bool {
			if e.Look == nil || e.Look.Probe != probe || e.Look.When != "rest" {
				return false
			}
			n++
			return n == nth
		}, func(e *history.Event) { e.Look.Rows = rows })(events)
	}
}

func TestRefusedAtTheDoor(t *testing.T) {
	const unseen = "no acknowledged call was seen to store anything, so that nothing would have been seen of a refused one"
	const unmade = "no call was made that the inputSchema forbids"
	const noValid = "no valid call of work_status was acknowledged, so that a refusal may have another cause"
	const untried = "work_status has 1 demands in its inputSchema that no call has broken: enum of status"
	const tried = "tried on work_status: enum 1"
	call := "call c2 (work_status), an unknown value"
	rules(t, RefusedAtTheDoor("WR-26", "enum"), door(),
		variant{"it is acknowledged", edits(ends("c2", done("state", "queued"))),
			finds(broken("WR-26", "1 of 1 calls that the inputSchema forbids were acknowledged", call, tried)), nil},
		variant{"it is refused and stored", edits(restRows("intents", 3, row("seq", 1, "item_id", "i1"), row("seq", 2, "item_id", "i1"), row("seq", 3, "item_id", "i1"))),
			finds(broken("WR-26", "1 of 1 calls that the inputSchema forbids left something in the store", call+": intents before 2 rows, after 3 rows", tried)), nil},
		variant{"it is refused and leaves an anchor", edits(restRows("anchors", 3, row("item_id", "i1"), row("item_id", "i2"))),
			finds(broken("WR-26", "1 of 1 calls that the inputSchema forbids left something in the store", call+": anchors before 1 row, after 2 rows", tried)), nil},
		variant{"it is refused and changes what was there", edits(restRows("intents", 3, row("seq", 1, "item_id", "i1"), row("seq", 2, "item_id", "i9"))),
			finds(broken("WR-26", "1 of 1 calls that the inputSchema forbids left something in the store", call+": intents before 2 rows, after 2 rows", tried)), nil},
		variant{"it gets no answer", edits(ends("c2", unknown())), nil,
			[]string{call + " got no answer, so that it is not known to be refused"}},
		variant{"it was not made", edits(noCall("c2")), nil, []string{unmade, untried}},
		variant{"another value was tried than of the enumeration", edits(param("c2", "at", "key")), nil, []string{untried}},
		variant{"the schema was not seen", edits(message(`"method":"tools/list"`, 1, "tools/list", "ping")), nil,
			[]string{"the inputSchema of work_status was not seen, so that it is not known what it forbids"}},
		variant{"the valid one was refused", edits(ends("c1", refused("permanent", "no"))), nil, []string{noValid, unseen}},
		variant{"the valid one stored nothing", edits(restRows("intents", 2, row("seq", 1, "item_id", "i1")), restRows("intents", 3, row("seq", 1, "item_id", "i1"))), nil, []string{unseen}},
		variant{"the store was not seen", edits(noLook("intents", "rest")), nil,
			[]string{"intents of call c2: the store was not seen both before and after it", unseen}},
		variant{"a look failed", edits(lookFails("anchors", "rest")), nil,
			[]string{"anchors of call c2: a look at the store failed: the look itself failed", unseen}},
		variant{"another call overlaps", edits(endedLate("c1")), nil,
			[]string{"anchors of call c2: call c1 was made around it as well", unseen}},
	)
}

func TestEveryDemandIsToBeTried(t *testing.T) {
	const untried = "work_status has 2 demands in its inputSchema that no call has broken: type of key, enum of status"
	r := RefusedAtTheDoor("WR-27")(with(door(), param("c2", "keyword", "additionalProperties"), param("c2", "at", "")))
	if len(r.Findings) != 0 || len(r.Doubts) != 1 || r.Doubts[0] != untried {
		t.Errorf("it is judged\n%s%q, expected %q", told(r.Findings), r.Doubts, untried)
	}
	if len(r.Tried) != 1 || r.Tried[0] != "tried on work_status: additionalProperties 1" {
		t.Errorf("tried is said to be %q", r.Tried)
	}
}

func TestDemandsOf(t *testing.T) {
	const raw = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"t","required":["name"],"additionalProperties":false,"properties":{
		"name":{"type":["string","null"],"minLength":0,"maxLength":3,"format":"date","x-unknown":1},
		"free":true,
		"open":{"type":"object","additionalProperties":true,"properties":{"enum":{"const":1}},"required":["enum"]},
		"list":{"minItems":1,"uniqueItems":false,"items":{"type":"object","properties":{"text":{"pattern":"x"}}}},
		"either":{"anyOf":[{"type":"string"},{"type":"number"}]},"same":{"$ref":"#/$defs/a"},"rest":{"additionalProperties":{"type":"string"},"uniqueItems":true}}}`
	var told []string
	for _, d := range demandsOf(decoded([]byte(raw)), "") {
		told = append(told, d.keyword+" of "+d.at)
	}
	want := []string{
		"additionalProperties of ", "anyOf of either", "pattern of list[].text", "type of list[]", "minItems of list", "maxLength of name", "type of name",
		"const of open.enum", "required of open.enum", "type of open", "additionalProperties of rest", "uniqueItems of rest", "$ref of same", "required of name",
	}
	if !slices.Equal(told, want) {
		t.Errorf("the demands are\n%q\nexpected\n%q", told, want)
	}
}
