package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// saidNo tells of an operation wf_1 whose first step was not done for certain, and
// of an operation wf_2 to which nothing happened.
func saidNo(end string, came int) history.History {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	s.mark("expected", "text", "one", "end", end, "how", "as told")
	s.call("status", params("operation_id", "wf_1", "moment", "converged"), done("operation", "failed", "code", "upstream_refused")) // c2
	s.call("start", params("texts", `["three"]`), done("operation_id", "wf_2", "operation", "running"))                              // c3
	s.look("checkpoint", "converged", params("operation_id", "wf_1"), row("state", "failed"))
	s.look("checkpoint", "converged", params("operation_id", "wf_2"), row("state", "completed"))
	s.look("effects", "converged", nil, row("text", "three"))
	s.look("outside", "converged", params("text", "one"), row("came", came, "passed", came))
	s.look("outside", "converged", params("text", "two"), row("came", 0, "passed", 0))
	s.look("outside", "converged", params("text", "three"), row("came", 1, "passed", 1))
	return s.told()
}

func TestDefiniteIsNoDoubt(t *testing.T) {
	stands := func(end, state string) string {
		return "operation wf_1: its step was " + end + " (as told); it is stored as map[state:" + state + "]"
	}
	rules(t, DefiniteIsNoDoubt, saidNo("refused", 1),
		variant{"it is reviewed", edits(stored("wf_1", "converged", "needs_review")),
			finds(broken("WF-19", "a definite no is sent to a review", stands("refused", "needs_review"))), nil},
		variant{"it is resumable", edits(stored("wf_1", "converged", "interrupted")),
			finds(broken("WF-19", "an operation does not fail with a step that was definitely not done", stands("refused", "interrupted"))), nil},
		variant{"its code is a text", edits(field("c2", "code", "no such channel: news")),
			finds(broken("WF-19", "a failed operation has no safe code", stands("refused", "failed"), `its status has the code "no such channel: news"`)), nil},
		variant{"it has no code", edits(noField("c2", "code")),
			finds(broken("WF-19", "a failed operation has no safe code", stands("refused", "failed"), `its status has the code ""`)), nil},
		variant{"it goes on", edits(wire("two", "converged", 1, 1)),
			finds(broken("WF-19", "an operation went on behind the step at which it had to stop", "operation wf_1: 1 requests of step 2 came", `the outside service has applied "two" 0 times`)), nil},
		variant{"its status is not answered", edits(noCall("c2")), nil, []string{"the status of the failed operation wf_1 was not answered"}},
		variant{"it was applied all the same", edits(shows("effects", "converged", row("text", "one"), row("text", "three"))), nil,
			[]string{`the step of operation wf_1 was to be refused (as told), and the outside service has applied "one" 1 times`}},
		variant{"nothing works", edits(stored("wf_2", "converged", "failed")), nil,
			[]string{`operation wf_2, to which nothing happened, is stored as map[state:failed], and the outside service has applied "three" 1 times`}},
		variant{"nothing was refused", edits(noMark("expected")), nil,
			[]string{`operation wf_1, to which nothing happened, is stored as map[state:failed], and the outside service has applied "one" 0 times`}},
		variant{"there is no other operation", edits(noCall("c3")), nil, []string{"1 operations had a definite no and 0 had none; one of each is needed"}},
	)
	t.Run("unsent", func(t *testing.T) {
		rules(t, DefiniteIsNoDoubt, saidNo("unsent", 0),
			variant{"it is resumable", edits(stored("wf_1", "converged", "interrupted")), nil, nil},
			variant{"it is reviewed", edits(stored("wf_1", "converged", "needs_review")),
				finds(broken("WF-19", "a definite no is sent to a review", stands("unsent", "needs_review"))), nil},
			variant{"it is completed", edits(stored("wf_1", "converged", "completed")),
				finds(broken("WF-19", "an operation does not fail with a step that was definitely not done", stands("unsent", "completed"))), nil},
			variant{"a request left", edits(wire("one", "converged", 1, 1)), nil, []string{"the request of operation wf_1 was not to leave, and 1 came"}},
		)
	})
}
