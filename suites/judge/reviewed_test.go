package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// struckInFlight tells of an operation whose server was killed with the first step
// in flight, which had taken effect effects times, and which was resumed twice.
func struckInFlight(effects int) history.History {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	inEffect := []string{"one"}[:effects]
	passed := [2]int{1, effects}
	asking := func(role, moment, state string) {
		s.call(role, params("operation_id", "wf_1", "moment", moment), done("operation", state))
	}
	seen(s, "struck", passed, [2]int{}, inEffect, "running", "in_flight", "pending")
	asking("status", "restarted", "interrupted") // c2
	seen(s, "restarted", passed, [2]int{}, inEffect, "running", "in_flight", "pending")
	asking("resume", "resumed", "needs_review") // c3
	asking("resume", "resumed", "needs_review") // c4
	seen(s, "converged", passed, [2]int{}, inEffect, "needs_review", "unknown", "pending")
	return s.told()
}

func TestNothingResumesItself(t *testing.T) {
	rules(t, NothingResumesItself, struckInFlight(0),
		variant{"a restart stores something", edits(cell("checkpoint", "restarted", 0, "state", "interrupted")),
			finds(broken("WF-15", "a restart changed an operation that nobody resumed",
				"operation wf_1 was stored as map[state:running steps:[in_flight pending]]", "and is stored as map[state:interrupted steps:[in_flight pending]] with a new server")), nil},
		variant{"the step in doubt goes out", edits(wire("one", "restarted", 2, 1)),
			finds(broken("WF-15", "a step goes out after a restart although nobody resumed its operation",
				`operation wf_1: 1 requests of step "one" came before the restart and 2 by then`)), nil},
		variant{"the next one goes out", edits(wire("two", "restarted", 1, 1)),
			finds(broken("WF-15", "a step goes out after a restart although nobody resumed its operation",
				`operation wf_1: 0 requests of step "two" came before the restart and 1 by then`)), nil},
		variant{"it is called running", edits(field("c2", "operation", "running")),
			finds(broken("WF-15", "an operation whose server was killed is not shown as interrupted", "status c2 was answered ")), nil},
		variant{"its status is refused", edits(ends("c2", refused("", "unknown"))), nil,
			[]string{`the status of operation wf_1 was not answered behind the restart: {"isError":true}`}},
		variant{"nobody asked for its status", edits(noCall("c2")), nil, []string{"the status of operation wf_1 was not asked for behind the restart"}},
		variant{"nobody resumed it", edits(noCall("c3", "c4")), nil,
			[]string{"operation wf_1 was never resumed, so that it is not known whether anything could have gone on"}},
		variant{"nobody looked before", edits(noLook("checkpoint", "struck")), nil, []string{"the checkpoint of operation wf_1 was not seen at the moment struck"}},
	)
}

func TestReviewedNeverReplayed(t *testing.T) {
	const review = "a step in doubt is not left to a review"
	for _, effects := range []int{0, 1} {
		rules(t, ReviewedNeverReplayed(effects), struckInFlight(effects),
			variant{"a resume goes on", edits(field("c4", "operation", "running")),
				finds(broken("WF-14", review, "resume c4 was answered ", "expected needs_review")), nil},
			variant{"it is called failed", edits(cell("checkpoint", "converged", 0, "state", "failed")),
				finds(broken("WF-14", review, "operation wf_1 is stored as map[state:failed steps:[unknown pending]], expected needs_review")), nil},
			variant{"the step is sent again", edits(wire("one", "converged", 2, effects+1), shows("effects", "converged", manyOnes(effects+1)...)),
				finds(broken("WF-14", "a step in doubt was sent again", "operation wf_1: 2 requests of the step came",
					inEffect("one", effects+1))), nil},
			variant{"it goes on behind it", edits(shows("effects", "converged", append(manyOnes(effects), row("text", "two"))...)),
				finds(broken("WF-14", "an operation went on behind a step in doubt", `the outside service has applied "two" 1 times`)), nil},
			variant{"no step was in flight", edits(cell("checkpoint", "struck", 0, "steps", list("pending", "pending"))), nil,
				[]string{"no step of operation wf_1 was in flight on disk when the server died: map[state:running steps:[pending pending]]"}},
			variant{"the fault missed", edits(shows("effects", "struck", manyOnes(1-effects)...)), nil,
				[]string{"the step in doubt of operation wf_1 was to be struck with its request on the way and " + digit(effects) + " effects; 1 requests came, and " + inEffect("one", 1-effects)}},
			variant{"a resume is refused", edits(ends("c4", refused("", "busy"))), nil, nil},
			variant{"nobody resumed it", edits(noCall("c3", "c4")), nil, []string{"operation wf_1 was never resumed"}},
			variant{"nobody saw the end", edits(noLook("effects", "converged")), nil, []string{"what the outside service has applied was not seen at the moment converged"}},
		)
	}
}

func digit(n int) string { return string(rune('0' + n)) }

// manyOnes are n effects of the first step.
func manyOnes(n int) []map[string]any {
	rows := []map[string]any{}
	for range n {
		rows = append(rows, row("text", "one"))
	}
	return rows
}
