package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// CancelledWhole (DU-11): a write that was cancelled is there once or not at all,
// never in part, and there if it was acknowledged all the same; and the server takes
// and keeps a write behind it. Whether a cancel comes in time is a race, so each
// finding says of how many it is.
func CancelledWhole(h history.History) Ruling {
	var r Ruling
	cancelled := map[string]bool{}
	for _, m := range h.Marks("cancelled") {
		cancelled[text(m.Data, "call")] = true
	}
	if len(cancelled) == 0 {
		r.doubted("no call was cancelled")
	}
	usable := r.usableBehind(h)
	finals := r.reads(h, momentFinal)
	if len(finals) == 0 || !usable && len(r.Findings) == 0 {
		r.doubted("behind the cancelled call nothing was written, or nothing was read at the end")
	}
	for _, final := range finals {
		if final.err == "" {
			r.calledOff(h, cancelled, final.values)
		} else if r.worked(h, final.op.InvokedAt.Seq) {
			r.broke("DU-11", "behind a cancelled call the store cannot be read", fmt.Sprintf("call %s: %s", final.op.Invoked.ID, final.err))
		}
	}
	return r
}

// usableBehind says whether any write behind a cancelled call was acknowledged.
func (r *Ruling) usableBehind(h history.History) bool {
	var behind, refused []string
	for _, w := range h.Operations("write") {
		if w.Param("after") != "cancel" {
			continue
		}
		behind = append(behind, w.Invoked.ID)
		if w.Outcome() != history.Done {
			refused = append(refused, fmt.Sprintf("write %s: %s; answer: %s", w.Invoked.ID, w.Outcome(), answerOf(w)))
		}
	}
	if len(refused) > 0 {
		r.broke("DU-11", fmt.Sprintf("behind a cancelled call the server is not usable: %d of %s refused or not answered", len(refused), reports.Plural(len(behind), "write")), most(refused)...)
	}
	return len(refused) < len(behind)
}

// calledOff holds every write to what is read at the end.
func (r *Ruling) calledOff(h history.History, cancelled map[string]bool, values []string) {
	there := count(values)
	acknowledged := 0
	var gone, twice, parts []string
	for _, w := range h.Operations("write") {
		value := w.Param("value")
		if w.Outcome() == history.Done {
			acknowledged++
		}
		switch n := there[value]; {
		case w.Outcome() == history.Done && n == 0:
			gone = append(gone, quoted([]string{value}))
		case !cancelled[w.Invoked.ID]:
		case n > 1:
			twice = append(twice, fmt.Sprintf("%s: %d times", quoted([]string{value}), n))
		case n == 0:
			if i := slices.IndexFunc(values, func(v string) bool { return part(v, value) }); i >= 0 {
				parts = append(parts, fmt.Sprintf("written: %s, read back: %s", quoted([]string{value}), quoted(values[i:i+1])))
			}
		}
	}
	for _, of := range []struct {
		what, kind string
		all        int
		facts      []string
	}{
		{"gone behind a cancelled call", "acknowledged write", acknowledged, gone},
		{"there more than once", "cancelled write", len(cancelled), twice},
		{"there in part", "cancelled write", len(cancelled), parts},
	} {
		if k := len(of.facts); k > 0 {
			r.broke("DU-11", fmt.Sprintf("%d of %s %s %s", k, reports.Plural(of.all, of.kind), map[bool]string{true: "is", false: "are"}[k == 1], of.what), most(of.facts)...)
		}
	}
}
