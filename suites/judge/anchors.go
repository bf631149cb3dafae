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
	judged := 0
	for _, s := range acknowledged(h, "start") {
		id := s.Text("item_id")
		anchor, okA := lastLook(h, "anchor", whenRestarted, item(id))
		intents, okI := lastLook(h, "intents", whenRestarted, item(id))
		if !okA || !okI {
			r.doubted("the store was not seen after the restart for item %s", id)
			continue
		}
		judged++
		if len(anchor.Rows) == 0 || kinds(intents.Rows)["start"] != 1 {
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
	if judged == 0 && len(r.Findings) == 0 && len(r.Doubts) == 0 {
		r.doubted("no start was acknowledged")
	}
	return r
}

// BecomesLive (WR-09): once the item exists the anchor is live and every later
// answer about it says materialized: true.
func BecomesLive(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, look := range h.Looks("item", whenConverged) {
		id := look.Params["item_id"]
		if len(look.Rows) == 0 || look.Error != "" {
			continue
		}
		anchor, ok := lastLook(h, "anchor", whenConverged, item(id))
		if !ok || len(anchor.Rows) == 0 {
			r.doubted("the anchor of item %s was not seen at the end", id)
			continue
		}
		if state := text(anchor.Rows[0], "state"); state != "live" {
			r.broke("WR-09", "an item exists and its anchor is not live", fmt.Sprintf("item %s is in the library", id), "its anchor is "+state)
		}
		answers := 0
		for _, o := range h.Operations("") {
			if o.Outcome() != history.Done || o.Param("moment") != whenConverged || o.Text("item_id") != id {
				continue
			}
			answers++
			if o.Field("materialized") != true || o.Text("anchor") != "live" {
				r.broke("WR-09", "an item exists and an answer denies it",
					fmt.Sprintf("call %s (%s) answered materialized %v, anchor %v", o.Invoked.ID, o.Invoked.Role, o.Field("materialized"), o.Field("anchor")))
			}
		}
		if answers == 0 {
			r.doubted("nothing was asked about item %s once it existed", id)
		}
		judged++
	}
	if judged == 0 && len(r.Findings) == 0 && len(r.Doubts) == 0 {
		r.doubted("no item was seen to exist")
	}
	return r
}

// DeletedIsDead (WR-13): the anchor of a deleted item is dead and keeps its
// reason; follow-ups fail for good and name the deletion; what was queued ends
// failed and nothing of it is dropped.
func DeletedIsDead(h history.History) Ruling {
	var r Ruling
	deleted := h.Marks("deleted")
	if len(deleted) == 0 {
		return doubt("no item was deleted")
	}
	for _, m := range deleted {
		id, _ := m.Data["item_id"].(string)
		anchor, ok := lastLook(h, "anchor", whenConverged, item(id))
		switch {
		case !ok:
			r.doubted("the anchor of the deleted item %s was not seen at the end", id)
		case len(anchor.Rows) == 0:
			r.broke("WR-13", "the anchor of a deleted item is gone", "item "+id)
		case text(anchor.Rows[0], "state") != "dead":
			r.broke("WR-13", "the person deleted the item and its anchor is not dead", fmt.Sprintf("anchor %s is %q", id, text(anchor.Rows[0], "state")))
		case text(anchor.Rows[0], "reason") == "":
			r.broke("WR-13", "the dead anchor keeps no reason", "item "+id)
		}
		r.followUpNamesDeletion(h, id)
		r.queuedEndFailed(h, id, m)
	}
	return r
}

func (r *Ruling) followUpNamesDeletion(h history.History, id string) {
	tried := 0
	for _, o := range h.Operations("note") {
		if o.Param("item_id") != id || o.Param("about") != "dead" {
			continue
		}
		tried++
		if o.Outcome() != history.Refused || o.Text("failure_class") != "permanent" || o.Text("failure_code") != "item_deleted" {
			r.broke("WR-13", "a follow-up on a deleted item did not fail for good with the deletion named",
				fmt.Sprintf("call %s: outcome %s, class %q, code %q", o.Invoked.ID, o.Outcome(), o.Text("failure_class"), o.Text("failure_code")))
		}
	}
	if tried == 0 {
		r.doubted("no follow-up was sent to the deleted item %s", id)
	}
}

func (r *Ruling) queuedEndFailed(h history.History, id string, deleted history.Mark) {
	queued, _ := deleted.Data["queued"].([]any)
	if len(queued) == 0 {
		r.doubted("no intent was queued on item %s when it was deleted", id)
		return
	}
	look, ok := lastLook(h, "intents", whenConverged, item(id))
	if !ok {
		r.doubted("the intents of the deleted item %s were not seen at the end", id)
		return
	}
	state := map[string]map[string]any{}
	for _, row := range look.Rows {
		state[text(row, "seq")] = row
	}
	for _, seq := range queued {
		row, there := state[fmt.Sprint(seq)]
		switch {
		case !there:
			r.broke("WR-13", "an intent that was queued at the deletion was dropped", fmt.Sprintf("intent %v of item %s", seq, id))
		case text(row, "state") != "failed" || text(row, "class") != "permanent":
			r.broke("WR-13", "an intent that was queued at the deletion did not end failed",
				fmt.Sprintf("intent %v of item %s is %q, class %q", seq, id, text(row, "state"), text(row, "class")))
		}
	}
}
