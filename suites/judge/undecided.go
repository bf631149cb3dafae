package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// NothingDecided (WR-18): behind an attempt with no account resolved, nothing
// was written, claimed, failed, marked missing or dead.
func NothingDecided(h history.History) Ruling {
	var r Ruling
	r.anchorsUndecided(h)
	r.intentsUnclaimed(h)
	r.intentsUndecided(h, settledAt(h))
	r.noneRefused(h, settledAt(h))
	r.libraryUntouched(h)
	r.neverSaidMissing(h)
	return r
}

// AnchorsUndecided (WR-18) is NothingDecided for a first login, where there is
// no library yet that could have been written: no anchor was claimed, ended or
// removed, and no intent failed or applied, behind a seen attempt.
func AnchorsUndecided(h history.History) Ruling {
	var r Ruling
	r.anchorsUndecided(h)
	r.intentsUnclaimed(h)
	r.intentsUndecided(h, 0)
	r.noneRefused(h, 0)
	if len(h.Looks("writes", "")) > 0 {
		r.libraryUntouched(h)
	}
	r.neverSaidMissing(h)
	return r
}

func (r *Ruling) anchorsUndecided(h history.History) {
	before, ok1 := lastLook(h, "anchors", whenEarly, nil)
	after, ok2 := lastLook(h, "anchors", whenHeld, nil)
	switch {
	case !ok1 || !ok2:
		r.doubted("the anchors were not seen both before and while no account was resolved")
		return
	case len(before.Rows) == 0:
		r.doubted("no anchor was there that could have been decided on")
		return
	case !r.hasColumns(before, "item_id", "state", "owner"):
		return
	}
	is := map[string]map[string]any{}
	for _, row := range after.Rows {
		is[text(row, "item_id")] = row
	}
	for _, old := range before.Rows {
		id := text(old, "item_id")
		row, kept := is[id]
		if !kept {
			r.broke("WR-18", "an anchor was removed with no account resolved", "anchor "+id)
			continue
		}
		delete(is, id)
		for _, column := range []string{"state", "owner", "reason"} {
			if text(old, column) != text(row, column) {
				r.broke("WR-18", "an anchor was decided on with no account resolved",
					fmt.Sprintf("anchor %s: %s was %q and became %q", id, column, text(old, column), text(row, column)))
			}
		}
	}
	for _, row := range after.Rows {
		// What was accepted in between is provisional, and nothing else yet.
		if id := text(row, "item_id"); is[id] != nil && text(row, "state") != "provisional" {
			r.broke("WR-18", "an anchor was decided on with no account resolved", fmt.Sprintf("the new anchor %s is %q", id, text(row, "state")))
		}
	}
}

// intentsUnclaimed rules that every intent that was there before belongs to whom it
// belonged then.
func (r *Ruling) intentsUnclaimed(h history.History) {
	var said Ruling // what a failed look keeps from being said is told where it fails
	for _, after := range said.lastLooks(h, "intents", whenHeld) {
		id := after.Params["item_id"]
		before, ok := lastLook(h, "intents", whenEarly, item(id))
		if !ok {
			r.doubted("the intents of item %s were not seen before, so that it is not known whose they were", id)
			continue
		}
		if !r.hasColumns(before, "seq", "owner") || !r.hasColumns(after, "seq", "owner") {
			continue
		}
		for _, was := range before.Rows {
			if is := rowOf(after.Rows, text(was, "seq")); is != nil && text(is, "owner") != text(was, "owner") {
				r.broke("WR-18", "an intent was claimed with no account resolved",
					fmt.Sprintf("%s of item %s: its owner was %q and became %q", intentOf(was), id, text(was, "owner"), text(is, "owner")))
			}
		}
	}
}

// intentsUndecided rules that no intent failed, and none was applied of those
// that were sent since a moment by which everything older had been.
func (r *Ruling) intentsUndecided(h history.History, since int64) {
	attempted := false
	seen := map[string]bool{}
	for _, look := range r.lastLooks(h, "intents", whenHeld) {
		seen[look.Params["item_id"]] = len(look.Rows) > 0
		if !r.hasColumns(look, "state", "attempts", "kind") {
			continue
		}
		for _, row := range look.Rows {
			state := text(row, "state")
			attempted = attempted || number(row, "attempts") > 0 && state == "retrying"
			if state == "failed" || state == "applied" && sentSince(h, since, look.Params["item_id"], row) {
				r.broke("WR-18", "an intent was decided on with no account resolved",
					fmt.Sprintf("%s is %q, code %q", intentOf(row), state, text(row, "code")))
			}
		}
	}
	for _, id := range items(h) {
		if !seen[id] {
			r.doubted("the intents of item %s were not seen while no account was resolved", id)
		}
	}
	if !attempted && len(r.Findings) == 0 {
		r.doubted("no attempt was seen to be turned away, so that nothing could have been decided")
	}
}

// settledAt is the number of the early look at the write log, by which all that
// was accepted before had been applied; never where there is none, so that
// nobody can tell what was applied when.
func settledAt(h history.History) int64 {
	last := never
	for _, e := range h.Events {
		if e.Kind == history.KindLook && e.Look.Probe == "writes" && e.Look.When == whenEarly {
			last = e.Seq
		}
	}
	return last
}

// sentSince says whether an intent is of a start or note that was sent after a
// moment, so that only the guarded time can have applied it.
func sentSince(h history.History, since int64, id string, row map[string]any) bool {
	kind := text(row, "kind")
	return slices.ContainsFunc(h.Operations(kind), func(o history.Operation) bool {
		same := kind == "start" && o.Text("item_id") == id || kind == "note" && o.Param("item_id") == id && o.Param("text") == text(row, "text")
		return same && o.InvokedAt.Seq > since
	})
}

// noneRefused rules that no start and no note that was sent while no account was
// resolved was refused for good: that would be a decision too.
func (r *Ruling) noneRefused(h history.History, since int64) {
	for _, o := range slices.Concat(h.Operations("start"), h.Operations("note")) {
		if o.InvokedAt.Seq > since && o.InvokedAt.Seq < lastHeld(h) && forGood(o) {
			r.broke("WR-18", "a command was refused for good with no account resolved",
				fmt.Sprintf("call %s (%s): class %q, code %q", o.Invoked.ID, o.Invoked.Role, o.Text("failure_class"), o.Text("failure_code")))
		}
	}
}

// lastHeld is the number of the last look behind the shut guard.
func lastHeld(h history.History) int64 {
	last := int64(0)
	for _, e := range h.Events {
		if e.Kind == history.KindLook && e.Look.When == whenHeld {
			last = e.Seq
		}
	}
	return last
}

func (r *Ruling) libraryUntouched(h history.History) {
	r.libraryUnwritten(h, unwritten{"WR-18", whenEarly, whenHeld, "while no account was resolved", "the library was written with no account resolved"})
}

func (r *Ruling) neverSaidMissing(h history.History) {
	asked := 0
	for _, o := range h.Operations("get") {
		if o.Param("moment") != whenHeld {
			continue
		}
		asked++
		if o.Outcome() == history.Unknown {
			r.doubted("call %s (get) got no answer, so that it is not known what it says of the record", o.Invoked.ID)
			continue
		}
		code := o.Text("failure_code")
		if o.Outcome() == history.Refused && code == "" {
			r.doubted("call %s (get) was refused without a code, so that it may mean that the record is missing", o.Invoked.ID)
		}
		missing := slices.Contains([]string{"never_issued", "item_deleted", "not_found"}, code)
		ended := o.Text("failure_class") == "permanent" || o.Text("anchor") == "dead" || o.Text("state") == "failed"
		if missing || ended {
			r.broke("WR-18", "a record was called missing with no account resolved",
				fmt.Sprintf("call %s: code %q, class %q, state %q, anchor %q", o.Invoked.ID, code, o.Text("failure_class"), o.Text("state"), o.Text("anchor")))
		}
	}
	if asked == 0 {
		r.doubted("no record was read while no account was resolved")
	}
}
