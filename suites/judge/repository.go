package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// ThroughRepository (WR-29): every library write, deletes included, carries one
// sync envelope and one refresh event.
func ThroughRepository(h history.History) Ruling {
	var r Ruling
	look, ok := lastLook(h, "writes", whenConverged, nil)
	if !ok {
		return doubt("the library's write log was not seen at the end")
	}
	if !r.hasColumns(look, "op", "envelopes", "events") {
		return r
	}
	ops := count(columns(look.Rows, "op"))
	for _, row := range look.Rows {
		if e, v := number(row, "envelopes"), number(row, "events"); e != 1 || v != 1 {
			r.broke("WR-29", "a library write did not come with one sync envelope and one refresh event",
				fmt.Sprintf("write %s (%s of item %s): %s, %s", text(row, "seq"), text(row, "op"), text(row, "item_id"), reports.Plural(e, "envelope"), reports.Plural(v, "event")))
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
	for _, m := range planted {
		canary, id := text(m.Data, "text"), text(m.Data, "item_id")
		if canary == "" || !shownOnRecord(h, id, canary) {
			r.doubted("the canary was not seen on the read surface")
		}
	}
	library, ok := lastLook(h, "library-files", whenConverged, nil)
	control, okC := lastLook(h, "sidecar-files", whenConverged, nil)
	if !ok || len(library.Rows) == 0 {
		r.doubted("no library file was searched")
	}
	if !okC || !slices.ContainsFunc(control.Rows, found) {
		r.doubted("the search did not find the canary where it is allowed to be, in the sidecar")
	}
	if !ok || !r.hasColumns(library, "found") {
		return r
	}
	for _, row := range library.Rows {
		if found(row) {
			r.broke("WR-29", "content stands in a library file in clear", "file "+text(row, "file"))
		}
	}
	return r
}

func found(row map[string]any) bool { return truth(row, "found") }

// shownOnRecord says whether any look at an item showed a note.
func shownOnRecord(h history.History, id, note string) bool {
	return slices.ContainsFunc(h.Looks("item", ""), func(look history.Look) bool {
		if look.Error != "" || !includes(look.Params, item(id)) || len(look.Rows) == 0 {
			return false
		}
		notes, ok := texts(look.Rows[0], "notes")
		return ok && slices.Contains(notes, note)
	})
}

// HelperKeepsOut (WR-29): at every look the helper held no library file open;
// that it held the sidecar open shows that the look sees open files.
func HelperKeepsOut(h history.History) Ruling {
	var r Ruling
	looks := h.Looks("open-files", "")
	if len(looks) == 0 {
		return doubt("the helper's open files were not looked at")
	}
	control := false
	for _, look := range looks {
		if look.Error != "" {
			r.doubted("a look at the helper's open files failed: %s", look.Error)
		}
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

// NeverOpened (WR-29): nobody opened a file of the store while the helper was at
// work and everybody else stopped. That an opening of the harness's own was seen
// shows that one of the helper's would have been.
func NeverOpened(store string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		seen, ok := lastLook(h, store+"-openings", whenEarly, nil)
		control, okC := lastLook(h, store+"-openings", "control", nil)
		switch {
		case !ok || !okC || len(control.Rows) == 0:
			r.doubted("not even the harness's own opening of a file of the %s was seen", store)
		case len(acknowledged(h, "note")) == 0 || len(acknowledged(h, "get")) == 0:
			r.doubted("the helper was given no note and no read while the %s was watched", store)
		case len(seen.Rows) > 0:
			r.broke("WR-29", "the helper opened files of the "+store, "files: "+quoted(columns(seen.Rows, "file")))
		}
		return r
	}
}
