package judge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenKept is the moment at which an item whose deletion was killed is still
// there, and everything that was queued on it has had its time.
const whenKept = "kept"

// DeletedAtEachPoint (WR-13): killed at any crash point of a deletion, an app that
// is started again ends with the whole of it, or with nothing of it. The whole: the
// item gone, its anchor dead with the reason, what was queued failed, and a
// follow-up told of the deletion. Nothing: the item there, its anchor live, what
// was queued applied, and the deletion not acknowledged; then the person deletes it
// once more, and that is whole.
func DeletedAtEachPoint(h history.History) Ruling {
	marks := h.Marks("queued")
	if len(marks) == 0 {
		return doubt("nothing was queued on an item that was then deleted")
	}
	id := text(marks[0].Data, "item_id")
	numbers, _ := marks[0].Data["queued"].([]any)
	queued := columns(queuedRows(numbers), "seq")
	if before, ok := lastLook(h, "item", whenEarly, item(id)); !ok || len(before.Rows) != 1 || len(queued) == 0 {
		return doubt("item %s, with something queued on it, was not seen before it was deleted", id)
	}
	return atEachPoint(h, "WR-13", "killed while an item is deleted, the app leaves half of the deletion", func(c Crash) (string, string, error) {
		of := map[string]string{"run": c.Run, "item_id": id}
		record, okR := lastLook(h, "item", whenRestarted, of)
		anchor, okA := lastLook(h, "anchor", whenRestarted, of)
		if !okR || !okA {
			return "", "", errors.New("item and anchor were not both seen behind it")
		}
		gone := len(record.Rows) == 0
		left := fmt.Sprintf("item there, anchor %s", stateIn(anchor))
		if gone {
			left = fmt.Sprintf("item gone, anchor %s", stateIn(anchor))
		}
		switch {
		case gone != (stateIn(anchor) == "dead"):
			return left, left, nil
		case !gone && c.Acknowledged:
			return left, "the deletion was acknowledged, and the item is there", nil
		case !gone:
			wrong, err := keptWhole(h, of, queued)
			if wrong == "" && err == nil { // nothing is queued any more when it is deleted again
				wrong, err = deletedWhole(h, of, nil)
			}
			return left, wrong, err
		}
		wrong, err := deletedWhole(h, of, queued)
		return left, wrong, err
	})
}

// keptWhole says what is wrong with an item that was not deleted.
func keptWhole(h history.History, of map[string]string, queued []string) (wrong string, err error) {
	intents, okI := lastLook(h, "intents", whenKept, of)
	record, okR := lastLook(h, "item", whenKept, of)
	if !okI || !okR {
		return "", errors.New("the item that is still there, and its intents, were not seen once they had had their time")
	}
	if wrong, err := endedAs(intents, queued, "applied", ""); wrong != "" || err != nil {
		return wrong, err
	}
	if len(record.Rows) != 1 {
		return fmt.Sprintf("the item that was still there stands in the library %d times once everything was applied", len(record.Rows)), nil
	}
	shown, ok := texts(record.Rows[0], "notes")
	if !ok {
		return "", errors.New("the notes of the item that is still there are not readable")
	}
	for _, row := range intents.Rows {
		if slices.Contains(queued, text(row, "seq")) && text(row, "kind") == "note" && count(shown)[text(row, "text")] != 1 {
			return fmt.Sprintf("the note of %s is on the record %d times", intentOf(row), count(shown)[text(row, "text")]), nil
		}
	}
	return "", nil
}

// deletedWhole says what is wrong with a deletion that came to its end.
func deletedWhole(h history.History, of map[string]string, queued []string) (wrong string, err error) {
	anchor, okA := lastLook(h, "anchor", whenConverged, of)
	intents, okI := lastLook(h, "intents", whenConverged, of)
	if !okA || !okI {
		return "", errors.New("the anchor and the intents of the deleted item were not seen at the end")
	}
	switch {
	case stateIn(anchor) != "dead":
		return "the item was deleted and its anchor is " + stateIn(anchor), nil
	case text(anchor.Rows[0], "reason") == "":
		return "the dead anchor keeps no reason", nil
	}
	if wrong, err := endedAs(intents, queued, "failed", "permanent"); wrong != "" || err != nil {
		return wrong, err
	}
	for _, o := range h.Operations("note") {
		if o.Param("run") != of["run"] || o.Param("about") != "dead" || o.Returned == nil {
			continue
		}
		switch {
		case outcomeUnknown(o):
			return "", fmt.Errorf("the follow-up %s on the deleted item got no answer", o.Invoked.ID)
		case o.Outcome() != history.Refused || o.Text("failure_class") != "permanent" || o.Text("failure_code") != "item_deleted":
			return fmt.Sprintf("a follow-up did not fail for good with the deletion named: outcome %s, class %q, code %q", o.Outcome(), o.Text("failure_class"), o.Text("failure_code")), nil
		}
		return "", nil
	}
	return "", errors.New("no follow-up was sent to the deleted item")
}

// endedAs says which of some intents is gone, or did not end in a state.
func endedAs(look history.Look, seqs []string, state, class string) (wrong string, err error) {
	var missing Ruling
	if !missing.hasColumns(look, "seq", "state", "class") {
		return "", errors.New(missing.Doubts[0])
	}
	for _, seq := range seqs {
		row := rowOf(look.Rows, seq)
		switch {
		case row == nil:
			return fmt.Sprintf("intent %s, which was queued at the deletion, was dropped", seq), nil
		case text(row, "state") != state || text(row, "class") != class:
			return fmt.Sprintf("%s, which was queued at the deletion, is %q, class %q; expected %q", intentOf(row), text(row, "state"), text(row, "class"), state), nil
		}
	}
	return "", nil
}
