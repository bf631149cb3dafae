package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// AppliedAfterLogin (WR-17): what was accepted before the account was restored
// is applied under the ID that was answered then.
func AppliedAfterLogin(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, s := range acknowledged(h, "start") {
		id := s.Text("item_id")
		look, ok := lastLook(h, "item", whenConverged, item(id))
		if !ok {
			r.doubted("the library was not seen at the end for item %s", id)
			continue
		}
		judged++
		if len(look.Rows) == 0 {
			r.broke("WR-17", "a start that was accepted before the login never became an item",
				fmt.Sprintf("call %s was answered with item %s", s.Invoked.ID, id))
		}
	}
	if judged == 0 && len(r.Doubts) == 0 {
		r.doubted("no start was acknowledged before the login")
	}
	return r
}

// NothingDecided (WR-18): behind an attempt with no account resolved, nothing
// was written, claimed, failed, marked missing or dead.
func NothingDecided(h history.History) Ruling {
	var r Ruling
	before, after := h.Looks("anchors", whenEarly), h.Looks("anchors", whenHeld)
	if len(before) == 0 || len(after) == 0 {
		return doubt("the anchors were not seen both before and while no account was resolved")
	}
	was := map[string]map[string]any{}
	for _, row := range before[len(before)-1].Rows {
		was[text(row, "item_id")] = row
	}
	for _, row := range after[len(after)-1].Rows {
		id := text(row, "item_id")
		if old, known := was[id]; known {
			for _, column := range []string{"state", "owner", "reason"} {
				if text(old, column) != text(row, column) {
					r.broke("WR-18", "an anchor was decided on with no account resolved",
						fmt.Sprintf("anchor %s: %s was %q and became %q", id, column, text(old, column), text(row, column)))
				}
			}
		}
		delete(was, id)
	}
	for id := range was {
		r.broke("WR-18", "an anchor was removed with no account resolved", "anchor "+id)
	}
	r.intentsUndecided(h)
	r.libraryUntouched(h)
	r.neverSaidMissing(h)
	return r
}

func (r *Ruling) intentsUndecided(h history.History) {
	attempted := false
	for _, look := range h.Looks("intents", whenHeld) {
		for _, row := range look.Rows {
			attempted = attempted || (number(row, "attempts") > 0 && text(row, "state") == "retrying")
			if s := text(row, "state"); s == "failed" {
				r.broke("WR-18", "an intent was decided on with no account resolved",
					fmt.Sprintf("intent %s (%s) is %q, code %q", text(row, "seq"), text(row, "kind"), s, text(row, "code")))
			}
		}
	}
	if !attempted && len(r.Findings) == 0 {
		r.doubted("no attempt was seen to be turned away, so that nothing could have been decided")
	}
}

const noWriteLog = "the library's write log was not seen both before and while no account was resolved"

func (r *Ruling) libraryUntouched(h history.History) {
	before, ok1 := lastLook(h, "writes", whenEarly, nil)
	after, ok2 := lastLook(h, "writes", whenHeld, nil)
	switch {
	case !ok1 || !ok2:
		r.doubted(noWriteLog)
	case len(before.Rows) != len(after.Rows):
		r.broke("WR-18", "the library was written with no account resolved",
			fmt.Sprintf("%d writes before, %d after", len(before.Rows), len(after.Rows)))
	case len(after.Rows) == 0:
		r.doubted("no library write was ever seen, so that one would not have been noticed either")
	}
}

func (r *Ruling) neverSaidMissing(h history.History) {
	asked := 0
	for _, o := range h.Operations("get") {
		if o.Param("moment") != whenHeld {
			continue
		}
		asked++
		if code := o.Text("failure_code"); slices.Contains([]string{"never_issued", "item_deleted", "not_found"}, code) {
			r.broke("WR-18", "a record was called missing with no account resolved", fmt.Sprintf("call %s: code %q", o.Invoked.ID, code))
		}
	}
	if asked == 0 {
		r.doubted("no record was read while no account was resolved")
	}
}

// BlockedForOther (WR-17, another account first): while another account was
// signed in the intents were neither applied nor failed nor claimed.
func BlockedForOther(h history.History) Ruling {
	var r Ruling
	looks := h.Looks("intents", "other-account")
	attempted := false
	for _, look := range looks {
		for _, row := range look.Rows {
			if text(row, "code") == "owner_mismatch" && text(row, "class") == "blocked" {
				attempted = true
			}
			if text(row, "state") == "failed" {
				r.broke("WR-17", "another account's session ended an intent that is not its own",
					fmt.Sprintf("intent %s (%s): code %q", text(row, "seq"), text(row, "kind"), text(row, "code")))
			}
		}
	}
	if len(looks) == 0 || (!attempted && len(r.Findings) == 0) {
		r.doubted("the other account's session was not seen to be turned away")
	}
	return r
}

// AnchorsUndecided (WR-18) is NothingDecided for a first login, where there is
// no library yet that could have been written: no anchor was claimed, ended or
// removed and no intent failed behind a seen attempt.
func AnchorsUndecided(h history.History) Ruling {
	full := NothingDecided(h)
	full.Doubts = slices.DeleteFunc(full.Doubts, func(d string) bool { return d == noWriteLog })
	return full
}
