package judge

import "testing"

func TestGoesOnAlone(t *testing.T) {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1")) // c1
	seen(s, "held", [2]int{1, 0}, [2]int{0, 0}, nil, "running", "in_flight", "pending")
	s.mark("caller left", "session", "workflows.1")
	seen(s, "converged", [2]int{1, 1}, [2]int{1, 1}, []string{"one", "two"}, "completed", "done", "done")
	rules(t, GoesOnAlone, s.told(),
		variant{"it stops with its starter", edits(cell("checkpoint", "converged", 0, "state", "cancelled")),
			finds(broken("WF-30", "an operation did not go on after its starter had disconnected", "operation wf_1 is stored as map[state:cancelled steps:[done done]], expected completed")), nil},
		variant{"a step is left out", edits(shows("effects", "converged", row("text", "one"))),
			finds(broken("WF-30", "an operation is completed and a step of it did not take effect", `the outside service has applied "two" 0 times`)), nil},
		variant{"it was not running", edits(cell("checkpoint", "held", 0, "state", "completed")), nil,
			[]string{`operation wf_1 was not running when its starter disconnected, but "completed"`}},
		variant{"nobody left", edits(noMark("caller left")), nil, []string{"no starter disconnected"}},
		variant{"nobody saw the end", edits(noLook("checkpoint", "converged")), nil, []string{"the checkpoint of operation wf_1 was not seen at the moment converged"}},
	)
}

func TestStopsWithItsServer(t *testing.T) {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1")) // c1
	seen(s, "held", [2]int{1, 0}, [2]int{0, 0}, nil, "running", "in_flight", "pending")
	seen(s, "struck", [2]int{1, 1}, [2]int{0, 0}, nil, "running", "in_flight", "pending")
	s.call("status", params("operation_id", "wf_1", "moment", "restarted"), done("operation", "interrupted")) // c2
	seen(s, "restarted", [2]int{1, 1}, [2]int{0, 0}, nil, "running", "in_flight", "pending")
	s.call("resume", params("operation_id", "wf_1", "moment", "resumed"), done("operation", "running")) // c3
	seen(s, "converged", [2]int{2, 2}, [2]int{1, 1}, []string{"one", "two"}, "completed", "done", "done")
	rules(t, StopsWithItsServer, s.told(),
		variant{"it goes on behind its server", edits(wire("two", "struck", 1, 1)),
			finds(broken("WF-30", "an operation went on although its server had left", `operation wf_1: 1 requests of step "two" came by the moment struck`)), nil},
		variant{"it counts as failed", edits(field("c2", "operation", "failed")),
			finds(broken("WF-30", "an operation whose server has left is not shown as interrupted", "status c2 was answered ")), nil},
		variant{"a resume does nothing", edits(cell("checkpoint", "converged", 0, "state", "cancelled")),
			finds(broken("WF-30", "an operation whose server had left could not be resumed to its end", "resume c3 was answered ", "operation wf_1 is stored as map[state:cancelled steps:[done done]], expected completed")), nil},
		variant{"it was not running", edits(cell("checkpoint", "held", 0, "state", "completed")), nil,
			[]string{`operation wf_1 was not running when its server left, but "completed"`}},
		variant{"nobody resumed", edits(noCall("c3")), nil, []string{"operation wf_1 was not both asked for and resumed with a new server"}},
	)
}
