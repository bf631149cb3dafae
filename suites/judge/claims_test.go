package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// claimStory is a story with looks around each call, and a write that the reads showed.
func claimStory(claim string, tools ...any) *story {
	s := newStory()
	s.mark("claims", "claim", claim, "tools", tools, "uncallable", []any{})
	pairs(s, "write", "w", value("v1"), done(), list("v0"), list("v0", "v1")) // c1 c2 c3
	return s
}

// readsBack is a read and a look of a pair.
func (s *story) readsBack(pair string, values ...string) {
	s.call("read", params("pair", pair), done("values", list(values...)))
	rows := []map[string]any{}
	for _, v := range values {
		rows = append(rows, row("value", v))
	}
	s.look("values", "around", params("pair", pair), rows...)
}

// calls is a call because of a claim.
func (s *story) claims(pair, turn string, e ending) {
	s.n++
	id := fmt.Sprintf("c%d", s.n)
	s.rec.Record(history.Event{Kind: history.KindCall, Call: &history.Call{
		ID: id, Phase: history.Invoked, Session: "helper.1", Role: "call", Tool: "t", Arguments: json.RawMessage(`{"a":1}`),
		Params: params("pair", pair, "turn", turn, "arguments", "generated"),
	}})
	s.end(id, e)
}

// tolds are the facts of a call of a claim.
func tolds(id string, more ...string) []string {
	return append([]string{"call " + id + `: t {"a":1}`, "its arguments: generated from its inputSchema", "its answer: "}, more...)
}

// rowsOfPair are what the nth look of a pair showed.
func rowsOfPair(pair string, nth int, rows ...map[string]any) edit {
	n := 0
	return each(pair, func(e history.Event) bool {
		if e.Look == nil || e.Look.Probe != "values" || e.Look.Params["pair"] != pair {
			return false
		}
		n++
		return n == nth
	}, func(e *history.Event) { e.Look.Rows = rows })
}

const (
	noControlOfClaims = "no valid write was seen to change what is read, so that a change would not have been noticed"
	noneCalled        = "none of the tools with CLAIM could be called (t); name a call of one in profiles.durability.calls"
)

func TestChangedOnce(t *testing.T) {
	s := claimStory("CLAIM", "t")
	s.readsBack("p", "v0", "v1")      // c4
	s.claims("p", "1", done())        // c5
	s.readsBack("p", "v0", "v1", "x") // c6
	s.claims("p", "2", done())        // c7
	s.readsBack("p", "x", "v0", "v1") // c8
	const again = "t claims idempotentHint: true, and its second call with the same arguments changed the state again, in 1 of 1 second call"
	rules(t, ChangedOnce, s.told(),
		variant{"the second call adds", edits(field("c8", "values", list("v0", "v1", "x", "x"))),
			finds(broken("DU-06", again, tolds("c7", `read back, new: "x"`)...)), nil},
		variant{"the second call takes away", edits(field("c8", "values", list("v0", "v1"))),
			finds(broken("DU-06", again, tolds("c7", `read back, gone: "x"`)...)), nil},
		variant{"the second call changes", edits(field("c8", "values", list("v0", "v1", "xx"))),
			finds(broken("DU-06", again, tolds("c7", `read back, gone: "x"`, `read back, new: "xx"`)...)), nil},
		variant{"only the probe shows it", edits(rowsOfPair("p", 3, row("value", "v0"), row("value", "v1"), row("value", "x"), row("value", "y"))),
			finds(broken("DU-06", again, tolds("c7", `probe values, new: "{\"value\":\"y\"}"`)...)), nil},
		variant{"nothing can be read then", edits(ends("c8", ending{Outcome: history.Refused, Reason: "cannot parse"})),
			finds(broken("DU-06", again, tolds("c7", "the read then: refused: cannot parse")...)), nil},
		variant{"the second call is refused", edits(ends("c7", refused("", ""))), nil, nil},
		variant{"the first call changed nothing", edits(field("c6", "values", list("v0", "v1")), field("c8", "values", list("v0", "v1")),
			rowsOfPair("p", 2), rowsOfPair("p", 3)), nil, nil},
		variant{"both were refused", edits(ends("c5", refused("", "")), ends("c7", refused("", ""))), nil, []string{noneCalled}},
		variant{"no tool was called", edits(noCall("c5", "c7")), nil, []string{noneCalled}},
		variant{"the first call got no answer", edits(ends("c5", unknown())), nil,
			[]string{"call c5 (t) got no answer, so that a change around call c7 could be its own"}},
		variant{"nothing was read between", edits(noCall("c4", "c6")), nil, []string{"the state was not read before call c7"}},
		variant{"nothing was read behind", edits(noCall("c8")), nil, []string{"the state was not read after call c7"}},
		variant{"the read between failed", edits(ends("c6", refused("", ""))), nil, []string{"the state was not read before call c7"}},
		variant{"a look failed", edits(lookFails("values", "around")), nil,
			[]string{"a look through the probe values around call c7 failed: the look itself failed"}},
		variant{"the write was not seen", edits(field("c3", "values", list("v0"))), nil, []string{noControlOfClaims}},
	)
}

func TestOnlyRead(t *testing.T) {
	s := claimStory("CLAIM", "t")
	s.readsBack("p", "v0", "v1") // c4
	s.claims("p", "", done())    // c5
	s.readsBack("p", "v1", "v0") // c6
	const changed = "t claims readOnlyHint: true and changed what can be read back, in 1 of 1 call"
	rules(t, OnlyRead, s.told(),
		variant{"it makes something", edits(field("c6", "values", list("v0", "v1", ""))),
			finds(broken("DU-07/read-back", changed, tolds("c5", `read back, new: ""`)...)), nil},
		variant{"it removes something", edits(field("c6", "values", list("v0"))),
			finds(broken("DU-07/read-back", changed, tolds("c5", `read back, gone: "v1"`)...)), nil},
		variant{"it was refused and changed something all the same", edits(ends("c5", ending{Outcome: history.Refused}), field("c6", "values", list("v0"))),
			finds(broken("DU-07/read-back", changed, tolds("c5", `read back, gone: "v1"`)...)), []string{noneCalled}},
		variant{"the probe shows less", edits(rowsOfPair("p", 2, row("value", "v1"))),
			finds(broken("DU-07/read-back", changed, tolds("c5", `probe values, gone: "{\"value\":\"v0\"}"`)...)), nil},
		variant{"it got no answer", edits(ends("c5", unknown())), nil,
			[]string{"call c5 (t) got no answer, so that a change around call c5 could be its own", noneCalled}},
		variant{"there is no probe", edits(noLook("values", "around")), nil, nil},
		variant{"the write was not seen", edits(noCall("c2")), nil, []string{noControlOfClaims}},
	)
	if tried := OnlyRead(s.told()).Tried; !slices.Equal(tried, []string{"CLAIM: 1 of 1 tool could be called", "called with generated arguments: t"}) {
		t.Errorf("tried %q", tried)
	}
}

func TestNothingDestroyed(t *testing.T) {
	s := claimStory("CLAIM", "t")
	s.readsBack("p", "v0", "v1")      // c4
	s.claims("p", "", done())         // c5
	s.readsBack("p", "v1", "x", "v0") // c6
	const destroyed = "t claims destructiveHint: false and changed or removed what was there, in 1 of 1 call"
	rules(t, NothingDestroyed, s.told(),
		variant{"it makes room", edits(field("c6", "values", list("v1", "x"))),
			finds(broken("DU-15", destroyed, tolds("c5", `read back, gone: "v0"`, `read back, new: "x"`, `probe values, new: "{\"value\":\"x\"}"`)...)), nil},
		variant{"it replaces", edits(field("c6", "values", list("v1", "x")), field("c4", "values", list("x", "v1", "x"))),
			finds(broken("DU-15", destroyed, tolds("c5", `read back, gone: "x"`, `probe values, new: "{\"value\":\"x\"}"`)...)), nil},
		variant{"only the probe shows it", edits(rowsOfPair("p", 2, row("value", "v0"))),
			finds(broken("DU-15", destroyed, tolds("c5", `read back, new: "x"`, `probe values, gone: "{\"value\":\"v1\"}"`)...)), nil},
		variant{"nothing can be read then", edits(ends("c6", ending{Outcome: history.Refused, Reason: "cannot parse"})),
			finds(broken("DU-15", destroyed, tolds("c5", "the read then: refused: cannot parse")...)), nil},
		variant{"it was refused", edits(ends("c5", refused("", ""))), nil, []string{noneCalled}},
		variant{"the write was not seen", edits(noCall("c2")), nil, []string{noControlOfClaims}},
	)
}

func TestStoreOnlyRead(t *testing.T) {
	s := claimStory("CLAIM", "t")
	digest := func(pair, when, is string) { s.look("state", when, params("pair", pair), row("digest", is)) }
	digest("w", "before", "1")
	digest("w", "after", "2")
	digest("p", "before", "2")
	s.claims("p", "", done()) // c4
	digest("p", "after", "2")
	state := func(nth int, is string) edit {
		n := 0
		return each("state", func(e history.Event) bool {
			if e.Look == nil || e.Look.Probe != "state" {
				return false
			}
			n++
			return n == nth
		}, func(e *history.Event) { e.Look.Rows = []map[string]any{row("digest", is)} })
	}
	const noStore = "no valid write was seen to change the declared state; does the target file's state include match the store?"
	rules(t, StoreOnlyRead, s.told(),
		variant{"its bytes changed", edits(state(4, "3")),
			finds(broken("DU-07/bytes", "t claims readOnlyHint: true and changed bytes of the store, in 1 of 1 call", tolds("c4")...)), nil},
		variant{"the store was not seen", edits(noLook("state", "after")), nil, []string{"the store was not seen around call c4", noStore}},
		variant{"the write changed none", edits(state(2, "1")), nil, []string{noStore}},
		variant{"nothing was called", edits(noCall("c4")), nil, []string{noneCalled}},
	)
}

func TestAFindingOfAClaimSaysOfHowManyCallsItIs(t *testing.T) {
	s := claimStory("CLAIM", "t")
	for _, pair := range []string{"p", "q", "r"} {
		s.readsBack(pair, "v0", "v1")
		s.claims(pair, "", done())
		s.readsBack(pair, "v0", "v1")
	}
	// The calls are c5, c8 and c11, and the reads behind them the next ones.
	rules(t, OnlyRead, s.told(), variant{"two of three", edits(field("c6", "values", list("v0")), field("c12", "values", list("v1"))),
		finds(broken("DU-07/read-back", "t claims readOnlyHint: true and changed what can be read back, in 2 of 3 calls",
			slices.Concat(tolds("c5", `read back, gone: "v1"`), tolds("c11", `read back, gone: "v0"`))...)), nil})
}

// looks is a further look of a pair, through a tool of its own.
func (s *story) looks(pair, answer string) {
	s.n++
	id := fmt.Sprintf("c%d", s.n)
	s.rec.Record(history.Event{Kind: history.KindCall, Call: &history.Call{
		ID: id, Phase: history.Invoked, Session: "helper.1", Role: "look", Tool: "tree", Params: params("pair", pair),
	}})
	s.end(id, text1(answer))
}

// lookedAt are two writes, the second one with looks around it, and a call with looks
// around it. words are what the looks show: twice before the write, behind it, before
// and behind the call.
func lookedAt(words ...string) history.History {
	s := newStory()
	s.mark("claims", "claim", "CLAIM", "tools", []any{"t"}, "uncallable", []any{})
	s.call("write", value("kept-one"), done())
	s.looks("w", words[0])
	s.looks("w", words[1])
	s.call("read", params("pair", "w", "moment", "before"), done("values", list("kept-one")))
	s.call("write", value("kept-two", "pair", "w"), done())
	s.call("read", params("pair", "w", "moment", "after"), done("values", list("kept-one", "kept-two")))
	s.looks("w", words[2])
	s.looks("p", words[3])
	s.readsBack("p", "kept-one", "kept-two")
	s.claims("p", "", done()) // c10
	s.readsBack("p", "kept-one", "kept-two")
	s.looks("p", words[4])
	return s.told()
}

func TestOtherReadOnlyToolsAreLookedThrough(t *testing.T) {
	const one, two = "1 note: kept-one", "2 notes: kept-one, kept-two"
	for name, c := range map[string]struct {
		words []string
		fact  string
		tried bool
	}{
		"all stays":                             {[]string{one, one, two, two, two}, "", true},
		"other words, another order, a counter": {[]string{one, one, two, two, "kept-two and kept-one, seen 3 times today"}, "", true},
		"one is gone":                           {[]string{one, one, two, two, "1 note: kept-one"}, `shown by tree, gone: "kept-two"`, true},
		"all are gone":                          {[]string{one, one, two, two, ""}, `shown by tree, gone: "kept-one", "kept-two"`, true},
		"more is shown":                         {[]string{"", "", one, one, two}, "", true},
		"it shows the last one only":            {[]string{"kept-one", "kept-one", "kept-two", "kept-two", ""}, "", false},
		"it loses one by itself":                {[]string{one, "", two, two, one}, "", false},
		"it shows nothing that was written":     {[]string{"ok", "ok", "ok", "ok", "none"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := lookedAt(c.words...)
			for _, of := range []struct {
				rule            Rule
				clause, summary string
			}{
				{OnlyRead, "DU-07/read-back", "t claims readOnlyHint: true and changed what can be read back, in 1 of 1 call"},
				{NothingDestroyed, "DU-15", "t claims destructiveHint: false and changed or removed what was there, in 1 of 1 call"},
			} {
				var want []reports.Finding
				if c.fact != "" {
					want = finds(broken(of.clause, of.summary, tolds("c10", c.fact)...))
				}
				expectRuling(t, of.rule, h, want, nil)
				if tried := slices.Contains(of.rule(h).Tried, "looked through beside the read: tree"); tried != c.tried {
					t.Errorf("told as looked through: %t, expected %t", tried, c.tried)
				}
			}
		})
	}
}
