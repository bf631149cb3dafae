package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// queuedThenLive is WR-01: a start before the login, again after a restart, and
// once the item is there.
func queuedThenLive() history.History {
	s := newStory()
	p := params("task_key", "t1", "title", "Title", "key", "k1")
	s.call("start", p, done("item_id", "i1", "state", "queued", "materialized", false)) // c1
	s.look("item", "early", and(item("i1"), "call", "c1"))
	s.call("start", p, done("item_id", "i1", "state", "queued", "materialized", false))               // c2
	s.callOn("helper.2", "start", p, done("item_id", "i1", "state", "applied", "materialized", true)) // c3
	s.call("get", params("item_id", "i1"), done("item_id", "i1"))                                     // c4
	return s.told()
}

func TestQueuedWithID(t *testing.T) {
	const notSeen = "no start was answered at a moment at which its item was seen not to exist"
	asIf := func(state, materialized string) variant {
		return variant{finds: finds(broken("WR-01", "a start answered as if its item were there, and it was not",
			"answer c1: state "+state+", materialized "+materialized, "the app's own store holds no item i1"))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, QueuedWithID, queuedThenLive(),
		named(asIf("applied", "false"), "it answers applied", field("c1", "state", "applied")),
		named(asIf("queued", "true"), "it answers materialized", field("c1", "materialized", true)),
		named(asIf("queued", "<nil>"), "it does not say whether it is materialized", noField("c1", "materialized")),
		named(asIf("<nil>", "false"), "it does not say its state", noField("c1", "state")),
		variant{"it answers no ID", edits(each("c1", isCall("c1", history.Returned), func(e *history.Event) {
			delete(e.Call.Fields, "item_id")
			e.Call.Answer = json.RawMessage(`{"ok":true}`)
		})), finds(broken("WR-01", "a start was acknowledged without an item ID", `answer: {"ok":true}`)), nil},
		variant{"the item was there already", edits(rowsLater("item", "early", row("item_id", "i1"))), nil, []string{notSeen}},
		variant{"nobody looked", edits(noLook("item", "early")), nil, []string{notSeen}},
		variant{"the look failed", edits(lookFails("item", "early")), nil, []string{notSeen}},
		variant{"the look followed another call", edits(each("look", isLook("item", "early"), func(e *history.Event) { e.Look.Params["call"] = "c9" })), nil, []string{notSeen}},
		variant{"the look was for another item", edits(each("look", isLook("item", "early"), func(e *history.Event) { e.Look.Params["item_id"] = "i9" })), nil, []string{notSeen}},
		variant{"no start was acknowledged", edits(ends("c1", unknown()), neverReturned("c2"), ends("c3", refused("transient", "busy"))), nil, []string{"no start was acknowledged"}},
	)
}

func TestStableID(t *testing.T) {
	rules(t, StableID, queuedThenLive(),
		variant{"the ID changes when the item comes", edits(field("c3", "item_id", "i2")),
			finds(broken("WR-01", "the item ID of one start changed", `call c1 answered item "i1"`, `call c3 with the same key answered item "i2"`)), nil},
		variant{"a replay answers no ID", edits(noField("c2", "item_id")),
			finds(broken("WR-01", "the item ID of one start changed", `call c1 answered item "i1"`, `call c2 with the same key answered item ""`)), nil},
		variant{"a read answers another ID", edits(field("c4", "item_id", "i2")),
			finds(broken("WR-01", "a read of one item answered with another ID", `asked for "i1", answered "i2"`)), nil},
		variant{"a read answers no ID", edits(noField("c4", "item_id")), nil, []string{"call c4 (get) does not say which item it answers"}},
		variant{"a start under another key has another ID", edits(field("c2", "item_id", "i2"), param("c2", "key", "k2")), nil, nil},
		variant{"a replay is refused for good", edits(ends("c2", refused("permanent", "exists"))),
			finds(broken("WR-01", "one of several equal calls under one key was refused for good", `call c2 (start), one of 3 under key "k1": class "permanent", code "exists"`)), nil},
		variant{"a replay gets no answer", edits(ends("c2", unknown())), nil, []string{"call c2 (start) was not answered with an ID: unknown"}},
		variant{"a replay is turned away for a while", edits(ends("c2", refused("transient", "busy"))), nil, []string{"call c2 (start) was not answered with an ID: refused"}},
		variant{"it was not started again once the item was there", edits(noCall("c3")), nil, []string{"no start was acknowledged again once its item was there"}},
		variant{"it was started once", edits(noCall("c2", "c3")), nil,
			[]string{"no start was acknowledged twice under one key, so that its ID could not have changed"}},
		variant{"the replays got no answer", edits(ends("c2", unknown()), ends("c3", refused("transient", "busy"))), nil,
			[]string{"call c2 (start) was not answered with an ID: unknown", "call c3 (start) was not answered with an ID: refused",
				"no start was acknowledged twice under one key, so that its ID could not have changed"}},
	)
}
