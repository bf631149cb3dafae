package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// AckedSurvive rules, under a clause, that every acknowledged write is there in
// every final read that began after it. least is how many acknowledged writes
// make a judgement.
func AckedSurvive(clause string, least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		all := len(distinct(valuesOf(h.Operations("write"))))
		if acked := len(distinct(valuesOf(acknowledged(h, "write")))); acked < least {
			r.doubted("%d acknowledged writes were needed for a judgement, %d were acknowledged of %d", least, acked, all)
		}
		finals := r.reads(h, momentFinal)
		if len(finals) == 0 {
			r.doubted("nothing was read at the end")
		}
		for _, final := range finals {
			acked := ackedBefore(h, final.op)
			switch {
			case len(acked) == 0:
				r.doubted("no write had been acknowledged before the final read %s", final.op.Invoked.ID)
			case final.err != "" && !r.worked(h, final.op.InvokedAt.Seq):
			case final.err != "":
				r.broke(clause, fmt.Sprintf("0 of %d acknowledged writes can be read back: the read fails", len(acked)),
					fmt.Sprintf("call %s: %s", final.op.Invoked.ID, final.err), "answer: "+answerOf(final.op))
			default:
				r.survived(h, clause, acked, final)
			}
		}
		return r
	}
}

func (r *Ruling) survived(h history.History, clause string, acked []string, final read) {
	lost := slices.DeleteFunc(slices.Clone(acked), func(v string) bool { return slices.Contains(final.values, v) })
	r.Tried = append(r.Tried, fmt.Sprintf("%d of %d acknowledged writes survived", len(acked)-len(lost), len(acked)))
	if len(lost) == 0 {
		return
	}
	facts := []string{"lost: " + quoted(lost), fmt.Sprintf("read back by call %s: %s", final.op.Invoked.ID, reports.Plural(len(final.values), "value"))}
	rounds, of := byRound(h.Operations("write"))
	if len(rounds) > 1 { // what was written before the first one is none
		rounds = slices.DeleteFunc(rounds, func(round string) bool { return round == "" })
	}
	hit := 0
	for _, round := range rounds {
		if slices.ContainsFunc(of[round], func(w history.Operation) bool { return slices.Contains(lost, w.Param("value")) }) {
			hit++
		}
	}
	if len(rounds) > 1 {
		facts = append(facts, fmt.Sprintf("writes of %d of %d rounds were lost", hit, len(rounds)))
	}
	for _, m := range h.Marks("held-in-a-write") {
		round := fmt.Sprint(number(m.Data, "place"))
		if slices.ContainsFunc(of[round], func(w history.Operation) bool { return slices.Contains(lost, w.Param("value")) }) {
			facts = append(facts, fmt.Sprintf("round %s: one server was held before %s of %s while the other was given its write", round, text(m.Data, "call"), text(m.Data, "path")))
		}
	}
	r.broke(clause, r.Tried[len(r.Tried)-1], facts...)
}

// ackedBefore are the distinct values whose write had been acknowledged when an
// operation began: it need not show a write that it overlaps.
func ackedBefore(h history.History, o history.Operation) []string {
	return distinct(valuesOf(slices.DeleteFunc(acknowledged(h, "write"),
		func(w history.Operation) bool { return !endedBefore(w, o.InvokedAt.Seq) })))
}

func valuesOf(writes []history.Operation) []string {
	var values []string
	for _, w := range writes {
		values = append(values, w.Param("value"))
	}
	return values
}

// WholeOrAbsent (DU-02): a write whose answer was lost is there once or not at
// all, never in part, and the store is readable. A fenced write (its request
// never arrived) is absent.
func WholeOrAbsent(h history.History) Ruling {
	var r Ruling
	finals := r.reads(h, momentFinal)
	if len(finals) == 0 {
		r.doubted("nothing was read at the end")
	}
	if !slices.ContainsFunc(h.Operations("write"), outcomeUnknown) {
		r.doubted("no write's answer was lost")
	}
	for _, final := range finals {
		if !slices.ContainsFunc(h.Operations("write"), func(w history.Operation) bool {
			return outcomeUnknown(w) && w.InvokedAt.Seq < final.op.InvokedAt.Seq
		}) {
			r.doubted("no write had lost its answer before the final read %s", final.op.Invoked.ID)
			continue
		}
		if final.err != "" {
			if !r.worked(h, final.op.InvokedAt.Seq) {
				continue
			}
			r.broke("DU-02", "after a write whose answer was lost the store cannot be read",
				fmt.Sprintf("call %s: %s", final.op.Invoked.ID, final.err), "answer: "+answerOf(final.op))
			continue
		}
		r.whole(h, final)
	}
	return r
}

func outcomeUnknown(o history.Operation) bool { return o.Outcome() == history.Unknown }

func (r *Ruling) whole(h history.History, final read) {
	writes := h.Operations("write")
	n, sent := count(final.values), count(valuesOf(writes))
	for _, w := range writes {
		value := w.Param("value")
		if outcomeUnknown(w) && n[value] > sent[value] {
			r.broke("DU-02", "a write whose answer was lost is there more than once", fmt.Sprintf("%s: %d times", quoted([]string{value}), n[value]))
		}
		if w.Param("fenced") == "yes" && n[value] > 0 {
			r.broke("DU-02", "a write whose request never arrived is there", quoted([]string{value}))
		}
	}
	for _, v := range distinct(final.values) {
		for _, value := range distinct(valuesOf(writes)) {
			if part(v, value) && sent[v] == 0 {
				r.broke("DU-02", "a write is there in part", "written: "+quoted([]string{value}), "read back: "+quoted([]string{v}))
				break // the same piece may fit several values
			}
		}
	}
}

// part says whether seen is a true piece of a value of ours. Its beginning, as a
// cut leaves it, is one however short; any other piece has to be longer than a
// word that may stand there by itself.
func part(seen, value string) bool {
	const least = 6
	if seen == "" || seen == value {
		return false
	}
	return strings.HasPrefix(value, seen) || len(seen) >= least && strings.Contains(value, seen)
}

// Alternating is the positive control of DU-05's second shape: two servers were
// alive, and each write was answered before the other server was given the next.
func Alternating(h history.History) Ruling {
	writes := h.Operations("write")
	sessions := map[string]int{}
	for i, w := range writes {
		sessions[w.Invoked.Session]++
		if outcomeUnknown(w) {
			return doubt("the write %s was not answered before the next one", w.Invoked.ID)
		}
		if i == 0 {
			continue
		}
		before := writes[i-1]
		if before.Invoked.Session == w.Invoked.Session || !endedBefore(before, w.InvokedAt.Seq) {
			return doubt("the writes did not alternate between two servers: call %s", w.Invoked.ID)
		}
	}
	if len(sessions) != 2 {
		return doubt("two servers were needed, %d were written through", len(sessions))
	}
	return Ruling{}
}
