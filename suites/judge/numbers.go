package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments between which the numbers of retrying and of permanent failures
// move (WR-34), besides early and held.
const (
	whenFailed  = "failed"
	whenRefused = "refused"
)

// CountedApart (WR-34): k starts before the login raise the number of retrying
// alone, and it falls after it; k failures at the executor, and k refusals before
// dispatch, raise the number of permanent ones alone. What really happened is
// known from the calls and from looks at the intents.
func CountedApart(k int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		if r.happenedBetween(h, k); !r.silent() {
			return r // the numbers count what happened, which is not what was meant to
		}
		var seen []history.Look
		for _, when := range []string{whenEarly, whenHeld, whenReleased, whenFailed, whenRefused} {
			look, ok := lastLook(h, "counters", when, nil)
			if !ok || len(look.Rows) != 1 {
				r.doubted("the two numbers were not seen at the moment %q", when)
				return r
			}
			if !r.hasColumns(look, "retrying", "permanent") {
				return r
			}
			seen = append(seen, look)
		}
		for i, step := range []struct {
			what                string
			retrying, permanent int
		}{
			{fmt.Sprintf("%d starts before the login", k), k, 0},
			{"the login", -k, 0},
			{fmt.Sprintf("%d failures at the executor", k), 0, k},
			{fmt.Sprintf("%d refusals before dispatch", k), 0, k},
		} {
			before, after := seen[i].Rows[0], seen[i+1].Rows[0]
			retrying, permanent := number(after, "retrying")-number(before, "retrying"), number(after, "permanent")-number(before, "permanent")
			if retrying != step.retrying || permanent != step.permanent {
				r.broke("WR-34", fmt.Sprintf("%s moved the two numbers in another way than apart", step.what),
					fmt.Sprintf("retrying: from %d to %d, expected a change by %+d", number(before, "retrying"), number(after, "retrying"), step.retrying),
					fmt.Sprintf("permanent: from %d to %d, expected a change by %+d", number(before, "permanent"), number(after, "permanent"), step.permanent))
			}
		}
		return r
	}
}

// happenedBetween wants k of each to have really happened where it should.
func (r *Ruling) happenedBetween(h history.History, k int) {
	waiting := 0
	for _, look := range r.lastLooks(h, "intents", whenHeld) {
		waiting += countIf(look.Rows, func(row map[string]any) bool { return text(row, "kind") == "start" && text(row, "state") == "retrying" })
	}
	if n := len(acknowledged(h, "start")); n != k || waiting != k {
		r.doubted("%d starts had to wait for the login, %d were acknowledged and %d were seen to wait", k, n, waiting)
	}
	failed, from, to := 0, int64(0), int64(0)
	for _, e := range h.Events {
		switch {
		case e.Kind != history.KindLook || e.Look.Probe != "counters":
		case e.Look.When == whenFailed:
			from = e.Seq
		case e.Look.When == whenRefused:
			to = e.Seq
		}
	}
	for _, look := range r.lastLooks(h, "intents", whenFailed) {
		failed += countIf(look.Rows, func(row map[string]any) bool {
			return text(row, "state") == "failed" && text(row, "class") == "permanent"
		})
	}
	refused, early := 0, 0
	for _, o := range h.Operations("") {
		switch {
		case o.Outcome() != history.Refused:
		case o.InvokedAt.Seq < from:
			early++
		case endedBefore(o, to):
			refused++
		}
	}
	if failed+early != k {
		r.doubted("%d commands had to fail for good, %d were seen to and %d were refused", k, failed, early)
	}
	if refused != k {
		r.doubted("%d calls had to be refused, %d were", k, refused)
	}
}
