package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// killedBehindStart is WR-02.
func killedBehindStart() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1", "state", "queued")) // c1
	s.look("anchor", "restarted", item("i1"), row("item_id", "i1", "state", "provisional"))
	s.look("intents", "restarted", item("i1"), row("seq", 1, "kind", "start", "state", "pending"))
	s.look("item", "converged", item("i1"), row("item_id", "i1"))
	return s.told()
}

func TestAnchorDurable(t *testing.T) {
	notWhole := func(stored string) variant {
		return variant{finds: finds(broken("WR-02", "a start was acknowledged and is not wholly in the store after the kill",
			"call c1 was answered with item i1; then the helper was killed", "after the restart the store holds "+stored+" for it"))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	const unseen = "the store was not seen after the restart for item i1"
	rules(t, AnchorDurable, killedBehindStart(),
		named(notWhole("0 anchors and 1 start intents"), "the anchor is lost", shows("anchor", "restarted")),
		named(notWhole("1 anchors and 0 start intents"), "the intent is dropped", shows("intents", "restarted")),
		named(notWhole("0 anchors and 0 start intents"), "both are lost", shows("anchor", "restarted"), shows("intents", "restarted")),
		named(notWhole("1 anchors and 0 start intents"), "another kind of intent is there", cell("intents", "restarted", 0, "kind", "note")),
		named(notWhole("1 anchors and 2 start intents"), "two intents", rowsLater("intents", "restarted", row("kind", "start"))),
		named(notWhole("2 anchors and 1 start intents"), "two anchors", rowsLater("anchor", "restarted", row("item_id", "i1"))),
		variant{"the item never comes", edits(shows("item", "converged")),
			finds(broken("WR-02", "an acknowledged start never became an item", "item i1")), nil},
		variant{"the anchor was not looked at", edits(noLook("anchor", "restarted")), nil, []string{unseen}},
		variant{"the intents were not looked at", edits(noLook("intents", "restarted")), nil, []string{unseen}},
		variant{"the look failed", edits(lookFails("anchor", "restarted")), nil, []string{unseen}},
		variant{"the library was not looked at", edits(noLook("item", "converged")), nil, []string{"the library was not seen at the end for item i1"}},
		variant{"the look at the library failed", edits(lookFails("item", "converged")), nil, []string{"the library was not seen at the end for item i1"}},
		variant{"the probe shows no kind", edits(noColumn("intents", "restarted", "kind")), nil, []string{`the probe intents shows no column "kind"`}},
		variant{"the start was not acknowledged", edits(ends("c1", unknown())), nil, []string{"no start was acknowledged"}},
		variant{"the start never returned", edits(neverReturned("c1")), nil, []string{"no start was acknowledged"}},
	)
}

// onceCreated is WR-09.
func onceCreated() history.History {
	s := newStory()
	p := params("task_key", "t1", "key", "k1")
	s.call("start", p, done("item_id", "i1", "state", "queued", "materialized", false)) // c1
	s.call("start", and(p, "moment", "converged"), done("item_id", "i1", "anchor", "live", "materialized", true))
	s.look("anchor", "converged", item("i1"), row("item_id", "i1", "state", "live"))
	s.look("item", "converged", item("i1"), row("item_id", "i1"))
	s.call("get", and(item("i1"), "moment", "converged"), done("item_id", "i1", "anchor", "live", "materialized", true)) // c3
	return s.told()
}

func TestBecomesLive(t *testing.T) {
	rules(t, BecomesLive, onceCreated(),
		variant{"the anchor is not live", edits(cell("anchor", "converged", 0, "state", "provisional")),
			finds(broken("WR-09", "an item exists and its anchor is not live", "item i1 is in the library", "its anchor is provisional")), nil},
		variant{"there is no anchor", edits(shows("anchor", "converged")),
			finds(broken("WR-09", "an item exists and its anchor is not live", "item i1 is in the library", "it has no anchor")), nil},
		variant{"an answer says that it is not there", edits(field("c3", "materialized", false)),
			finds(broken("WR-09", "an item exists and an answer denies it", "call c3 (get) answered materialized false, anchor live")), nil},
		variant{"an answer says that it is provisional", edits(field("c2", "anchor", "provisional")),
			finds(broken("WR-09", "an item exists and an answer denies it", "call c2 (start) answered materialized true, anchor provisional")), nil},
		variant{"an answer says nothing of it", edits(noField("c2", "anchor"), noField("c2", "materialized")),
			finds(broken("WR-09", "an item exists and an answer denies it", "call c2 (start) answered materialized <nil>, anchor <nil>")), nil},
		variant{"a read is refused for good", edits(ends("c3", refused("permanent", "never_issued"))),
			finds(broken("WR-09", "an item exists and an answer denies it", `call c3 (get) was refused: class "permanent", code "never_issued"`)), nil},
		variant{"a read is refused for a while, another answer says it", edits(ends("c3", refused("transient", "busy"))), nil, nil},
		variant{"nobody asked", edits(noCall("c2", "c3")), nil, []string{"nothing was answered about item i1 once it existed"}},
		variant{"a start is refused for good", edits(ends("c2", refused("permanent", "exists"))),
			finds(broken("WR-09", "an item exists and an answer denies it", `call c2 (start) was refused: class "permanent", code "exists"`)), nil},
		variant{"a start under another key is refused", edits(ends("c2", refused("permanent", "exists")), param("c2", "key", "k2")), nil, nil},
		variant{"one of them got no answer", edits(ends("c2", unknown())), nil,
			[]string{"call c2 (start) got no answer, so that it is not known what it says of item i1"}},
		variant{"nobody was answered", edits(ends("c2", unknown()), ends("c3", refused("transient", "busy"))), nil,
			[]string{"call c2 (start) got no answer, so that it is not known what it says of item i1", "nothing was answered about item i1 once it existed"}},
		variant{"the anchor was not looked at", edits(noLook("anchor", "converged")), nil, []string{"the anchor of item i1 was not seen at the end"}},
		variant{"the look at the anchor failed", edits(lookFails("anchor", "converged")), nil, []string{"the anchor of item i1 was not seen at the end"}},
		variant{"the item was not looked at", edits(noLook("item", "converged")), nil, []string{"no item was seen to exist"}},
		variant{"the look at the item failed", edits(lookFails("item", "converged")), nil, []string{"the look at the item of item i1 failed: the look itself failed"}},
		variant{"the item does not exist", edits(shows("item", "converged")), nil, []string{"item i1 was not seen to exist"}},
	)
}
