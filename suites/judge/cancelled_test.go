package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// cancelledAt tells of an operation that was cancelled while its first step was in
// flight, in effect or not by then, and how it stood then and at the end.
func cancelledAt(effects []string, then, end string, steps ...string) history.History {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	seen(s, "asked", [2]int{1, 0}, [2]int{}, effects, "running", "in_flight", "pending")
	s.call("cancel", params("operation_id", "wf_1", "moment", "held"), done("operation", then)) // c2
	seen(s, "held", [2]int{1, 0}, [2]int{}, effects, then, steps...)
	seen(s, "converged", [2]int{1, 1}, [2]int{}, []string{"one"}, end, steps...)
	return s.told()
}

func TestCancelAborts(t *testing.T) {
	rules(t, CancelAborts, cancelledAt(nil, "needs_review", "needs_review", "unknown", "pending"),
		variant{"it was a clean one", edits(stored("wf_1", "held", "cancelled")), nil, nil},
		variant{"it is not aborted", edits(stored("wf_1", "held", "running")),
			finds(broken("WF-20", "a cancel does not abort the current step, whose tool can be aborted", `operation wf_1 is stored as map[state:running steps:[unknown pending]], expected "cancelled", "needs_review"`)), nil},
		variant{"the next one goes out", edits(wire("two", "converged", 1, 1)),
			finds(broken("WF-20", "an operation went on behind the step at which it had to stop", "operation wf_1: 1 requests of step 2 came", `the outside service has applied "two" 0 times`)), nil},
		variant{"it was let go", edits(wire("one", "held", 1, 1)), nil, []string{"the request of operation wf_1 was let go before it was seen whether the step is aborted"}},
		variant{"nothing was in flight", edits(wire("one", "asked", 0, 0)), nil,
			[]string{"the first step of operation wf_1 was to be in flight as it was cancelled; 0 requests had come, and it is stored as map[state:running steps:[in_flight pending]]"}},
		variant{"nobody cancelled it", edits(noCall("c2")), nil, []string{"no cancel of operation wf_1 was answered"}},
		variant{"the cancel was refused", edits(ends("c2", refused("", "busy"))), nil, []string{"no cancel of operation wf_1 was answered"}},
	)
}

func TestCancelWaits(t *testing.T) {
	rules(t, CancelWaits, cancelledAt(nil, "running", "cancelled", "done", "pending"),
		variant{"its result is thrown away", edits(cell("checkpoint", "converged", 0, "steps", list("pending", "pending"))),
			finds(broken("WF-20", "the result of a step that finished behind a cancel is not stored", `the outside service has applied "one" 1 times`, "operation wf_1 is stored as map[state:cancelled steps:[pending pending]]")), nil},
		variant{"it is completed", edits(stored("wf_1", "converged", "completed")),
			finds(broken("WF-20", "an operation is not cancelled behind the step that could not be aborted", "operation wf_1 is stored as map[state:completed steps:[done pending]]")), nil},
		variant{"the next one goes out", edits(wire("two", "converged", 1, 1)),
			finds(broken("WF-20", "an operation went on behind the step at which it had to stop", "operation wf_1: 1 requests of step 2 came", `the outside service has applied "two" 0 times`)), nil},
		variant{"it took no effect", edits(shows("effects", "converged")), nil,
			[]string{`the step of operation wf_1 that cannot be aborted was to take effect once, and the outside service has applied "one" 0 times`}},
		variant{"nobody cancelled it", edits(noCall("c2")), nil, []string{"no cancel of operation wf_1 was answered"}},
	)
}

func TestCancelKeepsDoubt(t *testing.T) {
	const summary = "a cancel hides a write in doubt"
	rules(t, CancelKeepsDoubt, cancelledAt([]string{"one"}, "needs_review", "needs_review", "unknown", "pending"),
		variant{"it is clean", edits(stored("wf_1", "converged", "cancelled")),
			finds(broken("WF-21", summary, `operation wf_1 is stored as map[state:cancelled steps:[unknown pending]], expected "needs_review"`)), nil},
		variant{"it is said to be clean", edits(field("c2", "operation", "cancelled")),
			finds(broken("WF-21", summary, "cancel c2 was answered ", "expected needs_review")), nil},
		variant{"it goes out again", edits(wire("one", "converged", 2, 2)),
			finds(broken("WF-21", "a step in doubt goes out again behind a cancel", "operation wf_1: 2 requests of the step came")), nil},
		variant{"the next one goes out", edits(wire("two", "converged", 1, 1)),
			finds(broken("WF-21", "an operation went on behind the step at which it had to stop", "operation wf_1: 1 requests of step 2 came", `the outside service has applied "two" 0 times`)), nil},
		variant{"it finished", edits(cell("checkpoint", "converged", 0, "steps", list("done", "pending"))), nil,
			[]string{`the write of operation wf_1 was to be in doubt as it was cancelled; it is stored as map[state:needs_review steps:[done pending]], and the outside service has applied "one" 1 times`}},
		variant{"nobody cancelled it", edits(noCall("c2")), nil, []string{"no cancel of operation wf_1 was answered"}},
	)
}
