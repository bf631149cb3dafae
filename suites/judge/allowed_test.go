package judge

import "testing"

func TestRunsOnceAllowed(t *testing.T) {
	s := newStory()
	s.call("start", params("texts", `["no"]`, "denied", "0", "how", "off"), done("operation_id", "wf_1"))
	s.call("start", params("texts", `["","yes"]`, "allowed", "1"), done("operation_id", "wf_2"))
	s.look("checkpoint", "converged", params("operation_id", "wf_1"), row("state", "failed", "steps", list("failed")))
	s.look("checkpoint", "converged", params("operation_id", "wf_2"), row("state", "completed", "steps", list("done", "done")))
	s.look("effects", "converged", nil, row("text", "yes"))
	const summary = "a step is denied by a control as it stood at the start"
	rules(t, RunsOnceAllowed("off"), s.told(),
		variant{"the start decides", edits(stored("wf_2", "converged", "failed")),
			finds(broken("WF-04", summary, "operation wf_2, step 2: it is stored as map[state:failed steps:[done done]], expected completed", `the outside service has applied "yes" 1 times`)), nil},
		variant{"it takes no effect", edits(shows("effects", "converged")),
			finds(broken("WF-04", summary, "operation wf_2, step 2: it is stored as map[state:completed steps:[done done]], expected completed", `the outside service has applied "yes" 0 times`)), nil},
		variant{"nothing was denied", edits(stored("wf_1", "converged", "completed")), nil,
			[]string{"nothing was denied meanwhile (off), so that a step that runs says nothing"}},
		variant{"no step was to be allowed", edits(noCall("c2")), nil, []string{"no operation had a step that a control lets through once its turn comes"}},
	)
}
