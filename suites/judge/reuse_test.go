package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// keysReused is WR-08: a start and a note, their keys with other content, and a
// note under a key of its own.
func keysReused() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "title", "one", "key", "k1"), done("item_id", "i1")) // c1
	s.call("note", and(item("i1"), "text", "n", "key", "k2"), done("item_id", "i1"))              // c2
	anchor := row("item_id", "i1", "state", "provisional")
	start, note := row("seq", 1, "kind", "start"), row("seq", 2, "kind", "note", "text", "n")
	s.look("anchors", "keys-known", nil, anchor)
	s.look("intents", "keys-known", nil, start, note)
	s.call("start", params("task_key", "t1", "title", "two", "key", "k1", "reused", "another title"), refused("permanent", "key_reused"))         // c3
	s.call("note", and(item("i1"), "text", "m", "key", "k2", "reused", "another text"), refused("permanent", "key_reused"))                       // c4
	s.call("note", and(item("i1"), "text", "x", "key", "k1", "reused", "another kind of command"), refused("permanent", "key_reused"))            // c5
	s.call("start", params("task_key", "t2", "title", "x", "key", "k2", "reused", "another kind of command"), refused("permanent", "key_reused")) // c6
	s.look("anchors", "keys-reused", nil, anchor)
	s.look("intents", "keys-reused", nil, start, note)
	s.call("note", and(item("i1"), "text", "fresh", "key", "k3"), done("item_id", "i1")) // c7
	s.look("intents", "fresh-key", nil, start, note, row("seq", 3, "kind", "note", "text", "fresh"))
	return s.told()
}

func TestKeyReuseRefused(t *testing.T) {
	const title = "call c3 (start), a known key with another title"
	const body = "call c4 (note), a known key with another text"
	const unseen = "an intent under a fresh key was not seen in the store, so that one under a reused key would not have been seen either"
	unnamed := func(name, class, code string) variant {
		return variant{name, edits(ends("c4", refused(class, code))),
			finds(broken("WR-08", "a reused key was not refused for good and by name", body, `class "`+class+`", code "`+code+`"`)), nil}
	}
	unknownKey := []string{body + ": nothing had been acknowledged under that key",
		"call c6 (start), a known key with another kind of command: nothing had been acknowledged under that key"}
	left := func(facts ...string) []string { return facts }
	rules(t, KeyReuseRefused, keysReused(),
		variant{"the first one's answer is given", edits(ends("c3", done("item_id", "i1"))),
			finds(broken("WR-08", "a key was reused for other content and the call was acknowledged", title, "answer: ")), nil},
		unnamed("another reason is named", "permanent", "invalid_arguments"),
		unnamed("it is to be tried again", "transient", "key_reused"),
		unnamed("no reason is named", "", ""),
		variant{"the other content is queued", edits(rowsLater("intents", "keys-reused", row("seq", 3, "kind", "note", "text", "m")),
			rowsLater("intents", "fresh-key", row("seq", 4, "kind", "note", "text", "m"))),
			finds(broken("WR-08", "a call with a reused key left something in the store", left("intents before: 2 rows", "intents after: 3 rows")...)), nil},
		variant{"the first content is written over", edits(cell("intents", "keys-reused", 1, "text", "m")),
			finds(broken("WR-08", "a call with a reused key left something in the store", left("intents before: 2 rows", "intents after: 2 rows")...)), nil},
		variant{"another record is opened", edits(rowsLater("anchors", "keys-reused", row("item_id", "i2", "state", "provisional"))),
			finds(broken("WR-08", "a call with a reused key left something in the store", left("anchors before: 1 row", "anchors after: 2 rows")...)), nil},
		variant{"a reuse gets no answer", edits(ends("c4", unknown())), nil, []string{body + ": it got no answer, so that it is not known to be refused"}},
		variant{"a reuse never returned", edits(neverReturned("c4")), nil, []string{body + ": it got no answer, so that it is not known to be refused"}},
		variant{"the key was not known", edits(ends("c2", refused("transient", "busy"))), nil, unknownKey},
		variant{"the key was known later", edits(endedLate("c2")), nil, unknownKey},
		variant{"a note's key came again for a start only", edits(noCall("c4")), nil, []string{"no key of a note was reused for other content"}},
		variant{"a start's key came again for a start only", edits(noCall("c5")), nil, []string{"no key of a start was reused for another kind of command"}},
		variant{"another kind of command is accepted", edits(ends("c5", done("item_id", "i1"))),
			finds(broken("WR-08", "a key was reused for other content and the call was acknowledged", "call c5 (note), a known key with another kind of command", "answer: ")), nil},
		variant{"no key was reused", edits(noCall("c3", "c4", "c5", "c6")), nil, []string{"no key was reused"}},
		variant{"the store was not seen before", edits(noLook("anchors", "keys-known"), noLook("intents", "keys-known")), nil, []string{
			"the anchors were not seen both before and after the keys were reused", "the intents were not seen both before and after the keys were reused"}},
		variant{"the look after failed", edits(lookFails("intents", "keys-reused")), nil,
			[]string{"the intents were not seen both before and after the keys were reused", unseen}},
		variant{"the probe shows nothing", edits(shows("intents", "keys-known"), shows("intents", "keys-reused"), shows("intents", "fresh-key")), nil,
			[]string{"no intents were seen before the keys were reused, so that nothing more would have been seen either", unseen}},
		variant{"a fresh key leaves nothing either", edits(noRow("intents", "fresh-key", 2)), nil, []string{unseen}},
		variant{"the store was not seen behind the fresh key", edits(noLook("intents", "fresh-key")), nil, []string{unseen}},
	)
}
