package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// ErrorChangedNothing (DU-20): what was answered with an error left what can be
// read back as it was, in whatever order it is listed; a valid write whose effect
// the same reads showed proves that a change would have been seen.
func ErrorChangedNothing(h history.History) Ruling { return changedNothing("DU-20", h) }

func changedNothing(clause string, h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, o := range h.Operations("invalid") {
		if outcomeUnknown(o) {
			r.doubted("call %s got no answer, so that it is not known to be an error", o.Invoked.ID)
		}
		if o.Outcome() != history.Refused || o.Returned.Unmapped {
			continue
		}
		if o.Field("changed") != nil {
			judged++ // the answer says itself what it changed
			continue
		}
		before, after := r.around(h, o)
		switch {
		case before == nil || before.err != "":
			r.doubted("the state was not read before call %s", o.Invoked.ID)
		case after == nil:
			r.doubted("the state was not read after call %s", o.Invoked.ID)
		case disturbed(h, *before, *after):
			r.doubted("another write was on its way around call %s, so that a change could be its own", o.Invoked.ID)
		case after.err != "":
			r.broke(clause, "after a call that was answered with an error the state cannot be read",
				"call: "+string(o.Invoked.Arguments), "its answer: "+answerOf(o), "the read then: "+after.err)
		default:
			judged++
			if !maps.Equal(count(before.values), count(after.values)) {
				r.broke(clause, "a call that was answered with an error changed the state",
					"call: "+o.Invoked.Tool+" "+string(o.Invoked.Arguments), "its answer: "+answerOf(o),
					"before: "+quoted(before.values), "after: "+quoted(after.values))
			}
		}
	}
	if judged == 0 && len(r.Findings) == 0 {
		r.doubted("no invalid call was answered with an error")
	}
	r.sawAChange(h)
	r.storeUnchanged(clause, h)
	return r
}

// storeUnchanged compares the digests of the declared state around the refused
// calls, where the target file says what counts as state.
func (r *Ruling) storeUnchanged(clause string, h history.History) {
	if len(h.Looks("state", "")) == 0 {
		return
	}
	for _, o := range h.Operations("invalid") {
		before, after, seen := digests(h, o.Param("pair"))
		switch {
		case o.Outcome() != history.Refused || o.Returned.Unmapped || o.Field("changed") != nil:
		case !seen:
			r.doubted("the declared state was not seen around call %s", o.Invoked.ID)
		case before != after:
			r.broke(clause, "a call that was answered with an error changed the declared state of the store",
				"call: "+o.Invoked.Tool+" "+string(o.Invoked.Arguments), "its answer: "+answerOf(o))
		}
	}
	r.sawTheStoreChange(h)
}

// sawTheStoreChange wants one valid write that changed the digest of the declared state.
func (r *Ruling) sawTheStoreChange(h history.History) {
	for _, w := range acknowledged(h, "write") {
		if before, after, seen := digests(h, w.Param("pair")); seen && before != after {
			return
		}
	}
	r.doubted("no valid write was seen to change the declared state; does the target file's state include match the store?")
}

// digests are those of the declared state around a call.
func digests(h history.History, pair string) (before, after string, seen bool) {
	b, okB := lastLook(h, "state", momentBefore, map[string]string{"pair": pair})
	a, okA := lastLook(h, "state", momentAfter, map[string]string{"pair": pair})
	if pair == "" || !okB || !okA || len(b.Rows) != 1 || len(a.Rows) != 1 {
		return "", "", false
	}
	return text(b.Rows[0], "digest"), text(a.Rows[0], "digest"), true
}

// sawAChange wants one valid write whose effect the same reads showed.
func (r *Ruling) sawAChange(h history.History) {
	for _, w := range acknowledged(h, "write") {
		before, after := r.around(h, w)
		if before != nil && after != nil && before.err == "" && after.err == "" && !maps.Equal(count(before.values), count(after.values)) {
			return
		}
	}
	r.doubted("no valid write was seen to change what is read, so that a change would not have been noticed")
}

// disturbed says that a write of another call may have taken effect between two
// reads: it overlaps them, or its outcome is unknown and it may still come.
func disturbed(h history.History, before, after read) bool {
	return slices.ContainsFunc(h.Operations("write"), func(w history.Operation) bool {
		over := endedBefore(w, before.op.InvokedAt.Seq) && !outcomeUnknown(w)
		return !over && w.InvokedAt.Seq < after.op.ReturnedAt.Seq
	})
}

// ReadBack (DU-21): without any fault an acknowledged write can be read back at
// once and from then on, and nothing that was sent breaks a later read.
func ReadBack(h history.History) Ruling {
	var r Ruling
	judged := 0
	gone := map[string]bool{} // told once, at the first read that lacks it
	for _, w := range h.Operations("write") {
		before, after := r.around(h, w)
		value := quoted([]string{w.Param("value")})
		switch {
		case outcomeUnknown(w):
			r.doubted("call %s (write of %s) got no answer although no fault was placed", w.Invoked.ID, value)
		case after == nil:
			r.doubted("nothing was read after call %s", w.Invoked.ID)
		case after.err != "" && (before == nil || before.err != ""):
			r.doubted("no read had worked before call %s, so that the read behind it says nothing about its input", w.Invoked.ID)
		case after.err != "":
			clause, what := "DU-21", "accepted"
			if w.Outcome() == history.Refused {
				clause, what = "DU-20", "refused" // an error that changed something
			}
			r.broke(clause, "input that was "+what+" breaks the next read",
				what+": "+value, "the read then: "+after.err, "its answer: "+answerOf(after.op))
		case w.Outcome() == history.Done:
			judged++
			r.readBack(h, w, *after, gone)
		}
	}
	if judged == 0 && len(r.Findings) == 0 {
		r.doubted("no write was acknowledged")
	}
	return r
}

func (r *Ruling) readBack(h history.History, w history.Operation, after read, gone map[string]bool) {
	own := w.Param("value")
	if !slices.Contains(after.values, own) {
		gone[own] = true
		r.broke("DU-21", "an acknowledged write cannot be read back at once",
			"written: "+quoted([]string{own}), fmt.Sprintf("read back: %s, none of them it", reports.Plural(len(after.values), "value")))
	}
	var lost []string
	for _, value := range ackedBefore(h, after.op) {
		if !gone[value] && !slices.Contains(after.values, value) {
			gone[value] = true
			lost = append(lost, value)
		}
	}
	if len(lost) > 0 {
		r.broke("DU-21", "acknowledged writes are gone after a later one", "lost: "+quoted(lost),
			"after the write of "+quoted([]string{own}), fmt.Sprintf("read back by call %s: %s", after.op.Invoked.ID, reports.Plural(len(after.values), "value")))
	}
}
