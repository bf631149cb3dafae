package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// AppliedInOrder (WR-05): whatever the kinds of an item's commands, the store holds
// its intents in the order in which they were accepted, none is applied at any look
// before one that stands in front of it, and the record ends in the status that was
// asked for last. The control is a look that found an item half applied.
func AppliedInOrder(h history.History) Ruling {
	var r Ruling
	half := false
	for _, id := range items(h) {
		r.storedAsAccepted(h, id)
		half = r.appliedFromTheFront(h, id) || half
		r.lastStatusStays(h, id)
	}
	if !half && len(r.Findings) == 0 {
		r.doubted("no item was seen with a part of its intents applied, so that an order in which they are could not be seen")
	}
	return r
}

// storedAsAccepted compares the intents at the end with the acknowledged commands.
func (r *Ruling) storedAsAccepted(h history.History, id string) {
	look, ok := lastLook(h, "intents", whenConverged, item(id))
	if !ok {
		r.doubted("the intents of item %s were not seen at the end", id)
		return
	}
	if !r.hasColumns(look, "kind", "text") {
		return
	}
	var stored []string
	for _, row := range look.Rows {
		stored = append(stored, commandName(text(row, "kind"), text(row, "text")))
	}
	accepted, sure := r.acceptedCommands(h, id)
	if sure && !slices.Equal(stored, accepted) {
		r.broke("WR-05", "the store does not hold the intents in the order in which they were accepted", "item "+id,
			"accepted: "+quoted(accepted), "stored: "+quoted(stored), differsAt(accepted, stored))
	}
}

// differsAt says where two lists part.
func differsAt(accepted, stored []string) string {
	n := 0
	for n < min(len(accepted), len(stored)) && accepted[n] == stored[n] {
		n++
	}
	at := func(list []string) string { return quoted(list[min(n, len(list)):min(n+1, len(list))]) }
	return fmt.Sprintf("first difference at place %d: accepted %s, stored %s", n+1, at(accepted), at(stored))
}

// commandName names a command by what the store and the caller both know of it.
func commandName(kind, text string) string {
	if kind == "note" {
		return kind + " " + text
	}
	return kind
}

// acceptedCommands are the acknowledged commands on an item in the order of their
// acceptance, each key once; false where that order is not known.
func (r *Ruling) acceptedCommands(h history.History, id string) (names []string, sure bool) {
	known, last := map[[2]string]bool{}, int64(0)
	sure = true
	for _, o := range h.Operations("") {
		role, key := o.Invoked.Role, [2]string{o.Invoked.Role, o.Param("key")}
		if role == "get" || !about(h, o, id) || o.Outcome() == history.Refused || known[key] {
			continue
		}
		if o.Outcome() == history.Unknown || o.InvokedAt.Seq < last {
			r.doubted("the place of call %s (%s) in the order of acceptance is not known: it got no answer, or another one overlaps it", o.Invoked.ID, role)
			sure = false
			continue
		}
		known[key], last = true, o.ReturnedAt.Seq
		names = append(names, commandName(role, o.Param("text")))
		if role == "start" && o.Param("text") != "" {
			names = append(names, commandName("note", o.Param("text")))
		}
	}
	return names, sure
}

// appliedFromTheFront follows an item through all looks at its intents; true if one
// of them found it half applied.
func (r *Ruling) appliedFromTheFront(h history.History, id string) (half bool) {
	for _, look := range h.Looks("intents", "") {
		if look.Error != "" || look.Params["item_id"] != id || !r.hasColumns(look, "seq", "kind", "state") {
			continue
		}
		n := slices.IndexFunc(look.Rows, func(row map[string]any) bool { return !ended(row) })
		if n < 0 {
			continue
		}
		half = half || slices.ContainsFunc(look.Rows[:n], applied)
		if ahead := slices.IndexFunc(look.Rows[n:], applied); ahead >= 0 {
			first, later := look.Rows[n], look.Rows[n+ahead]
			r.broke("WR-05", "an intent was applied before one that was accepted earlier", "item "+id,
				fmt.Sprintf("%s is applied while %s is %q", intentOf(later), intentOf(first), text(first, "state")), fmt.Sprintf("seen at the moment %q", look.When))
			return half
		}
	}
	return half
}

func applied(row map[string]any) bool { return text(row, "state") == "applied" }

// lastStatusStays compares the record's status at the end with what was asked for
// last. The word for an end is read off the items that were ended by it alone.
func (r *Ruling) lastStatusStays(h history.History, id string) {
	asked := statusesAsked(h, id)
	if len(asked) == 0 {
		return
	}
	last := asked[len(asked)-1]
	want := last.word
	for _, other := range items(h) {
		if alone := statusesAsked(h, other); want == "" && other != id && len(alone) == 1 && alone[0].role == last.role {
			want = statusOf(h, other)
		}
	}
	is := statusOf(h, id)
	switch {
	case want == "" && len(asked) == 1:
		// It is the one that others are read by.
	case want == "":
		r.doubted("it is not known in which status a record ends that was ended by %s alone", last.role)
	case is == "":
		r.doubted("the status of item %s was not seen at the end", id)
	case is != want:
		r.broke("WR-05", "a record did not end in the status that was asked for last", "item "+id,
			fmt.Sprintf("asked for last by %s: %q; its status is %q", last.role, want, is))
	}
}

// statusAsked is one accepted command that sets the status; word is "" where its
// role alone says which.
type statusAsked struct{ role, word string }

func statusesAsked(h history.History, id string) (asked []statusAsked) {
	for _, o := range h.Operations("") {
		role := o.Invoked.Role
		if o.Param("item_id") == id && o.Outcome() == history.Done && (role == "status" || slices.Contains(endings, role)) {
			asked = append(asked, statusAsked{role, o.Param("status")})
		}
	}
	return asked
}

// statusOf is the status of an item's record at the end, "" if it was not seen.
func statusOf(h history.History, id string) string {
	look, ok := lastLook(h, "item", whenConverged, item(id))
	if !ok || len(look.Rows) != 1 {
		return ""
	}
	return text(look.Rows[0], "status")
}
