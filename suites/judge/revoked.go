package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// RevokedNotWritten (WR-20): what waited when the access of its account was
// revoked is not written, and ends failed with a structured reason; none of it
// is dropped. What the same account wrote before shows that a write is seen.
func RevokedNotWritten(h history.History) Ruling {
	var r Ruling
	if personDid(h, "revoke") == 0 {
		return doubt("the access of the account was not revoked")
	}
	waited := 0
	for _, before := range r.lastLooks(h, "intents", whenHeld) {
		id := before.Params["item_id"]
		after, ok := lastLook(h, "intents", whenConverged, item(id))
		if !ok {
			r.doubted("the intents of item %s were not seen at the end", id)
			continue
		}
		if !r.hasColumns(before, "seq", "state") || !r.hasColumns(after, "seq", "state", "class", "code", "reason") {
			continue
		}
		for _, was := range before.Rows {
			if ended(was) {
				continue
			}
			waited++
			r.endedForAccess(was, rowOf(after.Rows, text(was, "seq")), id)
			r.notWritten(h, was, id)
		}
	}
	if waited == 0 && r.silent() {
		r.doubted("nothing waited when the access of the account was revoked")
	}
	r.noWriteSinceRevoked(h)
	r.accessAnswered(h)
	return r
}

func (r *Ruling) endedForAccess(was, is map[string]any, id string) {
	name := intentOf(was) + " of item " + id
	switch {
	case is == nil:
		r.broke("WR-20", "an intent whose access was revoked was dropped in silence", name)
	case text(is, "state") == "applied":
		r.broke("WR-20", "an intent was applied although its access had been revoked", name)
	case text(is, "state") != "failed":
		r.broke("WR-20", "an intent whose access was revoked does not come to its end", name+fmt.Sprintf(" is %q, code %q", text(is, "state"), text(is, "code")))
	case text(is, "class") != "permanent" || text(is, "code") != "access_denied" || text(is, "reason") == "":
		r.broke("WR-20", "an intent whose access was revoked does not tell so by structure",
			name+fmt.Sprintf(": class %q, code %q, reason %q", text(is, "class"), text(is, "code"), text(is, "reason")))
	}
}

// notWritten looks for the intent on the record.
func (r *Ruling) notWritten(h history.History, was map[string]any, id string) {
	look, ok := lastLook(h, "item", whenConverged, item(id))
	switch {
	case !ok:
		r.doubted("the library was not seen at the end for item %s", id)
		return
	case text(was, "kind") == "start" && len(look.Rows) > 0:
		r.broke("WR-20", "an item was made although access had been revoked", "item "+id)
	}
	for _, row := range look.Rows {
		if notes, ok := texts(row, "notes"); ok && text(was, "text") != "" && slices.Contains(notes, text(was, "text")) {
			r.broke("WR-20", "a note stands on the record although access had been revoked", "item "+id, "note: "+quoted([]string{text(was, "text")}))
		}
	}
}

func (r *Ruling) noWriteSinceRevoked(h history.History) {
	r.libraryUnwritten(h, unwritten{"WR-20", whenHeld, whenConverged, "after access was revoked", "the library was written although access had been revoked"})
}

// accessAnswered: whoever asks about such an intent by sending it again is told.
func (r *Ruling) accessAnswered(h history.History) {
	asked := 0
	for _, o := range h.Operations("note") {
		switch {
		case o.Param("moment") != whenConverged:
		case o.Outcome() == history.Unknown:
			r.doubted("call %s (note) got no answer, so that it is not known what it tells of the revoked access", o.Invoked.ID)
			asked++
		default:
			asked++
			if o.Text("state") != "failed" || o.Text("failure_class") != "permanent" || o.Text("failure_code") != "access_denied" {
				r.broke("WR-20", "an answer does not tell of the revoked access by structure",
					fmt.Sprintf("call %s: state %q, class %q, code %q", o.Invoked.ID, o.Text("state"), o.Text("failure_class"), o.Text("failure_code")))
			}
		}
	}
	if asked == 0 {
		r.doubted("nobody asked what became of a note whose access was revoked")
	}
}

// personDid is the number of the last mark of a person's act, 0 if there is none.
func personDid(h history.History, action string) int64 {
	last := int64(0)
	for _, e := range h.Events {
		if e.Kind == history.KindMark && e.Mark.Name == "person" && text(e.Mark.Data, "action") == action {
			last = e.Seq
		}
	}
	return last
}

// ended says that an intent has come to its end.
func ended(row map[string]any) bool {
	return text(row, "state") == "applied" || text(row, "state") == "failed"
}

// rowOf finds an intent by its number, nil if it is not there.
func rowOf(rows []map[string]any, seq string) map[string]any {
	n := slices.IndexFunc(rows, func(row map[string]any) bool { return text(row, "seq") == seq })
	if n < 0 {
		return nil
	}
	return rows[n]
}
