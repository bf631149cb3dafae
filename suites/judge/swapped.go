package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenMended is the moment behind a wrong that was undone.
const whenMended = "mended"

// SwapIsRefused (WF-28): a server refuses to start on a store, or every call about
// an operation, whose checkpoint or store became a link or another user's. What is
// there is neither read, where a link leads to it, nor changed. That the checkpoint
// was the right one shows once it is put back: then it is read, and answered for.
func SwapIsRefused(h history.History) Ruling {
	var r Ruling
	wrongs := h.Marks("swapped")
	if len(wrongs) == 0 {
		return doubt("nothing was swapped")
	}
	swap := wrongs[len(wrongs)-1].Data
	thing := fmt.Sprintf("a %s that is %s", text(swap, "what"), text(swap, "how"))
	for _, o := range r.operations(h) {
		if o.id != text(swap, "operation_id") {
			continue // of a start that was to be refused
		}
		r.swapRefused(h, o, thing)
		r.swapUntouched(h, o, thing, text(swap, "how") == "a link")
		r.nothingMore(h, o, "WF-28", "a step goes out by "+thing)
		r.swapMended(h, o)
	}
	return r
}

// swapRefused holds every answer to a refusal.
func (r *Ruling) swapRefused(h history.History, o operation, thing string) {
	if len(h.Marks("server-refused")) > 0 {
		return // it does not even start
	}
	asked := 0
	for _, role := range []string{"status", "resume", "cancel", "start"} {
		for _, a := range h.Operations(role) {
			if a.Param("moment") != whenWronged || role != "start" && a.Param("operation_id") != o.id {
				continue
			}
			asked++
			switch a.Outcome() {
			case history.Done:
				r.broke("WF-28", thing+" is used", says(role, a), "expected a refusal")
			case history.Unknown:
				r.broke("WF-28", thing+" keeps a call from being answered", says(role, a), "expected a refusal")
			}
		}
	}
	if asked < 3 {
		r.doubted("a server started on %s and was asked %d times about operation %s, expected 3", thing, asked, o.id)
	}
}

// swapUntouched holds what was swapped to what it was, and unread by a link.
func (r *Ruling) swapUntouched(h history.History, o operation, thing string, link bool) {
	was, before := lastLook(h, "swapped", whenStruck, o.about())
	is, behind := lastLook(h, "swapped", whenWronged, o.about())
	if !before || !behind || len(was.Rows) != 1 || len(is.Rows) != 1 {
		r.doubted("what was swapped was not seen before and behind the calls")
		return
	}
	for _, column := range []string{"kind", "owner", "content"} {
		if then, now := fmt.Sprint(was.Rows[0][column]), fmt.Sprint(is.Rows[0][column]); then != now {
			r.broke("WF-28", thing+" is changed", fmt.Sprintf("its %s was %s and is %s", column, shortened(then, 12), shortened(now, 12)))
		}
	}
	read, seen := r.wasRead(h, o, whenWronged)
	if link && seen && read {
		r.broke("WF-28", "a link in the store is followed", fmt.Sprintf("the checkpoint of operation %s was read through it", o.id))
	}
}

// wasRead says whether an operation's checkpoint was read until a moment.
func (r *Ruling) wasRead(h history.History, o operation, when string) (read, seen bool) {
	look, ok := lastLook(h, "reads", when, map[string]string{"file": o.id})
	if !ok || len(look.Rows) != 1 {
		r.doubted("it was not seen whether the checkpoint of operation %s was read at the moment %s", o.id, when)
		return false, false
	}
	read, _ = look.Rows[0]["read"].(bool)
	return read, true
}

// swapMended is the control.
func (r *Ruling) swapMended(h history.History, o operation) {
	answers := callsAbout(h, "status", whenMended, o)
	if len(answers) == 0 || answers[len(answers)-1].Outcome() != history.Done {
		r.doubted("operation %s is not answered for once everything is put back, so that it is not known what was refused", o.id)
	}
	if read, seen := r.wasRead(h, o, whenMended); seen && !read {
		r.doubted("no read of the checkpoint of operation %s is seen where it has to be read, so that nothing is seen when none is", o.id)
	}
}
