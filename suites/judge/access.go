package judge

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// AccessEnforced (WR-39): each tool that was called declares the access that it
// needs; a caller that may only read (parameter "by") is refused by every tool
// that changes something, with nothing stored. The controls: the same caller
// reads, and the same calls pass for a caller with the access.
func AccessEnforced(h history.History) Ruling {
	var r Ruling
	r.accessDeclared(h)
	reads, tried := false, 0
	tools := map[string]bool{}
	for _, o := range h.Operations("") {
		call := fmt.Sprintf("call %s (%s)", o.Invoked.ID, o.Invoked.Tool)
		switch {
		case o.Param("by") != "reader":
		case o.Invoked.Role == "get":
			reads = reads || o.Outcome() == history.Done
		case o.Outcome() == history.Unknown:
			r.doubted("%s got no answer, so that it is not known to be refused", call)
		default:
			tried++
			tools[o.Invoked.Tool] = true
			if o.Outcome() == history.Done {
				r.broke("WR-39", "a caller that may only read was not refused", call, "answer: "+answerOf(o))
			}
			if left, _ := r.leftBehind(h, o); left != "" {
				r.broke("WR-39", "a call without the access for it left something in the store", call, left)
			}
		}
	}
	if tried == 0 && r.silent() {
		r.doubted("no call was made by a caller that may only read")
	}
	if !reads {
		r.doubted("the caller that may only read could not even read, so that a refusal may have another cause")
	}
	if len(r.Findings) == 0 {
		r.validOnesPassFor(h, tools)
	}
	return r
}

// validOnesPassFor is the control by the caller that has the access.
func (r *Ruling) validOnesPassFor(h history.History, tools map[string]bool) {
	others := history.History{Events: slices.Clone(h.Events)}
	readers := map[string]bool{}
	for _, o := range h.Operations("") {
		readers[o.Invoked.ID] = o.Param("by") == "reader"
	}
	others.Events = slices.DeleteFunc(others.Events, func(e history.Event) bool { return e.Call != nil && readers[e.Call.ID] })
	r.validOnesPass(others, tools)
}

func (r *Ruling) accessDeclared(h history.History) {
	looks := h.Looks("tools", "")
	if len(looks) == 0 || looks[0].Error != "" {
		r.doubted("it was not seen what the tools declare")
		return
	}
	called := map[string]bool{}
	for _, o := range h.Operations("") {
		called[o.Invoked.Tool] = true
	}
	var silent []string
	for _, row := range looks[0].Rows {
		if called[text(row, "name")] && text(row, "access") == "" {
			silent = append(silent, text(row, "name"))
		}
	}
	if len(silent) > 0 {
		r.broke("WR-39", "tools do not declare the access that they need", quoted(silent))
	}
}

// The moments around reads.
const (
	whenUnread  = "unread"
	whenRead    = "read"
	whenWritten = "written"
)

// ReadsChangeNothing (WR-39): between two looks with nothing but reads in
// between no file of sidecar and library changed. That a write changed them, in
// the same looks, is the control.
func ReadsChangeNothing(h history.History) Ruling {
	var r Ruling
	unread, okU := lastLook(h, "stores", whenUnread, nil)
	read, okR := lastLook(h, "stores", whenRead, nil)
	written, okW := lastLook(h, "stores", whenWritten, nil)
	if !okU || !okR || len(unread.Rows) == 0 {
		return doubt("the files of the stores were not seen both before and behind the reads")
	}
	reads := 0
	for _, o := range h.Operations("get") {
		if o.Param("moment") != whenRead {
			continue
		}
		if o.Outcome() == history.Unknown {
			r.doubted("call %s (get) got no answer, so that it may have been no read", o.Invoked.ID)
		}
		if o.Outcome() == history.Done {
			reads++
		}
	}
	if reads == 0 {
		r.doubted("nothing was read between the looks")
	}
	if changed := changedFiles(unread.Rows, read.Rows); len(changed) > 0 {
		r.broke("WR-39", "a tool that only reads changed a store", most(changed)...)
	}
	for _, store := range []string{"sidecar", "library"} {
		if !okW || !slices.ContainsFunc(changedFiles(read.Rows, written.Rows), func(file string) bool { return strings.HasPrefix(file, store+": ") }) {
			r.doubted("a write was not seen to change the %s, so that a change by a read would not have been seen either", store)
		}
	}
	return r
}

// changedFiles are the files that differ between two looks at the stores.
func changedFiles(before, after []map[string]any) []string {
	was := map[string]map[string]any{}
	for _, row := range before {
		was[text(row, "file")] = row
	}
	var changed []string
	for _, row := range after {
		file := text(row, "file")
		if !reflect.DeepEqual(was[file], row) {
			changed = append(changed, text(row, "store")+": "+file)
		}
		delete(was, file)
	}
	for _, row := range before {
		if was[text(row, "file")] != nil {
			changed = append(changed, text(row, "store")+": "+text(row, "file")+" is gone")
		}
	}
	return changed
}
