package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// failedBehind tells of an operation whose first step was done and whose second was
// refused.
func failedBehind() history.History {
	s := newStory()
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	seen(s, "converged", [2]int{1, 1}, [2]int{1, 1}, []string{"one"}, "failed", "done", "failed")
	s.look("changes", "converged", nil, row("came", 2, "named", 2))
	return s.told()
}

func TestOnlyNamedCalls(t *testing.T) {
	const unnamed = "the outside service has applied what no definition names"
	rules(t, OnlyNamedCalls("failed"), failedBehind(),
		variant{"it is undone", edits(shows("effects", "converged", row("text", "one"), row("text", "withdrawn"))),
			finds(broken("WF-31", unnamed, `applied and in no definition: "withdrawn"`, "applied more than once: nothing")), nil},
		variant{"it is done again", edits(shows("effects", "converged", row("text", "one"), row("text", "one"))),
			finds(broken("WF-31", unnamed, "applied and in no definition: nothing", `applied more than once: "one"`)), nil},
		variant{"undoing it is refused", edits(shows("changes", "converged", row("came", 3, "named", 2))),
			finds(broken("WF-31", "requests went to the outside service that no definition names", "3 requests that change something came, and 2 of them carry the text of a step")), nil},
		variant{"it ended otherwise", edits(stored("wf_1", "converged", "completed")), nil,
			[]string{`operation wf_1 was to end as failed behind a step that was done; it is stored as map[state:completed steps:[done failed]], and the outside service has applied "one" 1 times`}},
		variant{"nothing was done", edits(shows("effects", "converged")), nil,
			[]string{`operation wf_1 was to end as failed behind a step that was done; it is stored as map[state:failed steps:[done failed]], and the outside service has applied "one" 0 times`}},
		variant{"nobody counted", edits(noLook("changes", "converged")), nil, []string{"the requests that change something were not counted at the moment converged"}},
		variant{"nothing was counted", edits(shows("changes", "converged", row("came", 0, "named", 0))), nil,
			[]string{"no request with the text of a step was counted, so that it is not known whether any would be"}},
	)
}
