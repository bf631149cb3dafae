package judge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// onceRun is the run of a spec that makes only one.
const onceRun = "once"

// TaskKeyFree (WR-12): whatever a process of an older version left of a task when
// it was killed, a later start under the task key leads to a record. reaches is the
// broken state that at least one run must have left: "no start", "item there" or
// "item gone".
func TaskKeyFree(reaches string) Rule {
	return func(h history.History) Ruling {
		left := map[string]int{}
		r := eachRun(h, Ruling{}, "WR-12", "behind a killed process of an older version a task key stays locked", func(c Crash) (string, string, error) {
			for _, m := range h.Marks("restart-failed") {
				if text(m.Data, "run") == c.Run {
					return "", fmt.Sprintf("the target does not start again: %v", m.Data["error"]), nil
				}
			}
			state, wrong, err := taskFreed(h, c.Run)
			left[state]++
			return state, wrong, err
		})
		switch only := h.Marks("one-crash-point"); {
		case len(r.Findings) > 0, len(only) > 0 && len(left) > 0:
		case len(only) > 0:
			r.doubted("the run at the one crash point asked for (%v) was not struck there", only[0].Data["point"])
		case left[reaches] == 0:
			r.doubted("no run left the state that is to be led out of: %s", reaches)
		}
		if len(r.Findings) == 0 {
			for _, m := range h.Marks("came-to-no-rest") {
				r.doubted("behind run %s nothing came to rest, so that %d more were not made", text(m.Data, "run"), number(m.Data, "not tried"))
			}
		}
		return r
	}
}

// FailedStartFree (WR-12): where the start of a task had failed for good under an
// older version, a later start under the task key leads to a record.
var FailedStartFree = freeBehind("start failed")

// RecordFree (WR-12): where an older app had made an item and left its anchor
// provisional, a later start under the task key leads to that record.
var RecordFree = freeBehind("item there")

// freeBehind is WR-12 for what an older version left without being killed.
func freeBehind(state string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		switch left, wrong, err := taskFreed(h, onceRun); {
		case err != nil:
			r.doubted("%v", err)
		case wrong != "":
			r.broke("WR-12", "behind what an older version has left a task key stays locked", wrong)
		case left != state:
			r.doubted("the older version was to leave the state %q, and left %q", state, left)
		}
		return r
	}
}

// OlderAppRepaired (WR-11): an item that an older app made, whose anchor it left
// provisional, has a live anchor once the target's own app has run, one start that
// is applied, and there is no second item.
func OlderAppRepaired(h history.History) Ruling {
	of := map[string]string{"run": onceRun}
	left, okW := lastLook(h, "anchors", whenCrashed, of)
	before, okB := lastLook(h, "items", whenEarly, nil)
	anchor, okA := lastLook(h, "anchor", whenConverged, of)
	intents, okI := lastLook(h, "intents", whenConverged, of)
	items, okL := lastLook(h, "items", whenConverged, of)
	switch {
	case !okW || !okB || !okA || !okI || !okL:
		return doubt("anchor, intents and items were not all seen before and after")
	case len(before.Rows) != 1 || len(left.Rows) != 1 || text(left.Rows[0], "state") != "provisional":
		return doubt("the older app was to leave one item and a provisional anchor, and left %d items and the anchors %s", len(before.Rows), quoted(columns(left.Rows, "state")))
	}
	var r Ruling
	id := text(left.Rows[0], "item_id")
	if wrong := joined(h, id, anchor, intents, items); wrong != "" {
		r.broke("WR-11", "an item that an older app made was not brought together with its anchor", wrong)
	}
	return r
}

// taskFreed says what an older version had left of a task in a run, and what is
// wrong with what the later start led to.
func taskFreed(h history.History, run string) (state, wrong string, err error) {
	of := map[string]string{"run": run}
	wereA, okA := lastLook(h, "anchors", whenCrashed, of)
	wereI, okI := lastLook(h, "intents", whenCrashed, of)
	anchors, okC := lastLook(h, "anchors", whenConverged, of)
	items, okL := lastLook(h, "items", whenConverged, of)
	if !okA || !okI || !okC || !okL {
		return "", "", errors.New("what was left of the task, and what came of it, was not all seen")
	}
	state = stateLeft(wereA.Rows, wereI.Rows, anchors.Rows)
	for _, o := range h.Operations("start") {
		if o.Param("run") != run || o.Param("anew") == "" {
			continue
		}
		if o.Outcome() == history.Unknown {
			return state, "", fmt.Errorf("call %s got no answer", o.Invoked.ID)
		}
		return state, notLedToRecord(o, state, anchors.Rows, items.Rows), nil
	}
	return state, "", errors.New("the task was not started anew")
}

// stateLeft is what was left of a task, in a few words.
func stateLeft(anchors, intents, now []map[string]any) string {
	if len(anchors) == 0 {
		return "nothing"
	}
	newest := anchors[len(anchors)-1]
	id := text(newest, "item_id")
	if text(newest, "state") == "dead" {
		return "dead"
	}
	n := slices.IndexFunc(intents, func(row map[string]any) bool { return text(row, "kind") == "start" && text(row, "item_id") == id })
	if n < 0 {
		return "no start"
	}
	gone := slices.ContainsFunc(now, func(row map[string]any) bool { return text(row, "item_id") == id && text(row, "state") == "dead" })
	switch started := text(intents[n], "state"); {
	case started == "failed":
		return "start failed"
	case started == "applied" && gone:
		return "item gone"
	case started == "applied":
		return "item there"
	}
	return "start waits"
}

// notLedToRecord says why a start did not lead to the one record of its task.
func notLedToRecord(o history.Operation, state string, anchors, items []map[string]any) string {
	id := o.Text("item_id")
	what := fmt.Sprintf("left: %s; call %s under the task key", state, o.Invoked.ID)
	if o.Outcome() == history.Refused || id == "" {
		return what + " was answered: " + answerOf(o)
	}
	var records []string
	usable := 0
	anchorIs := "missing"
	for _, a := range anchors {
		if slices.Contains(columns(items, "item_id"), text(a, "item_id")) {
			records = append(records, text(a, "item_id"))
		}
		if text(a, "state") == "live" {
			usable++
		}
		if text(a, "item_id") == id {
			anchorIs = text(a, "state")
		}
	}
	switch {
	case anchorIs != "live" || !slices.Contains(records, id):
		return fmt.Sprintf("%s was answered with item %s, state %q; its anchor is %s, and the task has the records %s", what, id, o.Text("state"), anchorIs, quoted(records))
	case len(records) != 1 || usable != 1 || count(columns(items, "item_id"))[id] != 1:
		return fmt.Sprintf("%s led to item %s, and the task has %d live anchors and the records %s", what, id, usable, quoted(records))
	}
	return ""
}
