package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Reads of profile DU carry the parameter "moment"; these are its words.
const (
	momentBefore = "before" // before the write or the invalid call
	momentAfter  = "after"  // right after it, on the same connection
	momentFinal  = "final"  // after everything, by a fresh process where the spec says so
)

// read is what one read call showed.
type read struct {
	op     history.Operation
	values []string
	err    string // why it showed nothing, "" when it did
}

func reads(h history.History, moment string) []read {
	var out []read
	for _, o := range h.Operations("read") {
		if moment != "" && o.Param("moment") != moment {
			continue
		}
		r := read{op: o}
		if o.Outcome() == history.Done {
			r.values = texts(o.Returned.Fields, "values")
		} else if o.Returned != nil {
			r.err = fmt.Sprintf("%s: %s", o.Outcome(), o.Returned.Reason)
		} else {
			r.err = "no answer"
		}
		out = append(out, r)
	}
	return out
}

// AckedSurvive rules, under a clause, that every acknowledged write is there in
// the final reads. least is how many acknowledged writes make a judgement.
func AckedSurvive(clause string, least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		acked := acknowledged(h, "write")
		finals := reads(h, momentFinal)
		if len(acked) < least {
			r.doubted("%d acknowledged writes were needed for a judgement, %d were acknowledged of %d", least, len(acked), len(h.Operations("write")))
		}
		if len(finals) == 0 {
			return doubt("nothing was read at the end")
		}
		for _, final := range finals {
			if final.err != "" {
				if len(acked) > 0 {
					r.broke(clause, fmt.Sprintf("0 of %d acknowledged writes can be read back: the read fails", len(acked)),
						fmt.Sprintf("call %s: %s", final.op.Invoked.ID, final.err), "answer: "+answerOf(final.op))
				}
				continue
			}
			var lost []string
			for _, w := range acked {
				if !slices.Contains(final.values, w.Param("value")) {
					lost = append(lost, w.Param("value"))
				}
			}
			if len(lost) > 0 {
				r.broke(clause, fmt.Sprintf("%d of %d acknowledged writes survived", len(acked)-len(lost), len(acked)),
					"lost: "+quoted(lost), fmt.Sprintf("read back by call %s: %d values", final.op.Invoked.ID, len(final.values)))
			}
		}
		return r
	}
}

func answerOf(o history.Operation) string {
	if o.Returned == nil {
		return "none"
	}
	s := string(o.Returned.Answer)
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

// WholeOrAbsent (DU-02): a write whose answer was lost is there once or not at
// all, never in part, and the store is readable. A fenced write (its request
// never arrived) is absent.
func WholeOrAbsent(h history.History) Ruling {
	var r Ruling
	finals := reads(h, momentFinal)
	if len(finals) == 0 {
		return doubt("nothing was read at the end")
	}
	unknown := 0
	for _, w := range h.Operations("write") {
		if w.Outcome() == history.Unknown {
			unknown++
		}
	}
	if unknown == 0 {
		r.doubted("no write's answer was lost")
	}
	for _, final := range finals {
		if final.err != "" {
			r.broke("DU-02", "after a write whose answer was lost the store cannot be read",
				fmt.Sprintf("call %s: %s", final.op.Invoked.ID, final.err), "answer: "+answerOf(final.op))
			continue
		}
		r.whole(h, final)
	}
	return r
}

func (r *Ruling) whole(h history.History, final read) {
	n := count(final.values)
	for _, w := range h.Operations("write") {
		value := w.Param("value")
		if w.Outcome() == history.Unknown && n[value] > 1 {
			r.broke("DU-02", "a write whose answer was lost is there more than once", fmt.Sprintf("%q: %d times", value, n[value]))
		}
		if w.Param("fenced") == "yes" && n[value] > 0 {
			r.broke("DU-02", "a write whose request never arrived is there", fmt.Sprintf("%q", value))
		}
		for _, v := range final.values {
			if part(v, value) && !wasSent(h, v) {
				r.broke("DU-02", "a write is there in part", fmt.Sprintf("written: %q", value), fmt.Sprintf("read back: %q", v))
			}
		}
	}
}

// part says whether seen is a true piece of a value of ours. Values are
// distinct and longer than this bound, so that a foreign word is no piece.
func part(seen, value string) bool {
	const least = 6
	return seen != value && len(seen) >= least && strings.Contains(value, seen)
}

func wasSent(h history.History, value string) bool {
	return slices.ContainsFunc(h.Operations("write"), func(o history.Operation) bool { return o.Param("value") == value })
}

// ErrorChangedNothing (DU-20): what was answered with an error left the state as it was; a
// valid write of the same kind shows that a change would have been seen.
func ErrorChangedNothing(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, o := range h.Operations("invalid") {
		if o.Outcome() != history.Refused {
			continue
		}
		before, after := pair(h, o.Param("pair"))
		switch {
		case before == nil || before.err != "":
			r.doubted("the state was not read before call %s", o.Invoked.ID)
		case after == nil:
			r.doubted("the state was not read after call %s", o.Invoked.ID)
		case after.err != "":
			r.broke("DU-20", "after a call that was answered with an error the state cannot be read",
				"call: "+string(o.Invoked.Arguments), "its answer: "+answerOf(o), "the read then: "+after.err)
		default:
			judged++
			if !slices.Equal(before.values, after.values) {
				r.broke("DU-20", "a call that was answered with an error changed the state",
					"call: "+o.Invoked.Tool+" "+string(o.Invoked.Arguments), "its answer: "+answerOf(o),
					"before: "+quoted(before.values), "after: "+quoted(after.values))
			}
		}
	}
	if judged == 0 && len(r.Findings) == 0 {
		r.doubted("no invalid call was answered with an error")
	}
	return r.controlled(h)
}

// controlled wants one valid write whose effect the same read showed.
func (r Ruling) controlled(h history.History) Ruling {
	for _, w := range acknowledged(h, "write") {
		before, after := pair(h, w.Param("pair"))
		if before != nil && after != nil && before.err == "" && after.err == "" && !slices.Equal(before.values, after.values) {
			return r
		}
	}
	r.doubted("no valid write was seen to change what is read, so that a change would not have been noticed")
	return r
}

// pair finds the reads around a call; the three share the parameter "pair".
func pair(h history.History, word string) (before, after *read) {
	if word == "" {
		return nil, nil
	}
	for _, x := range reads(h, "") {
		if x.op.Param("pair") != word {
			continue
		}
		switch x.op.Param("moment") {
		case momentBefore:
			before = &x
		case momentAfter:
			after = &x
		}
	}
	return before, after
}

// ReadBack (DU-21): without any fault an acknowledged write can be read back at
// once, and nothing that was accepted breaks a later read.
func ReadBack(h history.History) Ruling {
	var r Ruling
	judged := 0
	for _, w := range acknowledged(h, "write") {
		_, after := pair(h, w.Param("pair"))
		switch {
		case after == nil:
			r.doubted("nothing was read after call %s", w.Invoked.ID)
		case after.err != "":
			r.broke("DU-21", "input that was accepted breaks the next read",
				fmt.Sprintf("accepted: %s", quoted([]string{w.Param("value")})), "the read then: "+after.err, "its answer: "+answerOf(after.op))
		default:
			judged++
			if !slices.Contains(after.values, w.Param("value")) {
				r.broke("DU-21", "an acknowledged write cannot be read back at once",
					"written: "+quoted([]string{w.Param("value")}), fmt.Sprintf("read back: %d values, none of them it", len(after.values)))
			}
		}
	}
	if judged == 0 && len(r.Findings) == 0 {
		r.doubted("no write was acknowledged")
	}
	return r
}

// Alternating is the positive control of DU-05's second shape: two servers were
// alive, and each write was answered before the other server was given the next.
func Alternating(h history.History) Ruling {
	writes := h.Operations("write")
	sessions := map[string]int{}
	for i, w := range writes {
		sessions[w.Invoked.Session]++
		if i == 0 {
			continue
		}
		before := writes[i-1]
		if before.Invoked.Session == w.Invoked.Session || before.ReturnedAt == nil || before.ReturnedAt.Seq > w.InvokedAt.Seq {
			return doubt("the writes did not alternate between two servers: call %s", w.Invoked.ID)
		}
	}
	if len(sessions) != 2 {
		return doubt("two servers were needed, %d were written through", len(sessions))
	}
	return Ruling{}
}
