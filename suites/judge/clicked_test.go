package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// deletedOnThePage is the end of WR-13 as a browser shows it.
func deletedOnThePage() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1")) // c1
	s.call("start", params("task_key", "t2", "key", "k2"), done("item_id", "i2")) // c2
	s.look("card-in-the-browser", "early", item("i1"), row("title", "Title"))
	s.mark("person", "action", "delete_on_page", "item_id", "i1")
	s.mark("person", "action", "unblock")
	s.look("card-in-the-browser", "converged", item("i1"))
	s.look("card-in-the-browser", "converged", item("i2"), row("title", "Other"))
	return s.told()
}

func TestDeletedByClick(t *testing.T) {
	const probe = "card-in-the-browser"
	look := func(id, when string, f func(*history.Look)) edit {
		return each("look "+id, func(e history.Event) bool { return isLook(probe, when)(e) && e.Look.Params["item_id"] == id },
			func(e *history.Event) { f(e.Look) })
	}
	empty := func(l *history.Look) { l.Rows = nil }
	failed := func(l *history.Look) { l.Error = "the look itself failed" }
	const unseen = "the card of item i1 was not seen in the browser before it was deleted"
	const alone = "no other card was seen in the browser at the end, so that a missing one says nothing"
	rules(t, DeletedByClick, deletedOnThePage(),
		variant{"the card stays", edits(look("i1", "converged", func(l *history.Look) { l.Rows = []map[string]any{row("title", "Title")} })),
			finds(broken("WR-13", "the person deleted the item on the page and the page still shows its card", "item i1")), nil},
		variant{"the card was not there before", edits(look("i1", "early", empty)), nil, []string{unseen}},
		variant{"the look before failed", edits(look("i1", "early", failed)), nil, []string{unseen}},
		variant{"nobody looked before", edits(noLook(probe, "early")), nil, []string{unseen}},
		variant{"nobody looked at the end", edits(noLook(probe, "converged")), nil,
			[]string{"the place of the card of item i1 was not seen in the browser at the end", alone}},
		variant{"the look at the end failed", edits(look("i1", "converged", failed)), nil,
			[]string{"the place of the card of item i1 was not seen in the browser at the end"}},
		variant{"the page shows nothing at all", edits(look("i2", "converged", empty)), nil, []string{alone}},
		variant{"nobody clicked", edits(noMark("person")), nil, []string{"nobody deleted an item on the page"}},
		variant{"it was deleted by other means", edits(markData("person", "action", "delete")), nil, []string{"nobody deleted an item on the page"}},
	)
}
