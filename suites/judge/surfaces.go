package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// SurfacesAgree (WR-36): at the end answer, sidecar, library and card tell the
// same of every started item.
func SurfacesAgree(h history.History) Ruling {
	var r Ruling
	starts := acknowledged(h, "start")
	if len(starts) == 0 {
		return doubt("no start was acknowledged")
	}
	for _, s := range starts {
		id := s.Text("item_id")
		anchor, okA := lastLook(h, "anchor", whenConverged, item(id))
		library, okL := lastLook(h, "item", whenConverged, item(id))
		card, okC := lastLook(h, "card", whenConverged, item(id))
		answer := lastGet(h, id)
		if !okA || !okL || !okC || answer == nil {
			r.doubted("a surface was not seen at the end for item %s: answer %t, sidecar %t, library %t, card %t", id, answer != nil, okA, okL, okC)
			continue
		}
		if answer.Field("materialized") != true || answer.Text("anchor") != "live" {
			r.broke("WR-36", "the answer does not say that the record is live",
				fmt.Sprintf("materialized %v, anchor %q", answer.Field("materialized"), answer.Text("anchor")))
		}
		if len(anchor.Rows) != 1 || text(anchor.Rows[0], "state") != "live" {
			r.broke("WR-36", "the sidecar does not hold one live anchor", fmt.Sprintf("item %s: %v", id, anchor.Rows))
		}
		r.sameRecord(id, s.Param("title"), answer, library, card)
	}
	return r
}

func lastGet(h history.History, id string) *history.Operation {
	var last *history.Operation
	for _, o := range acknowledged(h, "get") {
		if o.Param("item_id") == id && o.Param("moment") == whenConverged {
			last = &o
		}
	}
	return last
}

func (r *Ruling) sameRecord(id, title string, answer *history.Operation, library, card history.Look) {
	if len(library.Rows) != 1 || len(card.Rows) != 1 {
		r.broke("WR-36", "the record is not there once in the library and once as a card",
			fmt.Sprintf("item %s: %d in the library, %d cards", id, len(library.Rows), len(card.Rows)))
		return
	}
	seen := map[string]map[string]any{"library": library.Rows[0], "card": card.Rows[0], "answer": answer.Returned.Fields}
	for _, column := range []string{"title", "status"} {
		values := []string{}
		for _, surface := range []string{"answer", "library", "card"} {
			values = append(values, surface+": "+text(seen[surface], column))
		}
		if !sameTail(values) {
			r.broke("WR-36", "the surfaces disagree about the "+column, values...)
		}
	}
	if got := text(library.Rows[0], "title"); got != title {
		r.broke("WR-36", "the record has another title than the one sent", "sent: "+title, "library: "+got)
	}
	notes := texts(library.Rows[0], "notes")
	for surface, row := range seen {
		if other := texts(row, "notes"); !slices.Equal(notes, other) {
			r.broke("WR-36", "the surfaces disagree about the notes", "library: "+quoted(notes), surface+": "+quoted(other))
		}
	}
}

func sameTail(values []string) bool {
	for _, v := range values {
		_, a, _ := strings.Cut(v, ": ")
		_, b, _ := strings.Cut(values[0], ": ")
		if a != b {
			return false
		}
	}
	return true
}

// ThroughRepository (WR-29): every library write, deletes included, carries one
// sync envelope and one refresh event.
func ThroughRepository(h history.History) Ruling {
	var r Ruling
	look, ok := lastLook(h, "writes", whenConverged, nil)
	if !ok {
		return doubt("the library's write log was not seen at the end")
	}
	ops := map[string]int{}
	for _, row := range look.Rows {
		ops[text(row, "op")]++
		if e, v := number(row, "envelopes"), number(row, "events"); e != 1 || v != 1 {
			r.broke("WR-29", "a library write did not come with one sync envelope and one refresh event",
				fmt.Sprintf("write %s (%s of item %s): %d envelopes, %d events", text(row, "seq"), text(row, "op"), text(row, "item_id"), e, v))
		}
	}
	for _, op := range []string{"create", "update", "delete"} {
		if ops[op] == 0 {
			r.doubted("no %s was seen in the library's write log", op)
		}
	}
	return r
}

// CanarySealed (WR-29): the canary shows on the read surface and is in no library
// file in clear. That the same search finds it in the sidecar shows that it searches.
func CanarySealed(h history.History) Ruling {
	var r Ruling
	planted := h.Marks("canary")
	if len(planted) == 0 {
		return doubt("no canary was planted")
	}
	canary, _ := planted[0].Data["text"].(string)
	id, _ := planted[0].Data["item_id"].(string)
	record, ok := lastLook(h, "item", "", item(id))
	if !ok || len(record.Rows) == 0 || !slices.Contains(texts(record.Rows[0], "notes"), canary) {
		r.doubted("the canary was not seen on the read surface")
	}
	library, ok := lastLook(h, "library-files", whenConverged, nil)
	control, okC := lastLook(h, "sidecar-files", whenConverged, nil)
	if !ok || len(library.Rows) == 0 {
		r.doubted("no library file was searched")
	}
	if !okC || !anyFound(control.Rows) {
		r.doubted("the search did not find the canary where it is allowed to be, in the sidecar")
	}
	for _, row := range library.Rows {
		if row["found"] == true {
			r.broke("WR-29", "content stands in a library file in clear", "file "+text(row, "file"))
		}
	}
	return r
}

func anyFound(rows []map[string]any) bool {
	return slices.ContainsFunc(rows, func(row map[string]any) bool { return row["found"] == true })
}

// HelperKeepsOut (WR-29): at every look the helper held no library file open; that it held the sidecar open shows that
// the look sees open files.
func HelperKeepsOut(h history.History) Ruling {
	var r Ruling
	looks := h.Looks("open-files", "")
	if len(looks) == 0 {
		return doubt("the helper's open files were not looked at")
	}
	control := false
	for _, look := range looks {
		for _, row := range look.Rows {
			switch text(row, "store") {
			case "sidecar":
				control = true
			case "library":
				r.broke("WR-29", "the helper holds a library file open", "file "+text(row, "file"))
			}
		}
	}
	if !control && len(r.Findings) == 0 {
		r.doubted("the helper was not even seen to hold the sidecar open")
	}
	return r
}
