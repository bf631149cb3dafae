package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// endedEarly is WR-37: i1 is completed and i2 cancelled, i3 both in turn, and i4
// is completed and noted on, all before anything is applied.
func endedEarly() history.History {
	s := newStory()
	for n, id := range []string{"i1", "i2", "i3", "i4"} {
		s.call("start", params("task_key", id, "key", "k"+id), done("item_id", id)) // c1, c3, c5, c8
		roles := [][]string{{"complete"}, {"cancel"}, {"complete", "cancel"}, {"complete", "note"}}[n]
		for _, role := range roles {
			s.call(role, item(id), done("item_id", id)) // c2, c4, c6 c7, c9 c10
		}
	}
	ends := map[string]string{"i1": "done", "i2": "cancelled", "i3": "cancelled", "i4": "done"}
	for _, id := range []string{"i1", "i2", "i3", "i4"} {
		s.look("intents", "early", item(id), row("seq", 1, "kind", "start", "state", "pending"))
	}
	for _, id := range []string{"i1", "i2", "i3", "i4"} {
		s.look("item", "converged", item(id), row("item_id", id, "status", ends[id]))
	}
	return s.told()
}

func TestEarlyEndsInOrder(t *testing.T) {
	const summary = "a record did not end in the status that was asked for last"
	status := func(id string, value any) edit {
		return lookOf(id, "item", "converged", func(l *history.Look) { l.Rows[0]["status"] = value })
	}
	const none = "no item was ended more than once before it existed"
	rules(t, EarlyEndsInOrder, endedEarly(),
		variant{"the first end stays", edits(status("i3", "done")),
			finds(broken("WR-37", summary, `item i3: "complete", "cancel" in this order; its status is "done", expected "cancelled"`)), nil},
		variant{"a note reopens it", edits(status("i4", "doing")),
			finds(broken("WR-37", summary, `item i4: "complete" in this order; its status is "doing", expected "done"`)), nil},
		variant{"it never comes to be", edits(lookOf("i3", "item", "converged", func(l *history.Look) { l.Rows = nil })),
			finds(broken("WR-37", "an item that was ended before it existed is not there once", "item i3 stands in the library 0 times")), nil},
		variant{"a target has other words", edits(status("i1", "closed"), status("i4", "closed"), status("i2", "dropped"), status("i3", "dropped")), nil, nil},
		variant{"a second end is refused", edits(ends("c7", refused("permanent", "ended")), status("i3", "done")), nil, nil},
		variant{"both words are one", edits(status("i1", "closed"), status("i2", "closed"), status("i3", "closed"), status("i4", "closed")), nil,
			[]string{`complete and cancel end in the same status "closed", so that their order cannot be told`}},
		variant{"nothing was cancelled alone", edits(noCall("c4")), nil,
			[]string{"it is not known in which status a record ends that was ended by cancel alone"}},
		variant{"something was applied already", edits(lookOf("i3", "intents", "early", func(l *history.Look) { l.Rows[0]["state"] = "applied" })), nil,
			[]string{"item i3 was not seen to be missing when its ends were accepted"}},
		variant{"nobody looked before", edits(noLookOf("i3", "intents", "early")), nil,
			[]string{"item i3 was not seen to be missing when its ends were accepted"}},
		variant{"it was ended later", edits(endedLate("c7")), nil, []string{"item i3 was not seen to be missing when its ends were accepted"}},
		variant{"the record was not seen", edits(noLookOf("i3", "item", "converged")), nil, []string{"the record of item i3 was not seen at the end"}},
		variant{"a record shows no status", edits(status("i3", nil)), nil, []string{"the record of item i3 shows no status"}},
		variant{"no item was ended twice", edits(noCall("c6", "c7", "c9", "c10")), nil, []string{none}},
	)
}
