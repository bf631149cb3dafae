package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// told of an operation wf_1 whose first step, of a kind, was applied as its server
// was killed, and that was resumed; it may have gone out again then.
func doubtOf(s *story, id, one, two, kind string, again bool) {
	s.mark("step", "text", one, "kind", kind)
	s.mark("step", "text", two, "kind", "write")
	s.call("start", params("texts", `["`+one+`","`+two+`"]`), done("operation_id", id, "operation", "running"))
	at := func(when string, sent, later int, state string, steps ...string) {
		s.look("checkpoint", when, params("operation_id", id), row("state", state, "steps", list(steps...)))
		s.look("outside", when, params("text", one), row("came", sent, "passed", sent))
		s.look("outside", when, params("text", two), row("came", later, "passed", later))
	}
	at("struck", 1, 0, "running", "in_flight", "pending")
	if again {
		s.call("resume", params("operation_id", id, "moment", "resumed"), done("operation", "running"))
		at("converged", 2, 1, "completed", "done", "done")
		return
	}
	s.call("resume", params("operation_id", id, "moment", "resumed"), done("operation", "needs_review"))
	at("converged", 1, 0, "needs_review", "unknown", "pending")
}

func retriedWhole() history.History {
	s := newStory()
	doubtOf(s, "wf_1", "one", "two", "retryable", true) // c1, c2
	s.look("effects", "struck", nil, row("text", "one"))
	s.look("effects", "converged", nil, row("text", "one"), row("text", "two"))
	return s.told()
}

func TestBothDeclared(t *testing.T) {
	sent := "operation wf_1: 1 requests of the step came before the resume, 2 by the end"
	rules(t, BothDeclared, retriedWhole(),
		variant{"it is left to a review", edits(wire("one", "converged", 1, 1), cell("checkpoint", "converged", 0, "state", "needs_review")),
			finds(broken("WF-16", "a step that declares both is not retried by an explicit resume",
				"operation wf_1: 1 requests of the step came before the resume, 1 by the end", "the operation is stored as map[state:needs_review steps:[done done]]")), nil},
		variant{"it takes effect twice", edits(shows("effects", "converged", row("text", "one"), row("text", "one"), row("text", "two"))),
			finds(broken("WF-16", "a retried step does not take effect once", sent, `the outside service has applied "one" 2 times`)), nil},
		variant{"the operation stops behind it", edits(cell("checkpoint", "converged", 0, "state", "interrupted")),
			finds(broken("WF-16", "an operation does not go on behind a retried step", sent, "it is stored as map[state:interrupted steps:[done done]], expected completed")), nil},
		variant{"the step declares one", edits(markData("step", "kind", "idempotent")), nil, []string{"no step that declares both was in doubt"}},
		variant{"nobody resumed it", edits(noCall("c2")), nil, []string{"no resume of operation wf_1 was answered"}},
		variant{"nothing was in flight", edits(cell("checkpoint", "struck", 0, "steps", list("pending", "pending"))), nil,
			[]string{"no step of operation wf_1 was in flight on disk when the server died: map[state:running steps:[pending pending]]"}},
		variant{"no request had come", edits(wire("one", "struck", 0, 0)), nil, []string{"no request of the step in doubt of operation wf_1 had come when the server died"}},
	)
}

func halfAndWhole() history.History {
	s := newStory()
	doubtOf(s, "wf_1", "one", "two", "retryable", true)      // c1, c2
	doubtOf(s, "wf_2", "three", "four", "idempotent", false) // c3, c4
	s.look("effects", "struck", nil, row("text", "one"), row("text", "two"), row("text", "three"))
	s.look("effects", "converged", nil, row("text", "one"), row("text", "two"), row("text", "three"))
	return s.told()
}

// stored changes what is stored of an operation at a moment.
func stored(id, when, state string) edit {
	return each("the checkpoint of "+id, func(e history.Event) bool {
		return e.Look != nil && e.Look.Probe == "checkpoint" && e.Look.When == when && e.Look.Params["operation_id"] == id
	}, func(e *history.Event) { e.Look.Rows[0]["state"] = state })
}

func TestHalfDeclared(t *testing.T) {
	const review = "a step in doubt is not left to a review"
	rules(t, HalfDeclared, halfAndWhole(),
		variant{"the resume goes on", edits(field("c4", "operation", "running")),
			finds(broken("WF-17", review, "resume c4 was answered ", "expected needs_review")), nil},
		variant{"it ends as completed", edits(stored("wf_2", "converged", "completed")),
			finds(broken("WF-17", review, `operation wf_2 is stored as map[state:completed steps:[unknown pending]], expected "needs_review"`)), nil},
		variant{"it goes out again", edits(wire("three", "converged", 2, 2)),
			finds(broken("WF-17", "a step in doubt was sent again", "operation wf_2: 2 requests of the step came, 1 of them before it was in doubt", `the outside service has applied "three" 1 times`)), nil},
		variant{"it takes effect again", edits(shows("effects", "converged", row("text", "three"), row("text", "three"))),
			finds(broken("WF-17", "a step in doubt was sent again", "operation wf_2: 1 requests of the step came, 1 of them before it was in doubt", `the outside service has applied "three" 2 times`)), nil},
		variant{"the next one goes out", edits(wire("four", "converged", 1, 0)),
			finds(broken("WF-17", "an operation went on behind the step at which it had to stop", "operation wf_2: 1 requests of step 2 came", `the outside service has applied "four" 0 times`)), nil},
		variant{"the other was not retried either", edits(wire("one", "converged", 1, 1)), nil,
			[]string{"the step of operation wf_1 that declares both was not sent again either, so that it is not known whether a resume sends anything"}},
		variant{"nobody resumed the other", edits(noCall("c2")), nil, []string{"no resume of operation wf_1 was answered"}},
		variant{"nobody saw the store", edits(noLook("checkpoint", "converged")), nil, []string{"the checkpoint of operation wf_2 was not seen at the moment converged"}},
		variant{"there is no other", edits(noCall("c1")), nil, []string{"1 steps with one declaration and 0 with both were in doubt; one of each is needed"}},
	)
}

// confirmedOnce tells of a step with a confirmation that was in doubt and resumed.
func confirmedOnce() history.History {
	s := newStory()
	doubtOf(s, "wf_1", "one", "two", "confirmed", false) // c1, c2
	s.look("effects", "struck", nil, row("text", "one"))
	s.look("effects", "converged", nil, row("text", "one"))
	s.call("status", params("operation_id", "wf_1", "moment", "converged"), done("operation", "needs_review", "code", "approval_invalid")) // c3
	return s.told()
}

func TestConfirmationUsedUp(t *testing.T) {
	rules(t, ConfirmationUsedUp, confirmedOnce(),
		variant{"it is failed", edits(stored("wf_1", "converged", "failed")), nil, nil},
		variant{"it goes out again", edits(wire("one", "converged", 2, 2)),
			finds(broken("WF-16", "a step in doubt was sent again", "operation wf_1: 2 requests of the step came, 1 of them before it was in doubt", `the outside service has applied "one" 1 times`)), nil},
		variant{"the operation goes on", edits(stored("wf_1", "converged", "completed")),
			finds(broken("WF-16", "an operation goes on although the confirmation of its step was used up", `operation wf_1 is stored as map[state:completed steps:[unknown pending]], expected "failed", "needs_review"`)), nil},
		variant{"its code is another", edits(field("c3", "code", "outcome_unknown")),
			finds(broken("WF-16", "a retry with a used confirmation does not end with approval_invalid", "status c3 was answered ", `its code is "outcome_unknown"`)), nil},
		variant{"its status is not asked", edits(noCall("c3")), nil, []string{"the status of operation wf_1 was not answered at the end"}},
		variant{"nobody resumed it", edits(noCall("c2")), nil, []string{"no resume of operation wf_1 was answered"}},
		variant{"it needed no confirmation", edits(markData("step", "kind", "retryable")), nil,
			[]string{`the step in doubt of operation wf_1 is of kind "retryable", and one with a confirmation is needed`}},
	)
}
