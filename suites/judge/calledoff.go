package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// CancelledWhole (DU-11): a write that was cancelled is there once or not at all,
// never in part, and there if it was acknowledged all the same; and the server takes
// and keeps a write behind it.
func CancelledWhole(h history.History) Ruling {
	var r Ruling
	marks := h.Marks("cancelled")
	if len(marks) == 0 {
		r.doubted("no call was cancelled")
	}
	usable := 0
	for _, w := range h.Operations("write") {
		switch {
		case w.Param("after") != "cancel":
		case w.Outcome() == history.Done:
			usable++
		default:
			r.broke("DU-11", "behind a cancelled call the server is not usable", fmt.Sprintf("write %s: %s", w.Invoked.ID, w.Outcome()), "answer: "+answerOf(w))
		}
	}
	finals := r.reads(h, momentFinal)
	if len(finals) == 0 || usable == 0 && len(r.Findings) == 0 {
		r.doubted("behind the cancelled call nothing was written, or nothing was read at the end")
	}
	for _, final := range finals {
		if final.err != "" {
			if r.worked(h, final.op.InvokedAt.Seq) {
				r.broke("DU-11", "behind a cancelled call the store cannot be read", fmt.Sprintf("call %s: %s", final.op.Invoked.ID, final.err))
			}
			continue
		}
		for _, w := range h.Operations("write") {
			r.calledOff(w, slices.ContainsFunc(marks, func(m history.Mark) bool { return m.Data["call"] == w.Invoked.ID }), final.values)
		}
	}
	return r
}

// calledOff holds one write to what is read at the end.
func (r *Ruling) calledOff(w history.Operation, wasCancelled bool, values []string) {
	value := w.Param("value")
	n := count(values)[value]
	switch {
	case w.Outcome() == history.Done && n == 0:
		r.broke("DU-11", "an acknowledged write is gone behind a cancelled call", quoted([]string{value}))
	case !wasCancelled:
	case n > 1:
		r.broke("DU-11", "a cancelled write is there more than once", fmt.Sprintf("%s: %d times", quoted([]string{value}), n))
	case n == 0:
		for _, v := range values {
			if part(v, value) {
				r.broke("DU-11", "a cancelled write is there in part", "written: "+quoted([]string{value}), "read back: "+quoted([]string{v}))
				return
			}
		}
	}
}
