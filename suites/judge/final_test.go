package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// failedForGood tells of an operation that failed with its first step, and of who asked
// for more.
func failedForGood() history.History {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	seen(s, "settled", [2]int{1, 1}, [2]int{}, nil, "failed", "failed", "pending")
	s.call("resume", params("operation_id", "wf_1", "moment", "settled"), done("operation", "failed"))   // c2
	s.call("cancel", params("operation_id", "wf_1", "moment", "settled"), done("operation", "failed"))   // c3
	s.call("status", params("operation_id", "wf_1", "moment", "converged"), done("operation", "failed")) // c4
	seen(s, "converged", [2]int{1, 1}, [2]int{}, nil, "failed", "failed", "pending")
	return s.told()
}

func TestFinalIsFinal(t *testing.T) {
	const other = "a terminal state is told to be another"
	rules(t, FinalIsFinal("failed"), failedForGood(),
		variant{"it is stored as another", edits(stored("wf_1", "converged", "cancelled")),
			finds(broken("WF-27", "a terminal state changes", "operation wf_1 was stored as map[state:failed steps:[failed pending]]", "and is stored as map[state:cancelled steps:[failed pending]] behind resumes and cancels")), nil},
		variant{"a resume runs it", edits(field("c2", "operation", "running")),
			finds(broken("WF-27", other, "resume c2 was answered ", "expected failed")), nil},
		variant{"a cancel says that it is cancelled", edits(field("c3", "operation", "cancelled")),
			finds(broken("WF-27", other, "cancel c3 was answered ", "expected failed")), nil},
		variant{"its status is another", edits(field("c4", "operation", "interrupted")),
			finds(broken("WF-27", other, "status c4 was answered ", "expected failed")), nil},
		variant{"it goes out again", edits(wire("one", "converged", 2, 2)),
			finds(broken("WF-27", "an operation runs on behind its end", "operation wf_1: 1 requests of step 1 came by its end, and 2 behind resumes and cancels", `the outside service has applied "one" 0 times`)), nil},
		variant{"the next step takes effect", edits(shows("effects", "converged", row("text", "two"))),
			finds(broken("WF-27", "an operation runs on behind its end", "operation wf_1: 0 requests of step 2 came by its end, and 0 behind resumes and cancels", `the outside service has applied "two" 1 times`)), nil},
		variant{"a resume is refused", edits(ends("c2", refused("", "settled"))), nil, nil},
		variant{"nobody cancelled it", edits(noCall("c3")), nil, []string{"no cancel of operation wf_1 was answered behind its end"}},
		variant{"it never came to that end", edits(stored("wf_1", "settled", "completed")), nil,
			[]string{"operation wf_1 was to be failed and is stored as map[state:completed steps:[failed pending]], so that there is no such end to keep"}},
		variant{"nothing was counted", edits(wire("one", "settled", 0, 0), wire("one", "converged", 0, 0)), nil,
			[]string{"no request of operation wf_1 was counted, so that it is not known whether any would be"}},
	)
}
