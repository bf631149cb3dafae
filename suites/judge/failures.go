package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

var classes = []string{"transient", "permanent", "blocked"}

// PermanentOnce (WR-22): an accepted note whose staged file was then swapped for
// a link that leads outside is tried once and ends failed with class and reason,
// in the store and in an answer; what follows it is applied, which shows that the
// executor had passed it.
func PermanentOnce(h history.History) Ruling {
	var r Ruling
	doomed := doomedNotes(h)
	if len(doomed) == 0 {
		return doubt("no note was accepted whose attachment was then swapped for a link")
	}
	for _, o := range doomed {
		id, body := o.Param("item_id"), o.Param("text")
		look, ok := lastLook(h, "intents", whenConverged, item(id))
		if !ok {
			r.doubted("the intents of item %s were not seen at the end", id)
		} else if r.hasColumns(look, "text", "state", "class", "attempts") {
			r.failedAndPassed(id, body, look.Rows)
		}
		r.failureAnswered(h, body)
		r.notOnRecord(h, id, body)
	}
	return r
}

// doomedNotes are the accepted notes with an attachment that was swapped since.
func doomedNotes(h history.History) []history.Operation {
	swapped := map[string]bool{}
	for _, m := range h.Marks("swapped for a link") {
		swapped[text(m.Data, "file")] = true
	}
	return slices.DeleteFunc(acknowledged(h, "note"), func(o history.Operation) bool {
		return o.Param("attachment") == "" || !swapped[o.Param("attachment")] || o.Param("moment") != ""
	})
}

// failedAndPassed judges the rows of one item's intents, in order of acceptance.
func (r *Ruling) failedAndPassed(id, body string, rows []map[string]any) {
	found, behind, passed := 0, 0, false
	for _, row := range rows {
		switch {
		case text(row, "text") == body:
			found++
			r.failedOnce(row)
		case found > 0:
			behind++
			passed = passed || text(row, "state") == "applied"
		}
	}
	switch {
	case found == 0:
		r.broke("WR-22", "an acknowledged intent that could not be applied was dropped", fmt.Sprintf("item %s, note %q", id, body))
	case found > 1:
		r.broke("WR-22", "an intent with a permanent cause was stored again", fmt.Sprintf("item %s, note %q: %d intents", id, body, found))
	case behind == 0:
		r.doubted("nothing stood behind the failed note of item %s, so that it was not seen to be passed over", id)
	case !passed:
		r.broke("WR-22", "a permanently failed follow-up was not passed over", "nothing behind it on item "+id+" was applied")
	}
}

func (r *Ruling) failedOnce(row map[string]any) {
	if text(row, "state") != "failed" || text(row, "class") != "permanent" {
		r.broke("WR-22", "a permanent cause did not end its intent as failed",
			fmt.Sprintf("intent %s is %q, class %q", text(row, "seq"), text(row, "state"), text(row, "class")))
	}
	if n := number(row, "attempts"); n != 1 {
		r.broke("WR-22", "an intent with a permanent cause was not tried exactly once", fmt.Sprintf("intent %s: %d attempts", text(row, "seq"), n))
	}
	if text(row, "reason") == "" {
		r.broke("WR-22", "a permanent failure keeps no readable reason", "intent "+text(row, "seq"))
	}
}

func (r *Ruling) failureAnswered(h history.History, body string) {
	asked := 0
	for _, o := range h.Operations("note") {
		if o.Param("text") != body || o.Param("moment") != whenConverged || o.Outcome() == history.Unknown {
			continue
		}
		asked++
		if o.Text("state") != "failed" || o.Text("failure_class") != "permanent" || o.Text("failure_reason") == "" {
			r.broke("WR-22", "a replay does not tell the permanent failure by structure",
				fmt.Sprintf("call %s: state %q, class %q, reason %q", o.Invoked.ID, o.Text("state"), o.Text("failure_class"), o.Text("failure_reason")))
		}
	}
	if asked == 0 {
		r.doubted("the failed note was not asked about again")
	}
}

func (r *Ruling) notOnRecord(h history.History, id, body string) {
	look, ok := lastLook(h, "item", whenConverged, item(id))
	if !ok {
		r.doubted("the record of item %s was not seen at the end", id)
		return
	}
	if len(look.Rows) == 0 {
		r.doubted("item %s has no record on which the failed note could stand", id)
	}
	for _, row := range look.Rows {
		if notes, ok := texts(row, "notes"); ok && slices.Contains(notes, body) {
			r.broke("WR-22", "a note that failed for good stands on the record", fmt.Sprintf("item %s, note %q", id, body))
		}
	}
}

// Structured (WR-25): every refusal and every answered failure carries class, code
// and reason as fields, and so does every failure in the store.
func Structured(h history.History) Ruling {
	var r Ruling
	refused, stored := 0, map[string]int{}
	for _, o := range h.Operations("") {
		if o.Outcome() == history.Unknown {
			r.doubted("call %s (%s) got no answer, so that it is not known how it would tell a failure", o.Invoked.ID, o.Invoked.Role)
		}
		failed := o.Outcome() == history.Done && o.Text("state") == "failed"
		if o.Outcome() != history.Refused && !failed {
			continue
		}
		if !failed {
			refused++
		}
		r.toldByFields(o)
	}
	for _, look := range h.Looks("intents", "") {
		if look.Error != "" {
			r.doubted("the look at the intents of item %s failed: %s", look.Params["item_id"], look.Error)
		}
		for _, row := range look.Rows {
			if state := text(row, "state"); state == "failed" || state == "retrying" {
				stored[state]++
				r.storedInFields(row)
			}
		}
	}
	if refused == 0 {
		r.doubted("nothing was refused")
	}
	for _, state := range []string{"retrying", "failed"} {
		if stored[state] == 0 {
			r.doubted("no stored intent was seen that is %s", state)
		}
	}
	return r
}

// toldByFields rules over the failure that an answer tells.
func (r *Ruling) toldByFields(o history.Operation) {
	call := fmt.Sprintf("call %s (%s): class %q, code %q", o.Invoked.ID, o.Invoked.Role, o.Text("failure_class"), o.Text("failure_code"))
	switch {
	case !slices.Contains(classes, o.Text("failure_class")) || o.Text("failure_code") == "":
		r.broke("WR-25", "a failure is told by words only", call, "answer: "+answerOf(o))
	case o.Text("failure_reason") == "":
		r.broke("WR-25", "a failure has no reason that a person can read", call, "answer: "+answerOf(o))
	}
}

// storedInFields rules over the failure that an intent in the store has.
func (r *Ruling) storedInFields(row map[string]any) {
	intent := fmt.Sprintf("intent %s is %q with class %q, code %q", text(row, "seq"), text(row, "state"), text(row, "class"), text(row, "code"))
	switch {
	case !slices.Contains(classes, text(row, "class")) || text(row, "code") == "":
		r.broke("WR-25", "a stored failure lacks class or code", intent)
	case text(row, "reason") == "":
		r.broke("WR-25", "a stored failure keeps no reason that a person can read", intent)
	}
}

// BlockedStructured (WR-25): an intent that was tried and waits for a person has
// class, code and reason as fields, in the store and in every answer about it.
func BlockedStructured(h history.History) Ruling {
	var r Ruling
	stored, asked := 0, 0
	for _, look := range r.lastLooks(h, "intents", whenHeld) {
		if !r.hasColumns(look, "state", "attempts") {
			continue
		}
		for _, row := range look.Rows {
			if !ended(row) && number(row, "attempts") > 0 {
				stored++
				r.storedInFields(row)
			}
		}
	}
	for _, o := range h.Operations("") {
		if o.Param("moment") != whenHeld {
			continue
		}
		asked++
		if o.Outcome() == history.Unknown {
			r.doubted("call %s (%s) got no answer, so that it is not known how it would tell of a blocked intent", o.Invoked.ID, o.Invoked.Role)
			continue
		}
		r.toldByFields(o)
	}
	if stored == 0 {
		r.doubted("no intent was seen in the store that was tried and waits")
	}
	if asked == 0 {
		r.doubted("nobody asked about an intent that waits")
	}
	return r
}
