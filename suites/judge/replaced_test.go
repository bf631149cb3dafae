package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// startedBesideLive is the first half of WR-16.
func startedBesideLive() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "title", "one", "key", "k1"), done("item_id", "i1")) // c1
	s.look("item", "early", item("i1"), row("item_id", "i1", "title", "one"))
	s.call("start", params("task_key", "t1", "title", "two", "key", "k2", "beside", "i1"), done("item_id", "i1", "materialized", true)) // c2
	s.look("items", "converged", nil, row("item_id", "i0", "title", "zero"), row("item_id", "i1", "title", "one"))
	s.look("anchors", "converged", params("task_key", "t1"), row("item_id", "i1", "state", "live"))
	return s.told()
}

func TestLiveIsReturned(t *testing.T) {
	const call = `call c2 under task key "t1"`
	const unseen = "item i1 was not seen in the library when its task was started again"
	rules(t, LiveIsReturned, startedBesideLive(),
		variant{"another ID is answered", edits(field("c2", "item_id", "i2")),
			finds(broken("WR-16", "a start on a task whose record is live was answered with another ID", call, `the record is "i1", answered "i2"`)), nil},
		variant{"no ID is answered", edits(noField("c2", "item_id")),
			finds(broken("WR-16", "a start on a task whose record is live was answered with another ID", call, `the record is "i1", answered ""`)), nil},
		variant{"the record is denied", edits(field("c2", "materialized", false)),
			finds(broken("WR-16", "a start on a task whose record is live denies the record", call, "materialized false")), nil},
		variant{"it is refused for good", edits(ends("c2", refused("permanent", "exists"))),
			finds(broken("WR-16", "a start on a task whose record is live was refused for good", call, `class "permanent", code "exists"`)), nil},
		variant{"it is refused for a while", edits(ends("c2", refused("transient", "busy"))), nil, []string{call + " was not answered: refused"}},
		variant{"it gets no answer", edits(ends("c2", unknown())), nil, []string{call + " was not answered: unknown"}},
		variant{"a second item is made", edits(rowsLater("items", "converged", row("item_id", "i2", "title", "two"))),
			finds(broken("WR-16", "a start on a task whose record is live made a second item", `the record is "i1", item "i2" carries the later start's title`)), nil},
		variant{"the record takes the later title", edits(cell("items", "converged", 1, "title", "two")), nil, nil},
		variant{"the record is gone", edits(noRow("items", "converged", 1)),
			finds(broken("WR-16", "the live record is not in the library once", "item i1 stands there 0 times")), nil},
		variant{"a second anchor is left", edits(rowsLater("anchors", "converged", row("item_id", "i2", "state", "provisional"))),
			finds(broken("WR-16", "a start on a task whose record is live left another anchor, or none", `the store holds 2 anchors under task key "t1"`)), nil},
		variant{"the item was not there", edits(shows("item", "early")), nil, []string{unseen}},
		variant{"the item was not looked at", edits(noLook("item", "early")), nil, []string{unseen}},
		variant{"the end was not looked at", edits(noLook("items", "converged"), noLook("anchors", "converged")), nil,
			[]string{`the anchors of task key "t1" were not seen at the end`, "the library's items were not seen at the end"}},
		variant{"the probe shows no title", edits(noColumn("items", "converged", "title")), nil, []string{`the probe items shows no column "title"`}},
		variant{"the task was not started again", edits(noCall("c2")), nil, []string{"no task was started again while its record was live"}},
	)
}

// startedOnGone is the other half.
func startedOnGone() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1")) // c1
	s.look("anchor", "held", item("i1"), row("item_id", "i1", "state", "live"))
	s.look("item", "held", item("i1"))
	s.call("start", params("task_key", "t1", "key", "k2", "after", "i1"), done("item_id", "i2", "state", "queued")) // c2
	s.look("anchors", "answered", params("task_key", "t1"), row("item_id", "i1", "state", "dead"), row("item_id", "i2", "state", "provisional"))
	s.look("anchor", "converged", item("i1"), row("item_id", "i1", "state", "dead"))
	s.look("anchor", "converged", item("i2"), row("item_id", "i2", "state", "live"))
	return s.told()
}

func TestGoneIsReplaced(t *testing.T) {
	const call = `call c2 under task key "t1"`
	const dead, becomes = "the anchor of the item that was found gone is not dead", "the ID that replaced a gone item did not become a record"
	state := func(id, state string) edit {
		return lookOf(id, "anchor", "converged", func(l *history.Look) { l.Rows[0]["state"] = state })
	}
	none := func(id string) edit { return lookOf(id, "anchor", "converged", func(l *history.Look) { l.Rows = nil }) }
	rules(t, GoneIsReplaced, startedOnGone(),
		variant{"the old ID is answered", edits(field("c2", "item_id", "i1")),
			finds(broken("WR-16", "a start was answered with the ID of an item that is gone", call, `item i1 was deleted, answered "i1"`)), nil},
		variant{"no ID is answered", edits(noField("c2", "item_id")),
			finds(broken("WR-16", "a start was answered with the ID of an item that is gone", call, `item i1 was deleted, answered ""`)), nil},
		variant{"it is refused for good", edits(ends("c2", refused("permanent", "item_deleted"))),
			finds(broken("WR-16", "a start whose live anchor's item is gone was refused for good", call, `class "permanent", code "item_deleted"`)), nil},
		variant{"it is refused for a while", edits(ends("c2", refused("transient", "busy"))), nil, []string{call + " was not answered: refused"}},
		variant{"it gets no answer", edits(neverReturned("c2")), nil, []string{call + " was not answered: unknown"}},
		variant{"the old anchor is dead only later", edits(cell("anchors", "answered", 0, "state", "live")),
			finds(broken("WR-16", "a start was given a new ID and left the anchor of the gone item as it was", `call c2: when it was answered anchor i1 was "live"`)), nil},
		variant{"the old anchor is gone from its task", edits(noRow("anchors", "answered", 0)),
			finds(broken("WR-16", "a start was given a new ID and left the anchor of the gone item as it was", `call c2: when it was answered anchor i1 was ""`)), nil},
		variant{"the new anchor comes only later", edits(noRow("anchors", "answered", 1)),
			finds(broken("WR-16", "a start was given a new ID whose anchor was not there yet", `call c2: when it was answered anchor i2 was ""`)), nil},
		variant{"the store was not seen in between", edits(noLook("anchors", "answered")), nil,
			[]string{`the anchors of task key "t1" were not seen behind call c2 while the app stood still`}},
		variant{"the old anchor stays live", edits(state("i1", "live")), finds(broken("WR-16", dead, `anchor i1 at the end: "live"`)), nil},
		variant{"the old anchor is forgotten", edits(none("i1")), finds(broken("WR-16", dead, "anchor i1 at the end: nothing")), nil},
		variant{"the new one never comes to be", edits(state("i2", "provisional")), finds(broken("WR-16", becomes, `anchor i2 at the end: "provisional"`)), nil},
		variant{"the new one is not stored", edits(none("i2")), finds(broken("WR-16", becomes, "anchor i2 at the end: nothing")), nil},
		variant{"the end was not looked at", edits(noLook("anchor", "converged")), nil,
			[]string{"the anchor of item i1 was not seen at the end", "the anchor of item i2 was not seen at the end"}},
		variant{"the item was still there", edits(shows("item", "held", row("item_id", "i1"))), nil,
			[]string{"item i1 was still in the library when its task was started again"}},
		variant{"the anchor was dead already", edits(cell("anchor", "held", 0, "state", "dead")), nil,
			[]string{"the anchor of the deleted item i1 was not live any more when its task was started again"}},
		variant{"the state was not looked at", edits(lookFails("item", "held")), nil,
			[]string{"anchor and item of i1 were not both seen before the task was started again"}},
		variant{"the task was not started again", edits(noCall("c2")), nil, []string{"no task was started while its live anchor's item was gone"}},
	)
}

func TestNoRawStorageErrors(t *testing.T) {
	w := &spoken{story: newStory()}
	w.listed("helper.1")
	w.asked("helper.1", `{"state":"queued"}`, done("state", "queued"))                                                                       // c1
	w.asked("helper.1", `{"state":"failed","failure":{"class":"permanent","code":"gone"}}`, refused("permanent", "gone", "state", "failed")) // c2
	const summary = "an error of the storage layer reached a caller"
	says := func(reason, field, answer string) edit {
		e := refused("transient", "busy", "failure_reason", field)
		e.Reason, e.Answer = reason, json.RawMessage(answer)
		return ends("c2", e)
	}
	coded := func(code string) edit {
		e := refused("transient", code)
		e.Answer = json.RawMessage(`{"structuredContent":{"failure":{"code":"` + code + `"}}}`)
		return func(events []history.Event) []history.Event {
			return each("c2", isCall("c2", history.Returned), func(back *history.Event) { back.Call.Fields["failure_code"] = code })(ends("c2", e)(events))
		}
	}
	rules(t, NoRawStorageErrors("WR-16"), w.told(),
		variant{"as the reason", edits(says("constraint failed: UNIQUE constraint failed: anchors.owner (2067)", "", `{}`)),
			finds(broken("WR-16", summary, `call c2 (note): "constraint failed"`, "answer: {}")), nil},
		variant{"as a field", edits(says("refused", "FOREIGN KEY is violated", `{}`)),
			finds(broken("WR-16", summary, `call c2 (note): "FOREIGN KEY"`, "answer: {}")), nil},
		variant{"anywhere in the answer", edits(says("refused", "", `{"detail":"SQLITE_BUSY"}`)),
			finds(broken("WR-16", summary, `call c2 (note): "SQLITE"`, `answer: {"detail":"SQLITE_BUSY"}`)), nil},
		variant{"as the number of the error", edits(coded("2067")),
			finds(broken("WR-16", "an error reached a caller whose code is none of the outputSchema's", `call c2 (note): code "2067"`,
				`answer: {"structuredContent":{"failure":{"code":"2067"}}}`)), nil},
		variant{"as an error without a code", edits(coded("")),
			finds(broken("WR-16", "an error without a code reached a caller", "call c2 (note)", `answer: {"structuredContent":{"failure":{"code":""}}}`)), nil},
		variant{"a code of the schema", edits(coded("busy")), nil, nil},
		variant{"a refusal in words of its own", edits(says("the store is busy, try again", "busy", `{}`)), nil, nil},
		variant{"one call is out", edits(neverReturned("c1")), nil, nil},
		variant{"nothing was refused", edits(ends("c2", done())), nil, []string{"nothing was refused, so that it was not seen how this target tells an error"}},
		variant{"tools/list was not asked", edits(message(`"method":"tools/list"`, 1, "tools/list", "ping")), nil,
			[]string{"tools/list was not seen, so that it is not known which codes there are"}},
	)
}
