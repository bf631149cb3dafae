package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

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
		id := text(m.Data, "item_id")
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
		if o.Param("item_id") != id || o.Param("about") != "dead" || o.Returned == nil {
			continue
		}
		tried++
		if outcomeUnknown(o) {
			r.doubted("the follow-up %s on a deleted item got no answer", o.Invoked.ID)
			continue
		}
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
	if !r.hasColumns(look, "seq", "state", "class") {
		return
	}
	state := map[string]map[string]any{}
	for _, row := range look.Rows {
		state[text(row, "seq")] = row
	}
	for _, seq := range columns(queuedRows(queued), "seq") {
		row, there := state[seq]
		switch {
		case !there:
			r.broke("WR-13", "an intent that was queued at the deletion was dropped", fmt.Sprintf("intent %s of item %s", seq, id))
		case text(row, "state") != "failed" || text(row, "class") != "permanent":
			r.broke("WR-13", "an intent that was queued at the deletion did not end failed",
				fmt.Sprintf("intent %s of item %s is %q, class %q", seq, id, text(row, "state"), text(row, "class")))
		}
	}
}

// queuedRows makes rows of the sequence numbers in a mark, so that both are
// written the same way.
func queuedRows(numbers []any) []map[string]any {
	var rows []map[string]any
	for _, n := range numbers {
		rows = append(rows, map[string]any{"seq": n})
	}
	return rows
}

// NewAfterDead (WR-14): a start under the task key of a dead anchor is given a
// new ID, and the old anchor stays dead.
func NewAfterDead(h history.History) Ruling {
	var r Ruling
	deleted := h.Marks("deleted")
	if len(deleted) == 0 {
		return doubt("no item was deleted")
	}
	for _, m := range deleted {
		old, task := text(m.Data, "item_id"), text(m.Data, "task_key")
		r.givenNewID(h, task, old)
		look, ok := lastLook(h, "anchor", whenConverged, item(old))
		switch {
		case !ok:
			r.doubted("the old anchor was not seen at the end")
		case len(look.Rows) == 0:
			r.broke("WR-14", "the dead anchor was forgotten", "the store holds no anchor for item "+old)
		case text(look.Rows[0], "state") != "dead":
			r.broke("WR-14", "the dead anchor did not stay dead", fmt.Sprintf("anchor %s is %q at the end", old, text(look.Rows[0], "state")))
		}
	}
	return r
}

// givenNewID judges the start that was made after the deletion, told by the
// spec with the parameter "after".
func (r *Ruling) givenNewID(h history.History, task, old string) {
	tried := 0
	for _, s := range h.Operations("start") {
		if s.Param("task_key") != task || s.Param("after") != old {
			continue
		}
		switch id := s.Text("item_id"); {
		case forGood(s):
			tried++
			r.broke("WR-14", "a start after the deletion was refused for good",
				fmt.Sprintf("item %s was deleted; call %s under task key %q: class %q, code %q", old, s.Invoked.ID, task, s.Text("failure_class"), s.Text("failure_code")))
		case s.Outcome() != history.Done:
		case id == old || id == "":
			tried++
			r.broke("WR-14", "a start after the deletion was given the dead ID again",
				fmt.Sprintf("item %s was deleted; the later start under task key %q answered %q", old, task, id))
		default:
			tried++
			r.isAnchored(h, id)
		}
	}
	if tried == 0 {
		r.doubted("no start under task key %q was acknowledged with a new key after the deletion", task)
	}
}

func (r *Ruling) isAnchored(h history.History, id string) {
	look, ok := lastLook(h, "anchor", whenConverged, item(id))
	switch {
	case !ok:
		r.doubted("the new anchor %s was not seen at the end", id)
	case len(look.Rows) == 0 || text(look.Rows[0], "state") == "dead":
		r.broke("WR-14", "the ID that was given after the deletion is no usable one", fmt.Sprintf("anchor %s at the end: %s", id, quoted(columns(look.Rows, "state"))))
	}
}

// TwoErrors (WR-15): an ID that was never issued and a dead one are refused
// with different structured errors.
func TwoErrors(h history.History) Ruling {
	var r Ruling
	codes := map[string][]string{}
	for _, about := range []string{"never-issued", "dead"} {
		for _, o := range h.Operations("note") {
			if o.Param("about") != about || o.Returned == nil {
				continue
			}
			code := o.Text("failure_code")
			if outcomeUnknown(o) {
				r.doubted("the follow-up %s on a %s ID got no answer", o.Invoked.ID, about)
				codes[about] = append(codes[about], "")
				continue
			}
			if o.Outcome() != history.Refused || code == "" {
				r.broke("WR-15", "a follow-up on a "+about+" ID was not refused with a structured code",
					fmt.Sprintf("call %s: outcome %s, code %q", o.Invoked.ID, o.Outcome(), code))
			}
			codes[about] = append(codes[about], code)
		}
		if len(codes[about]) == 0 {
			r.doubted("no follow-up was sent to a %s ID", about)
		}
	}
	for _, code := range distinct(codes["dead"]) {
		if code != "" && count(codes["never-issued"])[code] > 0 {
			r.broke("WR-15", "a never-issued ID and a dead one get the same error", fmt.Sprintf("both: code %q", code))
		}
	}
	return r
}
