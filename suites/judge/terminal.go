package judge

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// AppliedIsTerminal (WR-24): an intent that was seen applied is so at every later
// look, without another attempt; a call that is repeated then gets the result of
// the first time, and changes nothing on the record.
func AppliedIsTerminal(h history.History) Ruling {
	var r Ruling
	r.staysApplied(h)
	r.firstResult(h)
	r.recordUnchanged(h)
	return r
}

// staysApplied follows every intent through all looks at it.
func (r *Ruling) staysApplied(h history.History) {
	applied, told := map[string]map[string]map[string]any{}, map[string]bool{} // by item and number
	again := false
	for _, e := range h.Events {
		if e.Kind != history.KindLook || e.Look.Probe != "intents" || e.Look.Error != "" {
			continue
		}
		id := e.Look.Params["item_id"]
		if !r.hasColumns(*e.Look, "seq", "state", "attempts") {
			return
		}
		for _, seq := range sortedKeys(applied[id]) {
			was, is := applied[id][seq], rowOf(e.Look.Rows, seq)
			again = true
			switch {
			case told[seq]:
			case is == nil:
				told[seq] = true
				r.broke("WR-24", "an applied intent is gone", intentOf(was)+" of item "+id)
			case text(is, "state") != "applied":
				told[seq] = true
				r.broke("WR-24", "an applied intent did not stay applied", intentOf(was)+fmt.Sprintf(" of item %s became %q", id, text(is, "state")))
			case number(is, "attempts") != number(was, "attempts"):
				told[seq] = true
				r.broke("WR-24", "an applied intent was tried again",
					intentOf(was)+fmt.Sprintf(" of item %s: attempts were %d and became %d", id, number(was, "attempts"), number(is, "attempts")))
			}
		}
		for _, row := range e.Look.Rows {
			if text(row, "state") == "applied" {
				if applied[id] == nil {
					applied[id] = map[string]map[string]any{}
				}
				if applied[id][text(row, "seq")] == nil {
					applied[id][text(row, "seq")] = row
				}
			}
		}
	}
	if !again {
		r.doubted("no intent was looked at again after it had been seen applied")
	}
}

// firstResult judges the calls that were repeated once everything of their item
// was seen applied. Of each role the first breach is told; each role of which a
// call was applied must have been repeated.
func (r *Ruling) firstResult(h history.History) {
	judged := map[string]bool{}
	for _, role := range []string{"start", "note", "status", "complete", "cancel"} {
		found := len(r.Findings)
		for _, same := range repetitions(h, role) {
			for _, o := range same[1:] {
				if len(r.Findings) == found && same[0].Outcome() == history.Done && allAppliedBefore(h, same[0].Text("item_id"), o.InvokedAt.Seq) {
					judged[role] = r.sameResult(same[0], o) || judged[role]
				}
			}
		}
		if needed := role == "start" || role == "note" || len(acknowledged(h, role)) > 0; needed && !judged[role] && len(r.Findings) == 0 {
			r.doubted("no %s was repeated once it had been seen applied", role)
		}
	}
}

// sameResult judges one repetition of a call; false if it was not answered. State,
// anchor and materialized are those of now, everything else is as it was.
func (r *Ruling) sameResult(first, o history.Operation) bool {
	id := first.Text("item_id")
	call := fmt.Sprintf("call %s (%s), first made as call %s", o.Invoked.ID, o.Invoked.Role, first.Invoked.ID)
	switch {
	case forGood(o):
		r.broke("WR-24", "a repetition of an applied call was refused for good", call, fmt.Sprintf("class %q, code %q", o.Text("failure_class"), o.Text("failure_code")))
	case o.Outcome() != history.Done:
		r.doubted("%s was not answered: %s", call, o.Outcome())
		return false
	case o.Text("item_id") != id:
		r.broke("WR-24", "a repetition of an applied call names another item", call, fmt.Sprintf("first %q, now %q", id, o.Text("item_id")))
	case o.Text("state") != "applied":
		r.broke("WR-24", "a repetition of an applied call does not say that it is applied", call, fmt.Sprintf("state %q", o.Text("state")))
	case o.Text("failure_code") != "" || o.Text("failure_class") != "":
		r.broke("WR-24", "a repetition of an applied call tells a failure", call, fmt.Sprintf("class %q, code %q", o.Text("failure_class"), o.Text("failure_code")))
	case o.Field("materialized") == false || o.Text("anchor") == "provisional":
		r.broke("WR-24", "a repetition of an applied call denies that the record is there", call, fmt.Sprintf("materialized %v, anchor %q", o.Field("materialized"), o.Text("anchor")))
	}
	return true
}

// allAppliedBefore says that the last look at an item's intents before an event
// showed all of them applied.
func allAppliedBefore(h history.History, id string, seq int64) bool {
	all := false
	for _, e := range h.Events {
		if e.Seq < seq && e.Kind == history.KindLook && e.Look.Probe == "intents" && id != "" && e.Look.Params["item_id"] == id {
			all = e.Look.Error == "" && len(e.Look.Rows) > 0 &&
				!slices.ContainsFunc(e.Look.Rows, func(row map[string]any) bool { return text(row, "state") != "applied" })
		}
	}
	return all
}

// recordUnchanged compares the record before and after the repetitions.
func (r *Ruling) recordUnchanged(h history.History) {
	judged := 0
	for _, before := range r.lastLooks(h, "item", whenEarly) {
		id := before.Params["item_id"]
		after, ok := lastLook(h, "item", whenConverged, item(id))
		switch {
		case !ok || len(before.Rows) != 1:
			r.doubted("the record of item %s was not seen both before and after its calls were repeated", id)
			continue
		case len(after.Rows) != 1:
			r.broke("WR-24", "the record of an applied start is not there once", fmt.Sprintf("item %s stands in the library %d times", id, len(after.Rows)))
			continue
		}
		judged++
		for _, column := range []string{"title", "status", "notes"} {
			if !reflect.DeepEqual(before.Rows[0][column], after.Rows[0][column]) {
				r.broke("WR-24", "repeating applied calls changed the record",
					fmt.Sprintf("item %s: its %s was %s and became %s", id, column, shortened(fmt.Sprint(before.Rows[0][column]), 200), shortened(fmt.Sprint(after.Rows[0][column]), 200)))
			}
		}
	}
	if judged == 0 && r.silent() {
		r.doubted("no record was seen before its calls were repeated")
	}
}

// sortedKeys are the keys of rows by number, so that rulings are the same each time.
func sortedKeys(rows map[string]map[string]any) []string {
	return slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		if len(a) != len(b) { // numbers in the order of numbers
			return len(a) - len(b)
		}
		return compareText(a, b)
	})
}
