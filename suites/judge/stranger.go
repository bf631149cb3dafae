package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// whenStrange is the moment behind rechecks that are to reach nobody, and whenReady
// the one before them.
const whenStrange = "strange"

// ServesOnlyItsOwn (RC-12): a recheck of anything but the command that is attached
// to this editor's unresolved outcome is refused, and sends no lookup. The lookup of
// the attached command is the control of the counter.
func ServesOnlyItsOwn(h history.History) Ruling {
	var r Ruling
	r.refusesStrangers("RC-12", h)
	if asked := rechecksAt(h, whenConverged); len(asked) == 0 {
		r.doubted("nobody rechecked the command that is attached")
	}
	for _, o := range rechecksAt(h, whenConverged) {
		r.lookedUp(h, o)
	}
	return r
}

// rechecksAt are the rechecks of a moment, of whatever.
func rechecksAt(h history.History, moment string) []history.Operation {
	all := slices.Concat(h.Operations("recheck_update"), h.Operations("recheck_submit"))
	return slices.DeleteFunc(all, func(o history.Operation) bool { return o.Param("moment") != moment })
}

// refusesStrangers holds every strange recheck to a refusal, and the wire to none of
// its lookups.
func (r *Ruling) refusesStrangers(clause string, h history.History) {
	asked := rechecksAt(h, whenStrange)
	if len(asked) == 0 {
		r.doubted("nobody rechecked anything but the attached command")
	}
	for _, o := range asked {
		about := fmt.Sprintf("command ID %q, draft %s", o.Param("command_id"), o.Param("draft"))
		switch outcome := outcomeOf(o); {
		case silence(o):
			r.broke(clause, "a recheck of what is not attached gets no answer", about, answerOf(o))
		case o.Outcome() != history.Refused || outcome != "" && outcome != "refused":
			r.broke(clause, "a recheck of what is not attached is not refused", about, answeredWith(o))
		}
	}
	before, after := h.Looks("server", whenReady), h.Looks("server", whenStrange)
	if len(before) != len(after) || len(before) == 0 {
		r.doubted("the lookups were counted %d times before and %d times behind what is to send none", len(before), len(after))
		return
	}
	for i := range before {
		first, ok := came(before[i], "lookup")
		last, also := came(after[i], "lookup")
		switch draft := before[i].Params["draft"]; {
		case !ok || !also || draft != after[i].Params["draft"]:
			r.doubted("the lookups about draft %s were not counted", draft)
		case last != first:
			r.broke(clause, "a recheck of what is not attached sends a lookup", fmt.Sprintf("%d lookups about draft %s came to the wire, expected none", last-first, draft))
		}
	}
}

// came is how many requests of a kind a look at the wire shows to have come.
func came(look history.Look, kind string) (n int, ok bool) {
	for _, row := range look.Rows {
		if text(row, "request") == kind {
			return number(row, "came"), true
		}
	}
	return 0, false
}

// lookedUp doubts that a recheck of the attached command was confirmed by a lookup
// that the wire has counted.
func (r *Ruling) lookedUp(h history.History, o history.Operation) {
	draft := o.Param("draft")
	then, known := lastLook(h, "server", whenStrange, map[string]string{"draft": draft})
	first, ok := came(then, "lookup")
	last, _, also := r.requests(h, draft, "lookup", whenConverged)
	switch {
	case !known || !ok || !also || !r.silent():
	case last <= first:
		r.doubted("the recheck of the attached command %q sent no lookup that was counted, so that the counter shows nothing", o.Param("command_id"))
	case outcomeOf(o) != "confirmed":
		r.doubted("the recheck of the attached command %q was to be confirmed; %s", o.Param("command_id"), answeredWith(o))
	}
}

// KindsToldApart (RC-20): an unknown update points to the recheck of updates and an
// unknown submission to that of submissions; neither recheck serves the other kind,
// and none of them sends the submission again. The first POST is the control.
func KindsToldApart(h history.History) Ruling {
	var r Ruling
	r.refusesStrangers("RC-20", h)
	kinds := map[string]bool{}
	for _, c := range r.theCommands(h) {
		own := rechecks(h, c, whenConverged)
		if len(own) == 0 {
			r.doubted("nobody asked what came of %s", c.words())
			continue
		}
		kinds[c.kind] = true
		last := own[len(own)-1]
		if tool := c.Text("recheck"); tool != last.Invoked.Tool {
			r.broke("RC-20", "an unknown outcome does not point to the recheck of its own kind", c.words(), fmt.Sprintf("the answer names %q, expected %q", tool, last.Invoked.Tool))
		}
		r.lookedUp(h, last)
		if c.kind == "submit" {
			r.postedOnce(h, c)
		}
	}
	if len(kinds) < 2 && r.silent() {
		r.doubted("an update and a submission were to be told apart, and not both were made")
	}
	return r
}

// postedOnce counts the requests of a submission.
func (r *Ruling) postedOnce(h history.History, c command) {
	first, _, ok := r.requests(h, c.draft, c.kind, whenBefore)
	came, _, also := r.requests(h, c.draft, c.kind, whenConverged)
	switch n := came - first; {
	case !ok || !also:
	case n == 0:
		r.doubted("no request came to the wire for %s, so that the counter shows nothing", c.words())
	case n > 1:
		r.broke("RC-20", "a recheck sends the submission again", c.words(), fmt.Sprintf("%d submissions of draft %s came, expected 1", n, c.draft))
	}
}
