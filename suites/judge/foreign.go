package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// OtherAccountKeepsOut (WR-19): while another account is signed in, nothing of
// the owner's records is applied, failed, claimed, killed or shown; when the
// owner is back all of it is applied. Every surface was seen by the owner's
// session before, which shows that it would have shown something.
func OtherAccountKeepsOut(h history.History) Ruling {
	var r Ruling
	r.foreignIntents(h)
	r.foreignAnchors(h)
	r.foreignWrites(h)
	r.foreignShown(h)
	r.foreignAnswers(h)
	r.appliedForOwner(h)
	return r
}

// foreignIntents holds what waited to what was there in the owner's session.
func (r *Ruling) foreignIntents(h history.History) {
	const who = "another account's session "
	turnedAway, waited := false, 0
	for _, before := range r.lastLooks(h, "intents", whenEarly) {
		id := before.Params["item_id"]
		after, ok := lastLook(h, "intents", whenOther, item(id))
		if !ok {
			r.doubted("the intents of item %s were not seen while another account was signed in", id)
			continue
		}
		if !r.hasColumns(before, "seq", "state", "owner") || !r.hasColumns(after, "seq", "state", "class", "code", "owner") {
			continue
		}
		for _, was := range before.Rows {
			if is := rowOf(after.Rows, text(was, "seq")); is != nil && text(is, "owner") != text(was, "owner") {
				r.broke("WR-19", who+"claimed an intent that is not its own", intentOf(was)+fmt.Sprintf(" of item %s: its owner was %q and became %q", id, text(was, "owner"), text(is, "owner")))
			}
			if state := text(was, "state"); state == "applied" || state == "failed" {
				continue
			}
			waited++
			is := rowOf(after.Rows, text(was, "seq"))
			if is == nil {
				r.broke("WR-19", who+"removed an intent that is not its own", intentOf(was)+" of item "+id)
				continue
			}
			turnedAway = turnedAway || text(is, "class") == "blocked" && text(is, "code") == "owner_mismatch"
			switch text(is, "state") {
			case "applied":
				r.broke("WR-19", who+"applied an intent that is not its own", intentOf(is)+" of item "+id)
			case "failed":
				r.broke("WR-19", who+"ended an intent that is not its own", intentOf(is)+" of item "+id+fmt.Sprintf(": code %q", text(is, "code")))
			}
		}
	}
	switch {
	case waited == 0:
		r.doubted("no intent of the owner waited when the other account was signed in")
	case !turnedAway && len(r.Findings) == 0:
		r.doubted("the other account's session was not seen to be turned away from an intent")
	}
}

func (r *Ruling) foreignAnchors(h history.History) {
	before, okB := lastLook(h, "anchors", whenEarly, nil)
	after, okA := lastLook(h, "anchors", whenOther, nil)
	switch {
	case !okB || !okA:
		r.doubted("the anchors were not seen both before and while another account was signed in")
		return
	case len(before.Rows) == 0:
		r.doubted("no anchor was there that could have been claimed or killed")
		return
	case !r.hasColumns(before, "item_id", "state", "owner"):
		return
	}
	for _, was := range before.Rows {
		id := text(was, "item_id")
		n := slices.IndexFunc(after.Rows, func(row map[string]any) bool { return text(row, "item_id") == id })
		if n < 0 {
			r.broke("WR-19", "another account's session removed an anchor", "anchor "+id)
			continue
		}
		is := after.Rows[n]
		if text(was, "owner") != text(is, "owner") {
			r.broke("WR-19", "another account's session claimed a record", fmt.Sprintf("anchor %s: its owner was %q and became %q", id, text(was, "owner"), text(is, "owner")))
		}
		switch state := text(is, "state"); {
		case state == text(was, "state"):
		case state == "dead":
			r.broke("WR-19", "another account's session killed a record", fmt.Sprintf("anchor %s was %q and became dead, reason %q", id, text(was, "state"), text(is, "reason")))
		default:
			r.broke("WR-19", "another account's session decided on a record", fmt.Sprintf("anchor %s was %q and became %q", id, text(was, "state"), state))
		}
	}
}

func (r *Ruling) foreignWrites(h history.History) {
	r.libraryUnwritten(h, unwritten{"WR-19", whenEarly, whenOther, "while another account was signed in", "the library was written in another account's session"})
}

// foreignShown looks for the owner's records among what a person sees.
func (r *Ruling) foreignShown(h history.History) {
	own := items(h)
	shownIn := func(probe string, look history.Look) (shown []string) {
		for _, row := range look.Rows {
			id := text(row, "item_id")
			if probe == "card" {
				id = look.Params["item_id"] // a card is looked for by its item
			}
			if slices.Contains(own, id) {
				shown = append(shown, id)
			}
		}
		return shown
	}
	for _, probe := range []string{"items", "card"} {
		before, after := r.lastLooks(h, probe, whenEarly), r.lastLooks(h, probe, whenOther)
		if probe == "card" && len(h.Looks(probe, "")) == 0 {
			continue // a target may have no page
		}
		seen := slices.ContainsFunc(before, func(l history.Look) bool { return len(shownIn(probe, l)) > 0 })
		if !seen || len(after) == 0 {
			r.doubted("the owner's records were not seen through the probe %s in the owner's session, or not looked for in the other's", probe)
		}
		for _, look := range after {
			if shown := shownIn(probe, look); len(shown) > 0 {
				r.broke("WR-19", "another account's session shows a record that is not its own", "seen by: "+probe, "items: "+quoted(shown))
			}
		}
	}
}

// foreignAnswers judges what was answered while the other account was signed in.
func (r *Ruling) foreignAnswers(h history.History) {
	read, own := 0, items(h)
	for _, o := range h.Operations("") {
		if o.Param("moment") != whenOther {
			continue
		}
		call := fmt.Sprintf("call %s (%s)", o.Invoked.ID, o.Invoked.Role)
		switch {
		case o.Outcome() == history.Unknown:
			r.doubted("%s got no answer, so that it is not known what it shows", call)
		case o.Invoked.Role == "start":
			if id := o.Text("item_id"); o.Outcome() == history.Done && !startedBefore(h, o, own, id) {
				r.broke("WR-19", "a start in another account's session was given a record in place of the owner's",
					call+fmt.Sprintf(" under the task key of the owner's record answered item %q", id))
			}
		case o.Invoked.Role != "get":
		case o.Outcome() == history.Done:
			read++
			r.broke("WR-19", "a read in another account's session was answered with a record that is not its own", call, "answer: "+answerOf(o))
		default:
			read++
			if o.Text("failure_code") != "account_unavailable" {
				r.broke("WR-19", "a read in another account's session does not say that the account is unavailable",
					call+fmt.Sprintf(": class %q, code %q", o.Text("failure_class"), o.Text("failure_code")))
			}
		}
	}
	if read == 0 && len(r.Findings) == 0 {
		r.doubted("no record was read while another account was signed in")
	}
}

// startedBefore says that an ID was answered to a start before this one.
func startedBefore(h history.History, o history.Operation, own []string, id string) bool {
	return slices.Contains(own, id) && slices.ContainsFunc(acknowledged(h, "start"), func(s history.Operation) bool {
		return s.Text("item_id") == id && endedBefore(s, o.InvokedAt.Seq)
	})
}

// appliedForOwner: when the owner is back everything comes to be.
func (r *Ruling) appliedForOwner(h history.History) {
	own := 0
	for _, s := range acknowledged(h, "start") {
		id := s.Text("item_id")
		if s.Param("moment") == whenOther || s.Param("moment") == whenConverged {
			continue
		}
		own++
		record, okR := lastLook(h, "item", whenConverged, item(id))
		intents, okI := lastLook(h, "intents", whenConverged, item(id))
		if !okR || !okI {
			r.doubted("item %s and its intents were not seen once the owner was back", id)
			continue
		}
		if len(record.Rows) != 1 {
			r.broke("WR-19", "a record is not there when its owner is back", fmt.Sprintf("item %s stands in the library %d times", id, len(record.Rows)))
		}
		for _, row := range intents.Rows {
			if text(row, "state") != "applied" {
				r.broke("WR-19", "an intent was not applied when its owner was back", intentOf(row)+fmt.Sprintf(" of item %s is %q, code %q", id, text(row, "state"), text(row, "code")))
			}
		}
	}
	if own == 0 {
		r.doubted("no record of the owner was started")
	}
}
