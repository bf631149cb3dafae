package judge

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// LiveIsReturned (WR-16): a start on a task whose record is live is answered
// with that record, and makes no second item. Such a start names in its
// parameter "beside" the item that it finds.
func LiveIsReturned(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, o := range h.Operations("start") {
		id := o.Param("beside")
		if id == "" {
			continue
		}
		call := fmt.Sprintf("call %s under task key %q", o.Invoked.ID, o.Param("task_key"))
		there, ok := lastLook(h, "item", whenEarly, item(id))
		switch {
		case !ok || len(there.Rows) == 0:
			r.doubted("item %s was not seen in the library when its task was started again", id)
			continue
		case o.Outcome() != history.Done && !forGood(o):
			r.doubted("%s was not answered: %s", call, o.Outcome())
			continue
		case forGood(o):
			r.broke("WR-16", "a start on a task whose record is live was refused for good", call,
				fmt.Sprintf("class %q, code %q", o.Text("failure_class"), o.Text("failure_code")))
		case o.Text("item_id") != id:
			r.broke("WR-16", "a start on a task whose record is live was answered with another ID", call,
				fmt.Sprintf("the record is %q, answered %q", id, o.Text("item_id")))
		case o.Field("materialized") != true:
			r.broke("WR-16", "a start on a task whose record is live denies the record", call, fmt.Sprintf("materialized %v", o.Field("materialized")))
		}
		judged++
		r.onlyItem(h, o, id)
	}
	if judged == 0 && r.silent() {
		r.doubted("no task was started again while its record was live")
	}
	return r
}

// onlyItem holds the store and the library to one record under a task key: what
// the later start would have made carries the later start's title.
func (r *Ruling) onlyItem(h history.History, again history.Operation, id string) {
	task := again.Param("task_key")
	anchors, ok := lastLook(h, "anchors", whenConverged, map[string]string{"task_key": task})
	switch {
	case !ok:
		r.doubted("the anchors of task key %q were not seen at the end", task)
	case len(anchors.Rows) != 1:
		r.broke("WR-16", "a start on a task whose record is live left another anchor, or none",
			fmt.Sprintf("the store holds %d anchors under task key %q", len(anchors.Rows), task))
	}
	items, ok := lastLook(h, "items", whenConverged, nil)
	if !ok {
		r.doubted("the library's items were not seen at the end")
		return
	}
	if !r.hasColumns(items, "item_id", "title") {
		return
	}
	n, second := 0, ""
	for _, row := range items.Rows {
		if text(row, "item_id") == id {
			n++
		}
		if text(row, "title") == again.Param("title") {
			second = text(row, "item_id")
		}
	}
	switch {
	case second != "" && second != id:
		r.broke("WR-16", "a start on a task whose record is live made a second item", fmt.Sprintf("the record is %q, item %q carries the later start's title", id, second))
	case n != 1:
		r.broke("WR-16", "the live record is not in the library once", fmt.Sprintf("item %s stands there %d times", id, n))
	}
}

// whenAnswered is the moment at which a call has come back, while nobody but the
// helper can have done anything.
const whenAnswered = "answered"

// GoneIsReplaced (WR-16): a start that finds its live anchor's item gone is
// answered, in that one call, with a new ID: by then the old anchor is dead, and
// the new one is there and becomes a record. Such a start names in its parameter "after" the item that
// the person deleted.
func GoneIsReplaced(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, o := range h.Operations("start") {
		old := o.Param("after")
		if old == "" {
			continue
		}
		if !r.anchorOutlivedItem(h, old) {
			continue
		}
		call, id := fmt.Sprintf("call %s under task key %q", o.Invoked.ID, o.Param("task_key")), o.Text("item_id")
		switch {
		case forGood(o):
			judged++
			r.broke("WR-16", "a start whose live anchor's item is gone was refused for good", call,
				fmt.Sprintf("class %q, code %q", o.Text("failure_class"), o.Text("failure_code")))
			continue
		case o.Outcome() != history.Done:
			r.doubted("%s was not answered: %s", call, o.Outcome())
			continue
		}
		judged++
		r.anchorAtEnd(h, old, "dead", "the anchor of the item that was found gone is not dead")
		if id == old || id == "" {
			r.broke("WR-16", "a start was answered with the ID of an item that is gone", call, fmt.Sprintf("item %s was deleted, answered %q", old, id))
			continue
		}
		r.replacedInThatCall(h, o, old, id)
		r.anchorAtEnd(h, id, "live", "the ID that replaced a gone item did not become a record")
	}
	if judged == 0 && r.silent() {
		r.doubted("no task was started while its live anchor's item was gone")
	}
	return r
}

// anchorOutlivedItem wants the state that the clause is about: the item is gone
// and its anchor still says live.
func (r *Ruling) anchorOutlivedItem(h history.History, id string) bool {
	anchor, okA := lastLook(h, "anchor", whenHeld, item(id))
	gone, okI := lastLook(h, "item", whenHeld, item(id))
	switch {
	case !okA || !okI:
		r.doubted("anchor and item of %s were not both seen before the task was started again", id)
	case len(gone.Rows) > 0:
		r.doubted("item %s was still in the library when its task was started again", id)
	case len(anchor.Rows) != 1 || text(anchor.Rows[0], "state") != "live":
		r.doubted("the anchor of the deleted item %s was not live any more when its task was started again", id)
	default:
		return true
	}
	return false
}

// replacedInThatCall looks at the store as the call has left it.
func (r *Ruling) replacedInThatCall(h history.History, o history.Operation, old, id string) {
	look, ok := lastLook(h, "anchors", whenAnswered, map[string]string{"task_key": o.Param("task_key")})
	if !ok {
		r.doubted("the anchors of task key %q were not seen behind call %s while the app stood still", o.Param("task_key"), o.Invoked.ID)
		return
	}
	if !r.hasColumns(look, "item_id", "state") {
		return
	}
	states := map[string]string{}
	for _, row := range look.Rows {
		states[text(row, "item_id")] = text(row, "state")
	}
	if states[old] != "dead" {
		r.broke("WR-16", "a start was given a new ID and left the anchor of the gone item as it was", fmt.Sprintf("call %s: when it was answered anchor %s was %q", o.Invoked.ID, old, states[old]))
	}
	if states[id] != "provisional" {
		r.broke("WR-16", "a start was given a new ID whose anchor was not there yet", fmt.Sprintf("call %s: when it was answered anchor %s was %q", o.Invoked.ID, id, states[id]))
	}
}

func (r *Ruling) anchorAtEnd(h history.History, id, want, summary string) {
	look, ok := lastLook(h, "anchor", whenConverged, item(id))
	switch {
	case !ok:
		r.doubted("the anchor of item %s was not seen at the end", id)
	case len(look.Rows) != 1 || text(look.Rows[0], "state") != want:
		r.broke("WR-16", summary, fmt.Sprintf("anchor %s at the end: %s", id, quoted(columns(look.Rows, "state"))))
	}
}

// raw are the words of a storage layer, which no caller can decide by.
var raw = regexp.MustCompile(`(?i)sqlite|sqlstate|constraint failed|foreign key|unique constraint|duplicate key|database is locked|disk image`)

// NoRawStorageErrors rules, under a clause, that no answer holds an error of the
// storage layer as that layer words it: none of its words, and no code that the
// tool's outputSchema does not have. A refusal with a code is the control.
func NoRawStorageErrors(clause string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		lists, refused := toolLists(h), 0
		if len(lists) == 0 {
			return doubt("tools/list was not seen, so that it is not known which codes there are")
		}
		for _, o := range h.Operations("") {
			if o.Outcome() == history.Unknown {
				continue
			}
			if o.Outcome() == history.Refused {
				refused++
			}
			call := fmt.Sprintf("call %s (%s)", o.Invoked.ID, o.Invoked.Role)
			word, code := rawWord(o), o.Text("failure_code")
			places := placesOf(o, lists[0], code)
			switch {
			case word != "":
				r.broke(clause, "an error of the storage layer reached a caller", call+": "+quoted([]string{word}), "answer: "+answerOf(o))
			case o.Outcome() == history.Done:
			case code == "":
				r.broke(clause, "an error without a code reached a caller", call, "answer: "+answerOf(o))
			case slices.ContainsFunc(places, func(p place) bool { return p.words != nil }) && !slices.ContainsFunc(places, place.listed):
				r.broke(clause, "an error reached a caller whose code is none of the outputSchema's", fmt.Sprintf("%s: code %q", call, code), "answer: "+answerOf(o))
			}
		}
		if refused == 0 {
			r.doubted("nothing was refused, so that it was not seen how this target tells an error")
		}
		return r
	}
}

// rawWord is a word of the storage layer in an answer, "" for none.
func rawWord(o history.Operation) string {
	for _, said := range []string{o.Returned.Reason, o.Text("failure_reason"), string(o.Returned.Answer)} {
		if word := raw.FindString(said); word != "" {
			return word
		}
	}
	return ""
}
