package judge

import "testing"

func TestTasksAgree(t *testing.T) {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1")) // c1
	at := func(moment, state, status string, states ...string) {
		p := params("operation_id", "wf_1", "moment", moment)
		s.call("status", p, done("operation", state))
		s.call("task get", p, done("operation_id", "wf_1", "task", status, "states", list(states...)))
		s.call("task list", p, done("operation_id", "wf_1", "task", status, "states", list(states...)))
		s.call("status", p, done("operation", state))
	}
	at("restarted", "interrupted", "input_required", "interrupted", "needs_review") // c2 to c5
	at("converged", "completed", "completed", "completed")                          // c6 to c9
	s.call("task result", params("operation_id", "wf_1", "moment", "converged"), done("operation", "completed"))
	rule := TasksAgree(map[string]string{"restarted": "interrupted", "converged": "completed"})
	rules(t, rule, s.told(),
		variant{"a task is stale", edits(field("c7", "task", "input_required"), field("c7", "states", list("interrupted", "needs_review"))),
			finds(broken("WF-29", "the two views of an operation disagree", "status c6 was answered ", "task get c7 was answered ",
				"a task that is input_required shows an operation that is one of [interrupted needs_review], and it is completed")), nil},
		variant{"the list is stale", edits(field("c4", "task", "working"), field("c4", "states", list("running"))),
			finds(broken("WF-29", "the two views of an operation disagree", "status c2 was answered ", "task list c4 was answered ",
				"a task that is working shows an operation that is one of [running], and it is interrupted")), nil},
		variant{"a status that the target file does not know", edits(field("c7", "task", "done"), field("c7", "states", list())),
			finds(broken("WF-29", "the two views of an operation disagree", "status c6 was answered ", "task get c7 was answered ",
				"a task that is done shows an operation that is one of [], and it is completed")), nil},
		variant{"it is not in the list", edits(field("c8", "task", "")),
			finds(broken("WF-29", "an operation is not to be found as a task", "status c6 was answered ", "task list c8 was answered ")), nil},
		variant{"the result is another", edits(field("c10", "operation", "failed")),
			finds(broken("WF-29", "the result of a task disagrees with its operation", "status c6 was answered ", "task result c10 was answered ")), nil},
		variant{"it moved meanwhile", edits(field("c9", "operation", "failed")), nil,
			[]string{"operation wf_1 was to be completed throughout the moment converged: status c9 was answered "}},
		variant{"it was asked for once", edits(noCall("c5")), nil,
			[]string{"operation wf_1 was not asked for both in front of its task and behind it at the moment restarted"}},
		variant{"nobody asked for the task", edits(noCall("c3")), nil, []string{"there was no task get about operation wf_1 at the moment restarted"}},
		variant{"nothing was started", edits(noCall("c1")), nil, []string{"no operation was started"}},
	)
}

// A refusal of a task that is there breaks the clause; no answer says nothing.
func TestTasksThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		end  ending
		say  variant
	}{
		{"refused", refused("", ""), variant{"", nil, finds(broken("WF-29", "an operation is not to be found as a task", "status c2 was answered ", "task get c3 was answered {\"isError\":true}")), nil}},
		{"no answer", unknown(), variant{"", nil, nil, []string{"task get c3 got no answer"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStory()
			p := params("operation_id", "wf_1", "moment", "converged")
			s.call("start", params("texts", `["one"]`), done("operation_id", "wf_1"))
			s.call("status", p, done("operation", "failed"))
			s.call("task get", p, c.end)
			s.call("task list", p, done("task", "failed", "states", list("failed")))
			s.call("status", p, done("operation", "failed"))
			s.call("task result", p, unknown())
			doubts := append(c.say.doubts, "task result c6 got no answer")
			expectRuling(t, TasksAgree(map[string]string{"converged": "failed"}), s.told(), c.say.finds, doubts)
		})
	}
}
