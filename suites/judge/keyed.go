package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// RetriedTakesEffectOnce (DU-12): a write that was sent again with its idempotency
// key, because its answer was lost behind the commit, is there once. A retry may
// also be refused, as long as the one effect stays. Two writes of one value under two
// keys, of which the reads show both, prove that a second effect would be seen.
func RetriedTakesEffectOnce(h history.History) Ruling {
	var r Ruling
	finals := r.reads(h, momentFinal)
	if len(finals) == 0 {
		r.doubted("nothing was read at the end")
	}
	var first, retry *history.Operation
	for _, w := range h.Operations("write") {
		switch w.Param("attempt") {
		case "1":
			first = &w
		case "2":
			retry = &w
		}
	}
	if first == nil || !outcomeUnknown(*first) || retry == nil {
		r.doubted("no write lost its answer and was sent again")
		return r
	}
	if outcomeUnknown(*retry) {
		r.doubted("the retry %s got no answer although no fault was placed on it", retry.Invoked.ID)
		return r
	}
	for _, final := range finals {
		if final.err == "" {
			r.once(h, *retry, final)
		} else if r.worked(h, final.op.InvokedAt.Seq) {
			r.broke("DU-12", "after a retry the store cannot be read", fmt.Sprintf("call %s: %s", final.op.Invoked.ID, final.err))
		}
	}
	return r
}

func (r *Ruling) once(h history.History, retry history.Operation, final read) {
	n, value := count(final.values), retry.Param("value")
	facts := []string{
		fmt.Sprintf("%s is there %d times", quoted([]string{value}), n[value]),
		"the key: " + quoted([]string{retry.Param("key")}), "the retry's answer: " + answerOf(retry),
	}
	switch {
	case n[value] > 1:
		r.broke("DU-12", "a write that was retried with its idempotency key took effect more than once", facts...)
	case n[value] == 0:
		r.broke("DU-12", "a write that was retried with its idempotency key is not there", facts...)
	case !twinsShow(h, n):
		r.doubted("two writes of one value under two keys do not show twice in what is read, so that a second effect of a retry would not be seen; write with a tool, and read with values, that keep both")
	}
}

// twinsShow says whether a value that was acknowledged twice under two keys is there
// twice.
func twinsShow(h history.History, there map[string]int) bool {
	acked, value := 0, ""
	for _, w := range acknowledged(h, "write") {
		if w.Param("twin") == "yes" {
			acked, value = acked+1, w.Param("value")
		}
	}
	return acked == 2 && there[value] == 2
}
