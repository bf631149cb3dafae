package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// ProvisionalIsNoFailure (WR-10): while the guard is shut a provisional anchor
// that has its intent is called no failure, in the store and in answers, however
// often it was tried; once the guard is clear its start is applied with no
// further call from anybody. restarts is how often the app must have been
// started while the guard was shut. That the intents were kept and tried often
// enough is KeptWhileTransient's.
func ProvisionalIsNoFailure(restarts int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		ids := items(h)
		for _, id := range ids {
			r.staysProvisional(h, id)
			r.notCalledFailed(h, id)
			r.appliedUncalled(h, id)
		}
		if len(ids) == 0 {
			r.doubted("no start was acknowledged")
		}
		if n := startsWhileHeld(h, "app"); n < restarts {
			r.doubted("the app was to be started %s behind the shut guard, and was started %s", reports.Plural(restarts, "time"), reports.Plural(n, "time"))
		}
		return r
	}
}

func (r *Ruling) staysProvisional(h history.History, id string) {
	seen := 0
	for _, look := range h.Looks("anchor", whenHeld) {
		if look.Params["item_id"] != id {
			continue
		}
		if look.Error != "" {
			r.doubted("the look at the anchor of item %s failed: %s", id, look.Error)
			continue
		}
		seen++
		if len(look.Rows) != 1 || text(look.Rows[0], "state") != "provisional" {
			r.broke("WR-10", "an anchor that waits for its guard did not stay provisional", fmt.Sprintf("anchor %s: %s", id, quoted(columns(look.Rows, "state"))))
			return
		}
	}
	if seen == 0 {
		r.doubted("the anchor of item %s was not seen behind the shut guard", id)
	}
}

// notCalledFailed judges what was answered meanwhile.
func (r *Ruling) notCalledFailed(h history.History, id string) {
	asked := 0
	for _, o := range h.Operations("") {
		if o.Param("moment") != whenHeld || !about(h, o, id) {
			continue
		}
		asked++
		switch {
		case o.Outcome() == history.Unknown:
			r.doubted("call %s (%s) got no answer, so that it is not known what it says of item %s", o.Invoked.ID, o.Invoked.Role, id)
		case forGood(o) || o.Text("state") == "failed" || o.Text("anchor") == "dead" || o.Text("failure_class") == "permanent":
			r.broke("WR-10", "an answer calls a start failed that waits for its guard",
				fmt.Sprintf("call %s (%s): state %q, anchor %q, class %q, code %q", o.Invoked.ID, o.Invoked.Role,
					o.Text("state"), o.Text("anchor"), o.Text("failure_class"), o.Text("failure_code")))
		}
	}
	if asked == 0 {
		r.doubted("nobody asked about item %s behind the shut guard", id)
	}
}

// appliedUncalled: between the last look behind the guard and the first look that
// shows the start applied nobody called anything.
func (r *Ruling) appliedUncalled(h history.History, id string) {
	look, ok := lastLook(h, "intents", whenConverged, item(id))
	if !ok {
		r.doubted("the intents of item %s were not seen at the end", id)
		return
	}
	n := slices.IndexFunc(look.Rows, func(row map[string]any) bool { return text(row, "kind") == "start" })
	switch {
	case n < 0:
		r.broke("WR-10", "the start of a provisional anchor is gone", "item "+id)
	case text(look.Rows[n], "state") != "applied":
		r.broke("WR-10", "a start was not applied once its guard was clear", intentOf(look.Rows[n])+fmt.Sprintf(" of item %s is %q, code %q", id, text(look.Rows[n], "state"), text(look.Rows[n], "code")))
	}
	first := firstConverged(h, id)
	for _, o := range h.Operations("") {
		if o.InvokedAt.Seq > lastHeld(h) && o.InvokedAt.Seq < first {
			r.doubted("call %s (%s) was made after the guard was clear, so that it is not known whether item %s needed it", o.Invoked.ID, o.Invoked.Role, id)
		}
	}
}

// firstConverged is the number of the first look at an item's intents at the end.
func firstConverged(h history.History, id string) int64 {
	for _, e := range h.Events {
		if e.Kind == history.KindLook && e.Look.Probe == "intents" && e.Look.When == whenConverged && e.Look.Params["item_id"] == id {
			return e.Seq
		}
	}
	return never
}

// startsWhileHeld counts the starts of a process between the first and the last
// look behind the shut guard.
func startsWhileHeld(h history.History, process string) int {
	n, first := 0, never
	for _, e := range h.Events {
		switch {
		case e.Kind == history.KindLook && e.Look.When == whenHeld:
			first = min(first, e.Seq)
		case e.Kind == history.KindProcess && e.Process.Name == process && e.Process.State == history.Started && e.Seq > first && e.Seq < lastHeld(h):
			n++
		}
	}
	return n
}
