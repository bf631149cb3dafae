package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// startedOnce is a start whose first answer was lost, retried twice.
func startedOnce() history.History {
	s := newStory()
	p := params("task_key", "t1", "title", "Title", "key", "k1")
	s.call("start", p, unknown())                                   // c1
	s.call("start", p, done("item_id", "i1", "state", "queued"))    // c2
	s.call("start", p, done("item_id", "i1", "materialized", true)) // c3
	s.look("intents", "converged", item("i1"), row("kind", "start", "state", "applied"), row("kind", "note", "state", "applied"))
	s.look("items", "converged", nil, row("item_id", "i0", "title", "Title of another"), row("item_id", "i1", "title", "Title"))
	s.look("anchors", "converged", params("task_key", "t1"), row("item_id", "i1", "state", "live"))
	return s.told()
}

func TestOneItemPerKey(t *testing.T) {
	rules(t, OneItemPerKey, startedOnce(),
		variant{"the retry is given another ID", edits(field("c3", "item_id", "i2"),
			each("look", isLook("intents", "converged"), func(e *history.Event) { delete(e.Look.Params, "item_id"); e.Look.Params["item_id"] = "i1" })),
			finds(broken("WR-06", "one idempotency key led to several items", `3 starts under key "k1" were answered with 2 item IDs`),
				broken("WR-06", "the anchor of a repeated start stands under another ID than the one answered", `answered "i2", in the store "i1"`),
				broken("WR-06", "the item of a repeated start stands under another ID than the one answered", `answered "i2", in the library "i1"`)),
			[]string{"the intents of item i2 were not seen at the end"}},
		variant{"two anchors", edits(rowsLater("anchors", "converged", row("item_id", "i2", "state", "provisional"))),
			finds(broken("WR-06", "one repeated start left several anchors, or none", `the store holds 2 anchors under task key "t1"`)), nil},
		variant{"no anchor", edits(shows("anchors", "converged")),
			finds(broken("WR-06", "one repeated start left several anchors, or none", `the store holds 0 anchors under task key "t1"`)), nil},
		variant{"two start intents", edits(cell("intents", "converged", 1, "kind", "start")),
			finds(broken("WR-06", "one repeated start left several start intents, or none", "item i1 has 2 start intents")), nil},
		variant{"no start intent", edits(noRow("intents", "converged", 0)),
			finds(broken("WR-06", "one repeated start left several start intents, or none", "item i1 has 0 start intents")), nil},
		variant{"two items", edits(rowsLater("items", "converged", row("item_id", "i2", "title", "Title"))),
			finds(broken("WR-06", "one repeated start left several items, or none", `the library holds 2 items titled "Title"`)), nil},
		variant{"no item", edits(noRow("items", "converged", 1)),
			finds(broken("WR-06", "one repeated start left several items, or none", `the library holds 0 items titled "Title"`)), nil},
		variant{"the anchor stands under another ID", edits(cell("anchors", "converged", 0, "item_id", "i2")),
			finds(broken("WR-06", "the anchor of a repeated start stands under another ID than the one answered", `answered "i1", in the store "i2"`)), nil},
		variant{"the item stands under another ID", edits(cell("items", "converged", 1, "item_id", "i2")),
			finds(broken("WR-06", "the item of a repeated start stands under another ID than the one answered", `answered "i1", in the library "i2"`)), nil},
		variant{"the library does not tell the IDs", edits(noColumn("items", "converged", "item_id")), nil, nil},
		variant{"the retry is refused for good", edits(ends("c2", refused("permanent", "exists"))),
			finds(broken("WR-06", "one of several equal calls under one key was refused for good",
				`call c2 (start), one of 3 under key "k1": class "permanent", code "exists"`)), nil},
		variant{"the retry is refused without a class", edits(ends("c3", refused("", ""))),
			finds(broken("WR-06", "one of several equal calls under one key was refused for good",
				`call c3 (start), one of 3 under key "k1": class "", code ""`)), nil},
		variant{"a retry is refused for a while with nothing stored", edits(ends("c2", refused("transient", "busy"))), nil, nil},
		variant{"the key with another content is refused", edits(ends("c3", refused("permanent", "key_reused")), param("c3", "title", "Other title")), nil, nil},
		variant{"none was ever acknowledged", edits(ends("c2", unknown()), neverReturned("c3")), nil,
			[]string{`no start under the repeated key "k1" was ever acknowledged`}},
		variant{"no key was used twice", edits(noCall("c1", "c2")), nil, []string{"no idempotency key was used twice"}},
		variant{"calls without a key are no repetition", edits(param("c1", "key", ""), param("c2", "key", ""), param("c3", "key", "")), nil,
			[]string{"no idempotency key was used twice"}},
		variant{"nothing was looked at", edits(noLook("anchors", "converged"), noLook("intents", "converged"), noLook("items", "converged")), nil,
			[]string{`the anchors of task key "t1" were not seen at the end`, "the intents of item i1 were not seen at the end", "the library's items were not seen at the end"}},
		variant{"every look failed", edits(lookFails("anchors", "converged"), lookFails("intents", "converged"), lookFails("items", "converged")), nil,
			[]string{`the anchors of task key "t1" were not seen at the end`, "the intents of item i1 were not seen at the end", "the library's items were not seen at the end"}},
		variant{"the probes lack columns", edits(noColumn("intents", "converged", "kind"), noColumn("items", "converged", "title")), nil,
			[]string{`the probe intents shows no column "kind"`, `the probe items shows no column "title"`}},
	)
}

func TestRacingStartsName(t *testing.T) {
	s := newStory()
	p := params("task_key", "t1", "title", "Title", "key", "k1")
	a := s.invokeOn("helper.1", "start", p)
	b := s.invokeOn("helper.2", "start", p)
	s.end(b, done("item_id", "i1"))
	s.end(a, done("item_id", "i1"))
	s.look("intents", "converged", item("i1"), row("kind", "start"))
	s.look("items", "converged", nil, row("item_id", "i1", "title", "Title"))
	s.look("anchors", "converged", params("task_key", "t1"), row("item_id", "i1"))
	rules(t, OneItemPerKey, s.told(),
		variant{"the first of them is refused for good", edits(ends("c1", refused("permanent", "exists"))),
			finds(broken("WR-06", "one of several equal calls under one key was refused for good",
				`call c1 (start), one of 2 under key "k1": class "permanent", code "exists"`)), nil},
		variant{"one of them is turned away for a while", edits(ends("c1", refused("transient", "busy"))), nil, nil},
	)
}

func TestRepeated(t *testing.T) {
	s := newStory()
	p := params("item_id", "i1", "text", "n", "key", "k1")
	s.call("note", p, unknown()) // c1
	s.call("note", p, done())    // c2
	const none = "no note was acknowledged that was sent again under its key"
	rules(t, Repeated("note"), s.told(),
		variant{"only one was sent", edits(noCall("c1")), nil, []string{none}},
		variant{"the second has another key", edits(param("c2", "key", "k2")), nil, []string{none}},
		variant{"the second has another text", edits(param("c2", "text", "m")), nil, []string{none}},
		variant{"neither has a key", edits(param("c1", "key", ""), param("c2", "key", "")), nil, []string{none}},
		variant{"the replay got no answer", edits(ends("c1", done()), ends("c2", unknown())), nil, []string{none}},
		variant{"the replay never returned", edits(neverReturned("c2")), nil, []string{none}},
		variant{"the replay was turned away for a while", edits(ends("c2", refused("transient", "busy"))), nil, []string{none}},
		variant{"the replay was refused for good", edits(ends("c1", done()), ends("c2", refused("permanent", "duplicate"))),
			finds(broken("WR-07", "one of several equal calls under one key was refused for good",
				`call c2 (note), one of 2 under key "k1": class "permanent", code "duplicate"`)), nil},
	)
	expectRuling(t, Repeated("start"), s.told(), nil, []string{"no start was acknowledged that was sent again under its key"})
}
