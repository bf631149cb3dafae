package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// BlockedUntilPerson (WR-23): between the person's lock and the person's unblock
// an intent stays pending, with class blocked once it was tried, and nothing is
// written, also in an app that starts again in between; after the unblock the same
// intents are applied.
func BlockedUntilPerson(h history.History) Ruling {
	var r Ruling
	locked, lifted := personDid(h, "lock"), personDid(h, "unblock")
	if locked == 0 || lifted < locked {
		return doubt("the person was not seen to lock the library and to unblock it later")
	}
	before := map[string]bool{}
	for _, look := range r.lastLooks(h, "intents", whenEarly) {
		for _, row := range look.Rows {
			before[text(row, "seq")] = ended(row)
		}
	}
	kept, told, blocked := map[string]map[string]any{}, map[string]bool{}, false
	for _, e := range h.Events {
		if e.Kind != history.KindLook || e.Look.Probe != "intents" || e.Look.When != whenHeld || e.Seq < locked || e.Seq > lifted {
			continue
		}
		if e.Look.Error != "" {
			r.doubted("the look at the intents of item %s failed: %s", e.Look.Params["item_id"], e.Look.Error)
			continue
		}
		if !r.hasColumns(*e.Look, "seq", "state", "class", "attempts") {
			continue
		}
		for _, row := range e.Look.Rows {
			seq, found := text(row, "seq"), len(r.Findings)
			if before[seq] || told[seq] {
				continue
			}
			kept[seq] = row
			blocked = r.staysBlocked(row) || blocked
			told[seq] = len(r.Findings) > found
		}
	}
	switch {
	case len(kept) == 0:
		r.doubted("no intent was seen to wait while the library was locked")
	case !blocked && len(r.Findings) == 0:
		r.doubted("no attempt at a blocked intent was seen")
	case startsWhileHeld(h, "app") == 0 && len(r.Findings) == 0:
		r.doubted("the app was not started again between two looks at a blocked intent")
	}
	r.nothingWrittenWhileLocked(h)
	r.blockedAnswers(h, locked, lifted)
	r.appliedOnceFree(h, kept)
	return r
}

// staysBlocked judges one waiting intent; true if it was tried and is blocked.
func (r *Ruling) staysBlocked(row map[string]any) bool {
	state, class := text(row, "state"), text(row, "class")
	switch {
	case state == "failed":
		r.broke("WR-23", "a blocked intent was ended before the person acted", intentOf(row)+fmt.Sprintf(": class %q, code %q", class, text(row, "code")))
	case state == "applied":
		r.broke("WR-23", "a blocked intent was applied before the person acted", intentOf(row))
	case number(row, "attempts") == 0:
		// It stands behind the head of its queue.
	case state != "pending" || class != "blocked":
		r.broke("WR-23", "an intent that only a person can free is not kept pending and blocked", intentOf(row)+fmt.Sprintf(" is %q, class %q", state, class))
	default:
		return true
	}
	return false
}

func (r *Ruling) nothingWrittenWhileLocked(h history.History) {
	r.libraryUnwritten(h, unwritten{"WR-23", whenEarly, whenHeld, "while the library was locked", "the library was written while its user had locked it"})
}

// blockedAnswers: what is answered meanwhile calls the command queued.
func (r *Ruling) blockedAnswers(h history.History, locked, lifted int64) {
	asked := 0
	for _, o := range h.Operations("") {
		if o.InvokedAt.Seq < locked || !endedBefore(o, lifted) || o.Param("moment") != whenHeld {
			continue
		}
		asked++
		switch {
		case o.Outcome() == history.Unknown:
			r.doubted("call %s (%s) got no answer, so that it is not known what it says of the blocked intent", o.Invoked.ID, o.Invoked.Role)
		case forGood(o) || o.Text("state") != "queued":
			r.broke("WR-23", "an answer does not call a blocked command queued",
				fmt.Sprintf("call %s (%s): state %q, class %q, code %q", o.Invoked.ID, o.Invoked.Role, o.Text("state"), o.Text("failure_class"), o.Text("failure_code")))
		}
	}
	if asked == 0 {
		r.doubted("nobody asked about a blocked command before the person acted")
	}
}

func (r *Ruling) appliedOnceFree(h history.History, kept map[string]map[string]any) {
	left := map[string]map[string]any{}
	for seq, row := range kept {
		left[seq] = row
	}
	for _, look := range r.lastLooks(h, "intents", whenConverged) {
		for _, row := range look.Rows {
			if left[text(row, "seq")] == nil {
				continue
			}
			delete(left, text(row, "seq"))
			if text(row, "state") != "applied" {
				r.broke("WR-23", "a blocked intent was not applied after the person had acted", intentOf(row)+fmt.Sprintf(" is %q, code %q", text(row, "state"), text(row, "code")))
			}
		}
	}
	if len(left) == len(kept) && len(kept) > 0 {
		r.doubted("the intents were not seen at the end")
		return
	}
	for _, seq := range sortedKeys(left) {
		r.broke("WR-23", "a blocked intent is gone after the person had acted", intentOf(left[seq]))
	}
}
