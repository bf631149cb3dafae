package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

var classes = []string{"transient", "permanent", "blocked"}

// TwoErrors (WR-15): an ID that was never issued and a dead one are refused
// with different structured errors.
func TwoErrors(h history.History) Ruling {
	var r Ruling
	codes := map[string]string{}
	for _, about := range []string{"never-issued", "dead"} {
		for _, o := range h.Operations("note") {
			if o.Param("about") != about {
				continue
			}
			if o.Outcome() != history.Refused || o.Text("failure_code") == "" {
				r.broke("WR-15", "a follow-up on a "+about+" ID was not refused with a structured code",
					fmt.Sprintf("call %s: outcome %s, code %q", o.Invoked.ID, o.Outcome(), o.Text("failure_code")))
			}
			codes[about] = o.Text("failure_code")
		}
		if _, tried := codes[about]; !tried {
			r.doubted("no follow-up was sent to a %s ID", about)
		}
	}
	if len(codes) == 2 && len(r.Findings) == 0 && codes["never-issued"] == codes["dead"] {
		r.broke("WR-15", "a never-issued ID and a dead one get the same error", fmt.Sprintf("both: code %q", codes["dead"]))
	}
	return r
}

// KeptWhileTransient (clause: WR-21 or WR-17): while the guard was shut the same intents were
// tried at least least times, stayed retrying with class transient, and no row
// was added; afterwards the same rows are applied.
func KeptWhileTransient(clause string, least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		held := h.Looks("intents", whenHeld)
		tried := 0
		for _, look := range held {
			for _, row := range look.Rows {
				state, n := text(row, "state"), number(row, "attempts")
				if state == "failed" {
					r.broke(clause, "a transient cause ended an intent",
						fmt.Sprintf("intent %s (%s): failed after %d attempts, code %q", text(row, "seq"), text(row, "kind"), n, text(row, "code")))
				}
				if n == 0 {
					continue // behind the head of its queue
				}
				tried = max(tried, n)
				if state == "retrying" && text(row, "class") != "transient" {
					r.broke(clause, "an intent that waits for its guard is not classed transient",
						fmt.Sprintf("intent %s: class %q", text(row, "seq"), text(row, "class")))
				}
			}
			r.sameRowsApplied(clause, h, look)
		}
		if len(held) == 0 {
			return doubt("the intents were never seen while the guard was shut")
		}
		if tried < least && len(r.Findings) == 0 {
			r.doubted("%d attempts were needed behind the shut guard, %d were seen", least, tried)
		}
		return r
	}
}

func (r *Ruling) sameRowsApplied(clause string, h history.History, held history.Look) {
	end, ok := lastLook(h, "intents", whenConverged, item(held.Params["item_id"]))
	if !ok {
		r.doubted("the intents of item %s were not seen at the end", held.Params["item_id"])
		return
	}
	was, is := columns(held.Rows, "seq"), columns(end.Rows, "seq")
	if !slices.Equal(was, is) {
		r.broke(clause, "the intents were not kept as they were: rows came or went while they were retried",
			"behind the guard: "+quoted(was), "at the end: "+quoted(is))
		return
	}
	for _, row := range end.Rows {
		if text(row, "state") != "applied" {
			r.broke(clause, "an intent was not applied after its transient cause was gone",
				fmt.Sprintf("intent %s (%s) is %q", text(row, "seq"), text(row, "kind"), text(row, "state")))
		}
	}
}

func columns(rows []map[string]any, column string) []string {
	var out []string
	for _, row := range rows {
		out = append(out, text(row, column))
	}
	return out
}

// PermanentOnce (WR-22): an intent with a permanent cause is tried once and ends
// failed with class and reason, in the store and in an answer; what follows it is
// applied, which shows that the executor had passed it.
func PermanentOnce(h history.History) Ruling {
	var r Ruling
	doomed := h.Marks("doomed")
	if len(doomed) == 0 {
		return doubt("no intent with a permanent cause was sent")
	}
	for _, m := range doomed {
		id, _ := m.Data["item_id"].(string)
		body, _ := m.Data["text"].(string)
		look, ok := lastLook(h, "intents", whenConverged, item(id))
		if !ok {
			r.doubted("the intents of item %s were not seen at the end", id)
			continue
		}
		passed, found := false, false
		for _, row := range look.Rows {
			if text(row, "text") == body {
				found = true
				r.failedOnce(row)
			} else if found && text(row, "state") == "applied" {
				passed = true
			}
		}
		if !found {
			r.broke("WR-22", "an acknowledged intent that could not be applied was dropped", fmt.Sprintf("item %s, note %q", id, body))
		} else if !passed && len(r.Findings) == 0 {
			r.broke("WR-22", "a permanently failed follow-up was not passed over", "nothing behind it on item "+id+" was applied")
		}
		r.failureAnswered(h, body)
	}
	return r
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

// Structured (WR-25): every refusal carries class and code as fields, and so
// does every failure in the store.
func Structured(h history.History) Ruling {
	var r Ruling
	refused, stored := 0, 0
	for _, o := range h.Operations("") {
		if o.Outcome() != history.Refused {
			continue
		}
		refused++
		if !slices.Contains(classes, o.Text("failure_class")) || o.Text("failure_code") == "" {
			r.broke("WR-25", "a refusal is told by words only",
				fmt.Sprintf("call %s (%s): class %q, code %q", o.Invoked.ID, o.Invoked.Role, o.Text("failure_class"), o.Text("failure_code")),
				"answer: "+string(o.Returned.Answer))
		}
	}
	for _, look := range h.Looks("intents", "") {
		for _, row := range look.Rows {
			if s := text(row, "state"); s != "failed" && s != "retrying" {
				continue
			}
			stored++
			if !slices.Contains(classes, text(row, "class")) || text(row, "code") == "" {
				r.broke("WR-25", "a stored failure lacks class or code",
					fmt.Sprintf("intent %s is %q with class %q, code %q", text(row, "seq"), text(row, "state"), text(row, "class"), text(row, "code")))
			}
		}
	}
	if refused == 0 {
		r.doubted("nothing was refused")
	}
	if stored == 0 {
		r.doubted("no stored failure was seen")
	}
	return r
}
