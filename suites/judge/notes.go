package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// NotesOnRecord rules, under a clause, that the record of every item that was
// given notes shows each acknowledged note once, in accepted order, and no other;
// a note whose outcome stayed unknown may be there once or not at all.
func NotesOnRecord(clause string, least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		judged := 0
		for id, notes := range notesByItem(h) {
			if len(notes.acknowledged) == 0 {
				continue
			}
			look, ok := lastLook(h, "item", whenConverged, item(id))
			if !ok {
				r.doubted("the record of item %s was not seen at the end", id)
				continue
			}
			if len(look.Rows) == 0 {
				r.broke(clause, "notes were acknowledged and there is no record",
					fmt.Sprintf("%d notes on item %s were acknowledged", len(notes.acknowledged), id))
				continue
			}
			judged += len(notes.acknowledged)
			r.compareNotes(clause, id, notes, texts(look.Rows[0], "notes"))
		}
		if judged < least && len(r.Findings) == 0 {
			r.doubted("%d acknowledged notes were needed for a judgement, %d were there", least, judged)
		}
		return r
	}
}

// itemNotes are the notes that were sent to one item.
type itemNotes struct {
	acknowledged []string // distinct texts in the order in which acceptance was answered
	unordered    map[string]bool
	unknown      map[string]bool // sent, never acknowledged under any retry
}

func notesByItem(h history.History) map[string]*itemNotes {
	all := map[string]*itemNotes{}
	of := func(id string) *itemNotes {
		if all[id] == nil {
			all[id] = &itemNotes{unordered: map[string]bool{}, unknown: map[string]bool{}}
		}
		return all[id]
	}
	// A start that carries a first note is followed by it.
	for _, s := range acknowledged(h, "start") {
		if note := s.Param("text"); note != "" {
			n := of(s.Text("item_id"))
			if !slices.Contains(n.acknowledged, note) {
				n.acknowledged = append(n.acknowledged, note)
			}
		}
	}
	ops := h.Operations("note")
	done := slices.DeleteFunc(slices.Clone(ops), func(o history.Operation) bool { return o.Outcome() != history.Done })
	slices.SortStableFunc(done, func(a, b history.Operation) int { return int(a.ReturnedAt.Seq - b.ReturnedAt.Seq) })
	for _, o := range done {
		n := of(o.Param("item_id"))
		if !slices.Contains(n.acknowledged, o.Param("text")) {
			n.acknowledged = append(n.acknowledged, o.Param("text"))
		}
	}
	for _, o := range ops {
		n := of(o.Param("item_id"))
		switch {
		case o.Outcome() == history.Unknown && !slices.Contains(n.acknowledged, o.Param("text")):
			n.unknown[o.Param("text")] = true
		case overlaps(o, ops), retried(o, ops):
			// Concurrent calls have no order, and neither has a note whose first
			// attempt may have been accepted long before its retry was answered.
			n.unordered[o.Param("text")] = true
		}
	}
	return all
}

func overlaps(o history.Operation, all []history.Operation) bool {
	for _, p := range all {
		if p.Invoked.ID == o.Invoked.ID || p.Param("item_id") != o.Param("item_id") || p.Param("text") == o.Param("text") {
			continue
		}
		oBeforeP := o.ReturnedAt != nil && o.ReturnedAt.Seq < p.InvokedAt.Seq
		pBeforeO := p.ReturnedAt != nil && p.ReturnedAt.Seq < o.InvokedAt.Seq
		if !oBeforeP && !pBeforeO {
			return true
		}
	}
	return false
}

func retried(o history.Operation, all []history.Operation) bool {
	n := 0
	for _, p := range all {
		if p.Param("item_id") == o.Param("item_id") && p.Param("text") == o.Param("text") {
			n++
		}
	}
	return n > 1
}

func (r *Ruling) compareNotes(clause, id string, sent *itemNotes, shown []string) {
	seen := count(shown)
	var missing, twice []string
	for _, t := range sent.acknowledged {
		switch n := seen[t]; {
		case n == 0:
			missing = append(missing, t)
		case n > 1:
			twice = append(twice, t)
		}
	}
	if len(missing) > 0 {
		r.broke(clause, fmt.Sprintf("%d of %d acknowledged notes are not on the record", len(missing), len(sent.acknowledged)),
			"item "+id, "missing: "+quoted(missing))
	}
	if len(twice) > 0 {
		r.broke(clause, fmt.Sprintf("%d of %d acknowledged notes are on the record more than once", len(twice), len(sent.acknowledged)),
			"item "+id, "repeated: "+quoted(twice))
	}
	var strange, ordered []string
	for _, t := range shown {
		known := slices.Contains(sent.acknowledged, t)
		if !known && (!sent.unknown[t] || seen[t] > 1) {
			strange = append(strange, t)
		}
		if known && !sent.unordered[t] {
			ordered = append(ordered, t)
		}
	}
	if len(strange) > 0 {
		r.broke(clause, "the record shows notes that nobody was told were accepted, or one of them twice", "item "+id, "shown: "+quoted(strange))
	}
	want := slices.DeleteFunc(slices.Clone(sent.acknowledged), func(t string) bool { return sent.unordered[t] || seen[t] == 0 })
	if len(twice) == 0 && !slices.Equal(want, ordered) {
		r.broke(clause, "the notes are not in the order in which they were accepted", "item "+id,
			"accepted: "+quoted(want), "on the record: "+quoted(ordered))
	}
}

// NotesStored (WR-04): while the app is stopped every acknowledged note stands
// in the store under the issued ID, once.
func NotesStored(h history.History) Ruling {
	var r Ruling
	judged := 0
	for id, notes := range notesByItem(h) {
		look, ok := lastLook(h, "intents", whenEarly, item(id))
		if !ok {
			r.doubted("the intents of item %s were not seen while the app was stopped", id)
			continue
		}
		stored := map[string]int{}
		for _, row := range look.Rows {
			if text(row, "kind") == "note" {
				stored[text(row, "text")]++
			}
		}
		var missing []string
		for _, t := range notes.acknowledged {
			judged++
			if stored[t] != 1 {
				missing = append(missing, t)
			}
		}
		if len(missing) > 0 {
			r.broke("WR-04", fmt.Sprintf("%d of %d acknowledged notes are not in the store exactly once", len(missing), len(notes.acknowledged)),
				"item "+id, "notes: "+quoted(missing))
		}
	}
	if judged == 0 && len(r.Findings) == 0 {
		r.doubted("no note was acknowledged while the app was stopped")
	}
	return r
}

// FollowUpsQueued rules, under a clause, that follow-ups sent while the item does not exist
// are accepted and queued. roles are those that must have been tried.
func FollowUpsQueued(clause string, roles ...string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		for _, role := range roles {
			ops := h.Operations(role)
			if len(ops) == 0 {
				r.doubted("no %s was sent", role)
			}
			refused, first := 0, ""
			for _, o := range ops {
				if o.Outcome() == history.Refused {
					refused++
					if first == "" {
						first = o.Returned.Reason
					}
				}
				if o.Outcome() == history.Done && o.Text("state") != "" && o.Text("state") != "queued" && o.Text("state") != "retrying" && o.Field("materialized") == false {
					r.broke(clause, "a follow-up on an item that does not exist yet was not answered as queued",
						fmt.Sprintf("call %s (%s): state %q", o.Invoked.ID, role, o.Text("state")))
				}
			}
			if refused > 0 {
				r.broke(clause, fmt.Sprintf("%d of %d follow-ups (%s) were refused although their item ID had been issued", refused, len(ops), role),
					"first reason: "+first)
			}
		}
		return r
	}
}

// Repeated wants a positive control of the specs about replays: some call of
// the role was made twice under one key.
func Repeated(role string) Rule {
	return func(h history.History) Ruling {
		seen := map[string]bool{}
		for _, o := range h.Operations(role) {
			if seen[o.Param("key")] {
				return Ruling{}
			}
			seen[o.Param("key")] = true
		}
		return doubt("no %s was sent twice under one key", role)
	}
}

// StartFirst (WR-05): the start intent of an item stands before its follow-ups
// in the order of acceptance, and all of them came to be applied.
func StartFirst(h history.History) Ruling {
	var r Ruling
	looks := h.Looks("intents", whenConverged)
	if len(looks) == 0 {
		return doubt("the intents were not seen at the end")
	}
	for _, look := range looks {
		for i, row := range look.Rows {
			if (text(row, "kind") == "start") != (i == 0) {
				r.broke("WR-05", "the start is not the first intent of its item",
					fmt.Sprintf("item %s: intent %d is a %s", look.Params["item_id"], i+1, text(row, "kind")))
			}
		}
	}
	return r
}

// AllApplied rules, under a clause, that at the end every stored intent was
// applied, and that there are at least least of them.
func AllApplied(clause string, least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		n := 0
		for _, look := range h.Looks("intents", whenConverged) {
			for _, row := range look.Rows {
				n++
				if text(row, "state") != "applied" {
					r.broke(clause, "an accepted intent was not applied",
						fmt.Sprintf("intent %s (%s) is %q, code %q", text(row, "seq"), text(row, "kind"), text(row, "state"), text(row, "code")))
				}
			}
		}
		if n < least {
			r.doubted("%d intents were expected in the store at the end, %d were seen", least, n)
		}
		return r
	}
}
