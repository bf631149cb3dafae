package judge

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// turnedAway is the refusal of a helper of version 3 beside an app of version 2.
func turnedAway() ending {
	return refused("permanent", "version_mismatch", "failure_reason", "the app speaks contract version 2, this helper speaks contract version 3")
}

// pairMet is WR-31 for a helper and an app, one of them of version 3: a start and a
// note are accepted, the app comes, further calls are made, and the record is there
// once both are of version 3.
func pairMet(helper, app int, outcome string, further ending) history.History {
	s := newStory()
	s.mark("pair", "helper", helper, "app", app, "outcome", outcome, "current", 3)
	start := params("task_key", "t1", "key", "k1", "title", "T1")
	s.call("start", and(start, "accepted", "yes"), done("item_id", "i1", "state", "queued"))                     // c1
	s.call("note", and(item("i1"), "text", "early", "key", "n1", "accepted", "yes"), done("item_id", "i1"))      // c2
	s.call("start", and(start, "moment", "meeting"), done("item_id", "i1", "state", "queued"))                   // c3
	s.call("start", and(start, "moment", "meeting"), either(further, done("item_id", "i1", "state", "applied"))) // c4
	anchors, intents := row("item_id", "i1", "task_key", "t1", "state", "live"), []map[string]any{
		row("seq", 1, "kind", "start", "item_id", "i1", "state", "pending"), row("seq", 2, "kind", "note", "item_id", "i1", "state", "pending")}
	s.look("anchors", "before-calls", nil, anchors)
	s.look("intents", "before-calls", nil, intents...)
	s.call("start", params("task_key", "t2", "key", "k2", "further", "yes"), either(further, done("item_id", "i2"))) // c5
	s.call("note", and(item("i1"), "text", "late", "further", "yes"), either(further, done("item_id", "i1")))        // c6
	s.call("get", and(item("i1"), "further", "yes"), either(further, done("item_id", "i1")))                         // c7
	s.look("anchors", "after-calls", nil, anchors)
	s.look("intents", "after-calls", nil, row("seq", 1, "kind", "start", "item_id", "i1", "state", "applied"), intents[1])
	s.call("start", and(start, "moment", "converged"), done("item_id", "i1", "state", "applied")) // c8
	s.look("anchors", "converged", nil, anchors)
	s.look("items", "converged", nil, row("item_id", "i1", "title", "T1", "notes", list("early")))
	return s.told()
}

// either is the first ending that says anything.
func either(a, b ending) ending {
	if a.Outcome != "" {
		return a
	}
	return b
}

func TestPairHolds(t *testing.T) {
	const refusedPair, agreed = "helper of version 3, app of version 2 (refused)", "helper of version 3, app of version 3 (agrees)"
	const refusal = `{"isError":true}`
	callSays := func(call, answer string) string { return fmt.Sprintf("call %s was answered: %s", call, answer) }
	rules(t, PairHolds, pairMet(3, 2, "refused", turnedAway()),
		variant{"a call is accepted", edits(ends("c5", done("item_id", "i9"))),
			finds(broken("WR-31", "a call was accepted although helper and app are of different versions", refusedPair, callSays("c5 (start)", ""))), nil},
		variant{"one version is named", edits(field("c6", "failure_reason", "the app speaks contract version 2")),
			finds(broken("WR-31", "a refusal does not name both versions", refusedPair, callSays("c6 (note)", refusal))), nil},
		variant{"a path is no version", edits(field("c6", "failure_reason", "the app speaks version 2, see /tmp/helper-3")),
			finds(broken("WR-31", "a refusal does not name both versions", refusedPair, callSays("c6 (note)", refusal))), nil},
		variant{"it is told by text alone", edits(field("c7", "failure_code", "")),
			finds(broken("WR-31", "a disagreement of versions was not told by structure", refusedPair, `call c7 (get): class "permanent", code ""`)), nil},
		variant{"it is told as if time could help", edits(field("c7", "failure_class", "transient")),
			finds(broken("WR-31", "a disagreement of versions was not told by structure", refusedPair, `call c7 (get): class "transient", code "version_mismatch"`)), nil},
		variant{"an answer is lost", edits(ends("c6", unknown())), nil, []string{"call c6 (note) got no answer"}},
		variant{"a refused call is stored", edits(shows("intents", "after-calls", row("seq", 1, "kind", "start", "item_id", "i1"), row("seq", 2, "kind", "note", "item_id", "i1"), row("seq", 3, "kind", "note", "item_id", "i1"))),
			finds(broken("WR-31", "a call was refused because of its version and left something in the store", refusedPair,
				`intents before: "1 start i1", "2 note i1"`, `intents after: "1 start i1", "2 note i1", "3 note i1"`)), nil},
		variant{"the store was not seen", edits(noLook("anchors", "after-calls")), nil, []string{"the anchors were not seen both before and after the refused calls"}},
		variant{"the store shows nothing", edits(shows("intents", "before-calls")), nil,
			[]string{"no intents were seen before the refused calls, so that nothing more would have been seen either"}},
		variant{"nobody is told", edits(ends("c4", done("item_id", "i1", "state", "queued"))),
			finds(broken("WR-31", "what was accepted is neither applied nor refused: it stays provisional without end", refusedPair, "the start was asked for 2 times")), nil},
		variant{"nobody asked", edits(noCall("c3", "c4")), nil, []string{"nobody asked about what had been accepted"}},
		variant{"nothing was accepted", edits(noCall("c1", "c2")), nil, []string{"nothing was accepted before helper and app met"}},
		variant{"hardly anything was called", edits(noCall("c6", "c7")), nil, []string{"1 call made once the pair had met, at least 3 are needed"}},
		variant{"it became no record", edits(shows("items", "converged")), finds(
			broken("WR-31", "what had been accepted became no record, also with helper and app of one version", refusedPair, "call c1 (start) was accepted before they met", callSays("c8 (start)", ""), "the library holds 0 items"),
			broken("WR-31", "what had been accepted became no record, also with helper and app of one version", refusedPair, "call c2 (note) was accepted before they met", callSays("c8 (start)", ""), "the library holds 0 items")), nil},
		variant{"it came under another ID", edits(field("c8", "item_id", "i2"), shows("items", "converged", row("item_id", "i2", "title", "T1", "notes", list("early")))), finds(
			broken("WR-31", "what had been accepted came under another ID", refusedPair, "call c1 (start) was accepted before they met", `answered "i1", then "i2"`),
			broken("WR-31", "what had been accepted came under another ID", refusedPair, "call c2 (note) was accepted before they met", `answered "i1", then "i2"`)), nil},
		variant{"there are two records", edits(shows("items", "converged", row("item_id", "i1", "title", "T1", "notes", list("early")), row("item_id", "i2", "title", "T1"))), finds(
			broken("WR-31", "what had been accepted became more than one record", refusedPair, "call c1 (start) was accepted before they met")), nil},
		variant{"the note is lost", edits(cell("items", "converged", 0, "notes", list())), finds(
			broken("WR-31", "a note that had been accepted is not on the record once", refusedPair, "call c2 (note) was accepted before they met", "the record shows nothing")), nil},
		variant{"the anchor stays provisional", edits(cell("anchors", "converged", 0, "state", "provisional")), finds(
			broken("WR-31", "the anchor of a record stays provisional with helper and app of one version", refusedPair, "call c1 (start) was accepted before they met", "item i1"),
			broken("WR-31", "the anchor of a record stays provisional with helper and app of one version", refusedPair, "call c2 (note) was accepted before they met", "item i1")), nil},
		variant{"the end was not seen", edits(noLook("items", "converged")), nil,
			[]string{"anchors and items were not both seen once helper and app agreed", "anchors and items were not both seen once helper and app agreed"}},
	)
	t.Run("agreeing", func(t *testing.T) {
		rules(t, PairHolds, pairMet(3, 3, "agrees", ending{}),
			variant{"a call is refused", edits(ends("c6", turnedAway())),
				finds(broken("WR-31", "a call was refused although helper and app are of the same version", agreed, callSays("c6 (note)", refusal))), nil})
	})
}

// laterWordsTried is WR-31 for a helper of version 3 that is called with words of
// another version.
func laterWordsTried() history.History {
	s := newStory()
	s.mark("supported", "version", 3, "current", 3)
	anchor, intent := row("item_id", "i1", "task_key", "t1"), row("seq", 1, "kind", "start", "item_id", "i1")
	s.call("start", params("task_key", "t1"), done("item_id", "i1")) // c1
	s.look("anchors", "before-calls", nil, anchor)
	s.look("intents", "before-calls", nil, intent)
	s.call("start", params("task_key", "t2", "later", "a field"), refused("permanent", "invalid_arguments", "failure_reason", "unknown field; this is contract version 3")) // c2
	s.look("anchors", "after-calls", nil, anchor)
	s.look("intents", "after-calls", nil, intent)
	s.look("intents", "converged", nil, intent, row("seq", 2, "kind", "start", "item_id", "i3"))
	return s.told()
}

func TestLaterWordsRefused(t *testing.T) {
	const what = "a helper of version 3 was called with a field"
	said := func(answer json.RawMessage) string { return "call c2 (start) was answered: " + string(answer) }
	rules(t, LaterWordsRefused, laterWordsTried(),
		variant{"it is accepted", edits(ends("c2", done("item_id", "i2"))),
			finds(broken("WR-31", "a field or word of another version was accepted", what, said(nil))), nil},
		variant{"no version is named", edits(field("c2", "failure_reason", "unknown field 3")),
			finds(broken("WR-31", "the refusal of a field or word of another version does not name the version that is supported", what, said(json.RawMessage(`{"isError":true}`)))), nil},
		variant{"it has no code", edits(field("c2", "failure_code", "")),
			finds(broken("WR-31", "a disagreement of versions was not told by structure", what, said(json.RawMessage(`{"isError":true}`)))), nil},
		variant{"it got no answer", edits(ends("c2", unknown())), nil, []string{what + ", and gave no answer"}},
		variant{"nothing was tried", edits(noCall("c2")), nil, []string{"no field and no word of another version was tried"}},
		variant{"it is stored", edits(shows("anchors", "after-calls", row("item_id", "i1", "task_key", "t1"), row("item_id", "i2", "task_key", "t2"))),
			finds(broken("WR-31", "a field or word of another version was refused and left something in the store", "helper of version 3",
				`anchors before: "t1 i1"`, `anchors after: "t1 i1", "t2 i2"`)), nil},
		variant{"no good call was seen", edits(noLook("intents", "converged")), nil,
			[]string{"a good call was not seen in the store, so that a refused one would not have been seen either"}},
	)
}
