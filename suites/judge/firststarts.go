package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// FirstStartsLeaveAStore (DU-18): of two servers that were started at once on a store
// that did not exist at least one writes, and the other one writes or refuses; a later
// server starts, writes, and reads all that was acknowledged. It says in how many of
// the rounds that was not so. Where writes are lost and the store can be used, that is
// what it says: a server that loses what overlaps in any store (DU-05) does so in its
// first one as well.
func FirstStartsLeaveAStore(rounds int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		starts := h.Marks("first-starts")
		if len(starts) < rounds {
			r.doubted("%d rounds of two first starts were needed, %d were made", rounds, len(starts))
		}
		var facts []string
		spoilt, lost := 0, 0
		for _, m := range starts {
			if wrong, usable := r.firstRound(h, text(m.Data, "round")); wrong != "" {
				if spoilt++; usable {
					lost++
				}
				facts = append(facts, fmt.Sprintf("round %s (%d of %d shook hands): %s", text(m.Data, "round"), number(m.Data, "came"), number(m.Data, "held"), wrong))
			}
		}
		switch {
		case spoilt == 0:
		case lost == spoilt:
			r.broke("DU-18", fmt.Sprintf("of writes at once through two servers that were started on no store acknowledged ones are lost, in %d of %d rounds; the store can be used",
				spoilt, len(starts)), facts...)
		default:
			r.broke("DU-18", fmt.Sprintf("two first starts spoilt the store in %d of %d rounds", spoilt, len(starts)), facts...)
		}
		return r
	}
}

// firstRound says what was wrong in a round, "" for nothing, and whether a later server
// could write and read all the same.
func (r *Ruling) firstRound(h history.History, round string) (wrong string, usable bool) {
	var acked []string
	early, unknown := 0, 0
	later := history.Operation{}
	for _, w := range h.Operations("write") {
		if w.Param("round") != round {
			continue
		}
		if w.Param("moment") == "later" {
			later = w
		} else if outcomeUnknown(w) {
			unknown++
		} else if w.Outcome() == history.Done {
			early++
		}
		if w.Outcome() == history.Done {
			acked = append(acked, w.Param("value"))
		}
	}
	if early == 0 && unknown > 0 {
		r.doubted("in round %s no write was acknowledged, and %s got no answer", round, reports.Plural(unknown, "write"))
		return "", true
	}
	switch {
	case early == 0:
		return "neither of the two servers could write", false
	case later.Invoked.ID == "":
		return "a later server does not start", false
	case later.Outcome() != history.Done:
		return fmt.Sprintf("a later server cannot write: call %s: %s", later.Invoked.ID, answerOf(later)), false
	}
	for _, x := range r.reads(h, momentFinal) {
		if x.op.Param("round") != round {
			continue
		}
		lost := slices.DeleteFunc(slices.Clone(acked), func(v string) bool { return slices.Contains(x.values, v) })
		switch {
		case x.err != "":
			return fmt.Sprintf("a later server cannot read: call %s: %s", x.op.Invoked.ID, x.err), false
		case len(lost) > 0:
			return fmt.Sprintf("%d of %d acknowledged writes survived; lost: %s", len(acked)-len(lost), len(acked), quoted(lost)), true
		}
		return "", true
	}
	r.doubted("in round %s nothing was read by a later server", round)
	return "", true
}
