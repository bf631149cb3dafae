package judge

import (
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// cardInBrowser is the look at a card as a browser shows it.
const cardInBrowser = "card-in-the-browser"

// DeletedByClick (WR-13): what the person deleted with a click on the page is no
// card there any more. That it would have been seen is shown by its card before
// the click, and by the card of another record behind it.
func DeletedByClick(h history.History) Ruling {
	var r Ruling
	deleted := map[string]bool{}
	for _, m := range h.Marks("person") {
		if text(m.Data, "action") == "delete_on_page" {
			deleted[text(m.Data, "item_id")] = true
		}
	}
	if len(deleted) == 0 {
		return doubt("nobody deleted an item on the page")
	}
	others := 0
	for _, id := range items(h) {
		look, ok := lastLook(h, cardInBrowser, whenConverged, item(id))
		if !deleted[id] {
			if ok && len(look.Rows) == 1 {
				others++
			}
			continue
		}
		before, seen := lastLook(h, cardInBrowser, whenEarly, item(id))
		switch {
		case !seen || len(before.Rows) != 1:
			r.doubted("the card of item %s was not seen in the browser before it was deleted", id)
		case !ok:
			r.doubted("the place of the card of item %s was not seen in the browser at the end", id)
		case len(look.Rows) > 0:
			r.broke("WR-13", "the person deleted the item on the page and the page still shows its card", "item "+id)
		}
	}
	if others == 0 {
		r.doubted("no other card was seen in the browser at the end, so that a missing one says nothing")
	}
	return r
}
