package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// NotesStored (WR-04): while the app is stopped every acknowledged note stands
// in the store under the issued ID, once, and no other does. That no intent was
// applied by then shows that the app was stopped.
func NotesStored(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, notes := range notesByItem(h) {
		acked := notes.acknowledged()
		if len(acked) == 0 {
			continue
		}
		look, ok := lastLook(h, "intents", whenEarly, item(notes.id))
		if !ok {
			r.doubted("the intents of item %s were not seen while the app was stopped", notes.id)
			continue
		}
		if !r.hasColumns(look, "kind", "text", "state") {
			continue
		}
		if slices.Contains(columns(look.Rows, "state"), "applied") {
			r.doubted("the app was not stopped: an intent of item %s was applied already", notes.id)
			continue
		}
		judged += len(acked)
		r.compareStored(notes, look)
	}
	if judged == 0 && len(r.Findings) == 0 {
		r.doubted("no note was acknowledged while the app was stopped")
	}
	return r
}

func (r *Ruling) compareStored(notes itemNotes, look history.Look) {
	least, most := notes.bounds()
	stored := map[string]int{}
	var strange, missing []string
	for _, row := range look.Rows {
		if text(row, "kind") != "note" {
			continue
		}
		t := text(row, "text")
		stored[t]++
		if least[t] == 0 && stored[t] > most[t] {
			strange = append(strange, t)
		}
	}
	acked := notes.acknowledged()
	for _, t := range distinct(acked) {
		if stored[t] < least[t] || stored[t] > most[t] {
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 {
		r.broke("WR-04", fmt.Sprintf("%d of %d acknowledged notes are not in the store exactly once", len(missing), len(acked)),
			"item "+notes.id, "notes: "+quoted(missing))
	}
	if len(strange) > 0 {
		r.broke("WR-04", "the store holds notes that nobody was told were accepted", "item "+notes.id, "stored: "+quoted(strange))
	}
}

// FollowUpsQueued rules, under a clause, that follow-ups sent while the item
// does not exist are accepted under its ID and queued. roles are those that
// must have been tried. That an item did not exist is known from a later look
// at a store in which nothing had been applied, or from the answer itself.
func FollowUpsQueued(clause string, roles ...string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		for _, role := range roles {
			ops := h.Operations(role)
			if len(ops) == 0 {
				r.doubted("no %s was sent", role)
			}
			refused, first, why := 0, "", "although their item ID had been issued"
			for _, o := range ops {
				switch o.Outcome() {
				case history.Refused:
					if o.Param("item_id") == "" {
						why = "because their start had given out no item ID"
					}
					if refused++; first == "" {
						first = answerReason(o)
					}
				case history.Unknown:
					r.doubted("call %s (%s) got no answer, so that it is not known to be accepted", o.Invoked.ID, role)
				default:
					r.followUpQueued(clause, h, o)
				}
			}
			if refused > 0 {
				r.broke(clause, fmt.Sprintf("%d of %d follow-ups (%s) were refused %s", refused, len(ops), role, why),
					"first reason: "+first)
			}
		}
		return r
	}
}

func answerReason(o history.Operation) string {
	if o.Returned.Reason != "" {
		return o.Returned.Reason
	}
	return answerOf(o)
}

func (r *Ruling) followUpQueued(clause string, h history.History, o history.Operation) {
	call := fmt.Sprintf("call %s (%s)", o.Invoked.ID, o.Invoked.Role)
	if id := o.Text("item_id"); id != "" && id != o.Param("item_id") {
		r.broke(clause, "a follow-up was answered under another item ID", fmt.Sprintf("%s: sent to %q, answered %q", call, o.Param("item_id"), id))
	}
	state, exists := o.Text("state"), o.Field("materialized")
	switch absent := endedBefore(o, nothingApplied(h, o.Param("item_id"))); {
	case !absent && exists != false:
		r.doubted("%s was answered at a moment at which its item was not known not to exist", call)
	case absent && exists == true:
		r.broke(clause, "a follow-up was answered as if its item were there, and it was not", call+": materialized true")
	case state == "":
		r.doubted("%s does not say its state", call)
	case state != "queued" && state != "retrying":
		r.broke(clause, "a follow-up on an item that does not exist yet was not answered as queued", fmt.Sprintf("%s: state %q", call, state))
	}
}

// nothingApplied is the number of the last early look at an item's intents, if
// none of them had been applied by then; else 0.
func nothingApplied(h history.History, id string) int64 {
	last := int64(0)
	for _, e := range h.Events {
		if e.Kind != history.KindLook || e.Look.Probe != "intents" || e.Look.When != whenEarly || !includes(e.Look.Params, item(id)) {
			continue
		}
		if e.Look.Error == "" && len(e.Look.Rows) > 0 && !slices.Contains(columns(e.Look.Rows, "state"), "applied") {
			last = e.Seq
		}
	}
	return last
}
