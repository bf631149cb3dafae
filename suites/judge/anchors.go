package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// AnchorDurable (WR-02): after the helper was killed behind an acknowledged
// start, its anchor and its start intent are there, and the item comes under
// that ID.
func AnchorDurable(h history.History) Ruling {
	var r Ruling
	for _, s := range acknowledged(h, "start") {
		id := s.Text("item_id")
		anchor, okA := lastLook(h, "anchor", whenRestarted, item(id))
		intents, okI := lastLook(h, "intents", whenRestarted, item(id))
		if !okA || !okI {
			r.doubted("the store was not seen after the restart for item %s", id)
			continue
		}
		if !r.hasColumns(intents, "kind") {
			continue
		}
		if len(anchor.Rows) != 1 || kinds(intents.Rows)["start"] != 1 {
			r.broke("WR-02", "a start was acknowledged and is not wholly in the store after the kill",
				fmt.Sprintf("call %s was answered with item %s; then the helper was killed", s.Invoked.ID, id),
				fmt.Sprintf("after the restart the store holds %d anchors and %d start intents for it", len(anchor.Rows), kinds(intents.Rows)["start"]))
			continue
		}
		final, ok := lastLook(h, "item", whenConverged, item(id))
		if !ok {
			r.doubted("the library was not seen at the end for item %s", id)
		} else if len(final.Rows) == 0 {
			r.broke("WR-02", "an acknowledged start never became an item", "item "+id)
		}
	}
	if len(acknowledged(h, "start")) == 0 {
		r.doubted("no start was acknowledged")
	}
	return r
}

// BecomesLive (WR-09): once the item exists the anchor is live and every later
// answer about it says materialized: true.
func BecomesLive(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, look := range r.lastLooks(h, "item", whenConverged) {
		id := look.Params["item_id"]
		if len(look.Rows) == 0 {
			r.doubted("item %s was not seen to exist", id)
			continue
		}
		judged++
		anchor, ok := lastLook(h, "anchor", whenConverged, item(id))
		switch {
		case !ok:
			r.doubted("the anchor of item %s was not seen at the end", id)
		case len(anchor.Rows) == 0:
			r.broke("WR-09", "an item exists and its anchor is not live", fmt.Sprintf("item %s is in the library", id), "it has no anchor")
		case text(anchor.Rows[0], "state") != "live":
			r.broke("WR-09", "an item exists and its anchor is not live", fmt.Sprintf("item %s is in the library", id), "its anchor is "+text(anchor.Rows[0], "state"))
		}
		r.answersSayLive(h, id)
	}
	if judged == 0 && r.silent() {
		r.doubted("no item was seen to exist")
	}
	return r
}

func (r *Ruling) answersSayLive(h history.History, id string) {
	answers := 0
	for _, o := range h.Operations("") {
		if o.Param("moment") != whenConverged || !about(h, o, id) {
			continue
		}
		switch {
		case o.Outcome() == history.Unknown:
			r.doubted("call %s (%s) got no answer, so that it is not known what it says of item %s", o.Invoked.ID, o.Invoked.Role, id)
		case o.Outcome() == history.Refused && !forGood(o):
		case o.Outcome() == history.Refused:
			answers++
			r.broke("WR-09", "an item exists and an answer denies it",
				fmt.Sprintf("call %s (%s) was refused: class %q, code %q", o.Invoked.ID, o.Invoked.Role, o.Text("failure_class"), o.Text("failure_code")))
		default:
			answers++
			if o.Field("materialized") != true || o.Text("anchor") != "live" {
				r.broke("WR-09", "an item exists and an answer denies it",
					fmt.Sprintf("call %s (%s) answered materialized %v, anchor %v", o.Invoked.ID, o.Invoked.Role, o.Field("materialized"), o.Field("anchor")))
			}
		}
	}
	if answers == 0 {
		r.doubted("nothing was answered about item %s once it existed", id)
	}
}
