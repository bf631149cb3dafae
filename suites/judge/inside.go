package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// waysOut are the ways out of the staging root that the contract names; a note
// says its own in the parameter "leads".
var waysOut = []string{"by ..", "absolutely", "by a link", "by a link that came later"}

// StaysInside (WR-28): a note whose attachment leads out of the staging root is
// refused with nothing stored, or fails for good at its first attempt; nothing
// outside is read, and what stands there shows nowhere. The control is an
// attachment inside: its note is on the record, and its file was seen to be read.
func StaysInside(h history.History) Ruling {
	var r Ruling
	tried := map[string]bool{}
	control := slices.ContainsFunc(h.Operations("note"), func(o history.Operation) bool {
		return o.Param("leads") == "inside" && o.Outcome() == history.Done && onRecordAtEnd(h, o)
	})
	if !control {
		r.doubted("the note with an attachment inside the staging root did not come on the record, so that a failure may have another cause")
	}
	for _, o := range h.Operations("note") {
		switch leads := o.Param("leads"); {
		case leads == "" || leads == "inside":
		case o.Outcome() == history.Unknown:
			r.doubted("call %s got no answer, so that it is not known what became of a path that leads out %s", o.Invoked.ID, leads)
		default:
			tried[leads] = true
			if control {
				r.turnedAway(h, o)
			}
		}
	}
	for _, way := range waysOut {
		if !tried[way] {
			r.doubted("no attachment was tried that leads out %s", way)
		}
	}
	r.nothingRead(h)
	r.nothingShown(h)
	return r
}

// turnedAway rules over one note whose attachment leads out.
func (r *Ruling) turnedAway(h history.History, o history.Operation) {
	call := fmt.Sprintf("call %s, an attachment that leads out %s", o.Invoked.ID, o.Param("leads"))
	id, body := o.Param("item_id"), o.Param("text")
	look, ok := lastLook(h, "intents", whenConverged, item(id))
	if !ok {
		r.doubted("the intents of item %s were not seen at the end", id)
		return
	}
	if !r.hasColumns(look, "text", "state", "class", "attempts") {
		return
	}
	own := slices.DeleteFunc(slices.Clone(look.Rows), func(row map[string]any) bool { return text(row, "text") != body })
	switch {
	case o.Outcome() == history.Refused && !forGood(o):
		r.broke("WR-28", "a path that leads out was refused as if time would help", call, "answer: "+answerOf(o))
	case o.Outcome() == history.Refused && len(own) > 0:
		r.broke("WR-28", "a path that leads out was refused and stored", call, fmt.Sprintf("%d intents", len(own)))
	case o.Outcome() == history.Refused:
	case len(own) != 1:
		r.broke("WR-28", "an acknowledged note with a path that leads out is not in the store once", call, fmt.Sprintf("%d intents", len(own)))
	case text(own[0], "state") != "failed" || text(own[0], "class") != "permanent" || number(own[0], "attempts") != 1:
		r.broke("WR-28", "a path that leads out did not fail for good at its first attempt", call,
			fmt.Sprintf("intent %s is %q, class %q, after %d attempts", text(own[0], "seq"), text(own[0], "state"), text(own[0], "class"), number(own[0], "attempts")))
	}
	if onRecordAtEnd(h, o) {
		r.broke("WR-28", "a note whose attachment leads out is on the record", call)
	}
}

func onRecordAtEnd(h history.History, o history.Operation) bool {
	look, ok := lastLook(h, "item", whenConverged, item(o.Param("item_id")))
	if !ok || len(look.Rows) == 0 {
		return false
	}
	notes, _ := texts(look.Rows[0], "notes")
	return slices.Contains(notes, o.Param("text"))
}

// nothingRead rules over what the kernel saw of the file outside.
func (r *Ruling) nothingRead(h history.History) {
	outside, okO := lastLook(h, "reads", whenConverged, map[string]string{"file": "outside"})
	staged, okS := lastLook(h, "reads", whenConverged, map[string]string{"file": "staged"})
	if !okS || !slices.ContainsFunc(staged.Rows, wasRead) {
		r.doubted("the file inside the staging root was not seen to be read, so that a read outside would not have been seen either")
	}
	switch {
	case !okO || len(outside.Rows) == 0:
		r.doubted("the file outside of the staging root was not watched")
	case slices.ContainsFunc(outside.Rows, wasRead):
		r.broke("WR-28", "a file outside of the staging root was read")
	}
}

func wasRead(row map[string]any) bool { return truth(row, "read") }

// nothingShown looks for the content of the file outside in every answer and look.
func (r *Ruling) nothingShown(h history.History) {
	canaries := h.Marks("outside")
	if len(canaries) == 0 {
		r.doubted("no file was put outside of the staging root")
	}
	for _, m := range canaries {
		canary := text(m.Data, "text")
		for _, e := range h.Events {
			switch {
			case e.Kind == history.KindCall && strings.Contains(string(e.Call.Answer), canary):
				r.broke("WR-28", "content from outside of the staging root is in an answer", "call "+e.Call.ID)
			case e.Kind == history.KindLook && strings.Contains(printed(e.Look.Rows), canary):
				r.broke("WR-28", "content from outside of the staging root is on the record or in a store", "seen by the probe "+e.Look.Probe)
			}
		}
	}
}

func printed(rows []map[string]any) string {
	raw, err := json.Marshal(rows)
	if err != nil {
		return ""
	}
	return string(raw)
}
