package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// deliveredInPart tells of an operation wf_1 whose first delivery was partial, and
// of an operation wf_2 whose delivery was complete.
func deliveredInPart() history.History {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	s.mark("expected", "text", "one", "end", "partial")
	seen(s, "struck", [2]int{1, 1}, [2]int{}, []string{"one"}, "needs_review", "unknown", "pending")
	s.call("resume", params("operation_id", "wf_1", "moment", "resumed"), done("operation", "needs_review")) // c2
	s.call("start", params("texts", `["three"]`), done("operation_id", "wf_2", "operation", "running"))      // c3
	seen(s, "converged", [2]int{1, 1}, [2]int{}, []string{"one", "three"}, "needs_review", "unknown", "pending")
	s.look("checkpoint", "converged", params("operation_id", "wf_2"), row("state", "completed"))
	return s.told()
}

func TestReceiptStops(t *testing.T) {
	rules(t, ReceiptStops, deliveredInPart(),
		variant{"it goes on", edits(stored("wf_1", "struck", "completed"), wire("two", "converged", 1, 1)),
			finds(broken("WF-22", "a delivery that was partial does not stop its operation for a review", `operation wf_1 is stored as map[state:completed steps:[unknown pending]], expected "needs_review"`),
				broken("WF-22", "an operation went on behind the step at which it had to stop", "operation wf_1: 1 requests of step 2 came", `the outside service has applied "two" 0 times`)), nil},
		variant{"the resume delivers again", edits(wire("one", "converged", 2, 2)),
			finds(broken("WF-22", "a step in doubt was sent again", "operation wf_1: 2 requests of the step came, 1 of them before it was in doubt", `the outside service has applied "one" 1 times`)), nil},
		variant{"the resume says that it runs", edits(field("c2", "operation", "running")),
			finds(broken("WF-22", "a step in doubt is not left to a review", "resume c2 was answered ", "expected needs_review")), nil},
		variant{"nobody resumed it", edits(noCall("c2")), nil, []string{"no resume of operation wf_1 was answered"}},
		variant{"nothing was delivered", edits(wire("one", "struck", 0, 0)), nil,
			[]string{`the delivery of operation wf_1 was to be partial; 0 requests came, and the outside service has applied "one" 1 times`}},
		variant{"a complete one stops too", edits(stored("wf_2", "converged", "needs_review")), nil,
			[]string{`operation wf_2, to which nothing happened, is stored as map[state:needs_review], and the outside service has applied "three" 1 times`}},
		variant{"there is no complete one", edits(noCall("c3")), nil, []string{"1 deliveries were incomplete and 0 complete; one of each is needed"}},
	)
}
