package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// lostBehind tells of an operation whose first step, of a kind, was applied and
// whose answer was lost.
func lostBehind(kind, state string) history.History {
	s := newStory()
	s.mark("step", "text", "one", "kind", kind)
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	s.call("status", params("operation_id", "wf_1", "moment", "struck"), done("operation", state))          // c2
	seen(s, "struck", [2]int{1, 1}, [2]int{}, []string{"one"}, state, "unknown", "pending")
	if kind == "retryable" {
		s.call("resume", params("operation_id", "wf_1", "moment", "resumed"), done("operation", "running")) // c3
		seen(s, "converged", [2]int{2, 2}, [2]int{1, 1}, []string{"one", "two"}, "completed", "done", "done")
		return s.told()
	}
	s.call("resume", params("operation_id", "wf_1", "moment", "resumed"), done("operation", state)) // c3
	seen(s, "converged", [2]int{1, 1}, [2]int{}, []string{"one"}, state, "unknown", "pending")
	return s.told()
}

func TestLostIsDoubt(t *testing.T) {
	const doubt = "a lost answer is not taken for doubt"
	rules(t, LostIsDoubt(1), lostBehind("write", "needs_review"),
		variant{"it is failed", edits(stored("wf_1", "struck", "failed")),
			finds(broken("WF-18", doubt, `operation wf_1 is stored as map[state:failed steps:[unknown pending]], expected "needs_review"`)), nil},
		variant{"its status is another", edits(field("c2", "operation", "failed")),
			finds(broken("WF-18", doubt, "status c2 was answered ", "expected needs_review")), nil},
		variant{"it is sent again by itself", edits(wire("one", "struck", 2, 2)),
			finds(broken("WF-18", "a step whose answer was lost is sent again by itself", "operation wf_1: 2 requests of the step came, and nobody resumed it", `the outside service has applied "one" 1 times`)), nil},
		variant{"the resume sends it again", edits(wire("one", "converged", 2, 2)),
			finds(broken("WF-18", "a step in doubt was sent again", "operation wf_1: 2 requests of the step came, 1 of them before it was in doubt", `the outside service has applied "one" 1 times`)), nil},
		variant{"the resume goes on", edits(field("c3", "operation", "running")),
			finds(broken("WF-18", "a step in doubt is not left to a review", "resume c3 was answered ", "expected needs_review")), nil},
		variant{"the next one goes out", edits(wire("two", "converged", 1, 1)),
			finds(broken("WF-18", "an operation went on behind the step at which it had to stop", "operation wf_1: 1 requests of step 2 came", `the outside service has applied "two" 0 times`)), nil},
		variant{"it never went out", edits(wire("one", "struck", 0, 0)), nil,
			[]string{`the step of operation wf_1 was to go out once and to take effect 1 times; 0 requests came, and the outside service has applied "one" 1 times`}},
		variant{"it took no effect", edits(shows("effects", "struck")), nil,
			[]string{`the step of operation wf_1 was to go out once and to take effect 1 times; 1 requests came, and the outside service has applied "one" 0 times`}},
		variant{"nobody resumed it", edits(noCall("c3")), nil, []string{"no resume of operation wf_1 was answered"}},
	)
	t.Run("retryable", func(t *testing.T) {
		rules(t, LostIsDoubt(1), lostBehind("retryable", "interrupted"),
			variant{"it is left to a review", edits(stored("wf_1", "struck", "needs_review")),
				finds(broken("WF-18", doubt, `operation wf_1 is stored as map[state:needs_review steps:[unknown pending]], expected "interrupted"`)), nil},
			variant{"it cannot be resumed", edits(stored("wf_1", "converged", "interrupted")),
				finds(broken("WF-18", "an operation that may be retried cannot be resumed", `operation wf_1 is stored as map[state:interrupted steps:[done done]], expected "completed"`)), nil},
			variant{"it takes effect twice", edits(shows("effects", "converged", row("text", "one"), row("text", "one"))),
				finds(broken("WF-18", "a step that was resumed behind a lost answer does not take effect once", `the outside service has applied "one" 2 times`)), nil},
		)
	})
}
