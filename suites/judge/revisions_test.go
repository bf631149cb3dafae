package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

func TestEveryRevision(t *testing.T) {
	s := newStory()
	s.mark("revision", "revision", "old", "spoken", false, "why", "the server wants new")
	s.mark("revision", "revision", "new", "spoken", true, "why", "")
	at := params("revision", "new")
	s.call("start", and(at, "texts", `["a"]`, "end", "resumed"), done("operation_id", "wf_1"))   // c1
	s.call("resume", and(at, "operation_id", "wf_1"), done("operation", "running"))              // c2
	s.call("status", and(at, "operation_id", "wf_1"), done("operation", "completed"))            // c3
	s.call("start", and(at, "texts", `["b"]`, "end", "cancelled"), done("operation_id", "wf_2")) // c4
	s.call("cancel", and(at, "operation_id", "wf_2"), done("operation", "running"))              // c5
	s.look("checkpoint", "converged", params("operation_id", "wf_1"), row("state", "completed"))
	s.look("checkpoint", "converged", params("operation_id", "wf_2"), row("state", "cancelled"))
	task := ending{Outcome: history.Unknown, Reason: "the answer is a task and no result", Answer: json.RawMessage(`{}`)}
	rules(t, EveryRevision, s.told(),
		variant{"cancel is refused", edits(ends("c5", refused("", "no"))),
			finds(broken("WF-32", "cancel does not work at a revision that the server speaks", "revision new", `cancel c5 was answered {"isError":true}`)), nil},
		variant{"a task", edits(ends("c2", task)),
			finds(broken("WF-32", "resume is answered with no result although nobody asked for Tasks", "revision new", "the answer is a task and no result")), nil},
		variant{"a resume does nothing", edits(ofOperation("wf_1", "state", "interrupted")),
			finds(broken("WF-32", "an operation that was resumed is not what comes of that", "revision new", "operation wf_1 is stored as map[state:interrupted]")), nil},
		variant{"a cancel does nothing", edits(ofOperation("wf_2", "state", "completed")),
			finds(broken("WF-32", "an operation that was cancelled is not what comes of that", "revision new", "operation wf_2 is stored as map[state:completed]")), nil},
		variant{"no answer", edits(ends("c3", unknown())), nil, []string{"status got no answer at revision new"}},
		variant{"no cancel", edits(noCall("c5")), nil, []string{"cancel was not called at revision new"}},
		variant{"no revision", edits(markData("revision", "spoken", false)), nil, []string{"the server speaks none of the revisions that were tried"}},
	)
}
