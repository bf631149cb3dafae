package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// sayingNo is a refusal with an answer of its own.
func sayingNo(answer string) ending {
	return ending{Outcome: history.Refused, IsError: true, Answer: json.RawMessage(answer)}
}

func TestForeignIsUnknown(t *testing.T) {
	s := newStory()
	s.call("start", params("texts", `["a"]`), done("operation_id", "wf_1")) // c1
	s.look("checkpoint", "before running", params("operation_id", "wf_1"), row("state", "running"))
	for _, role := range []string{"status", "cancel"} { // c2, c3; c4, c5
		asks := params("moment", "running", "binding", "other_profile", "owned", "wf_1")
		s.call(role, and(asks, "about", "an operation", "operation_id", "wf_1"), sayingNo(`{"code":"unknown","id":"wf_1"}`))
		s.call(role, and(asks, "about", "none", "operation_id", "wf_9"), sayingNo(`{"code":"unknown","id":"wf_9"}`))
	}
	s.look("checkpoint", "after running", params("operation_id", "wf_1"), row("state", "running"))
	s.call("status", params("moment", "running", "operation_id", "wf_1"), done("operation", "running")) // c6
	const gives = "the answer under another binding gives away that an operation exists"
	rules(t, ForeignIsUnknown, s.told(),
		variant{"another code", edits(ends("c2", sayingNo(`{"code":"forbidden","id":"wf_1"}`))),
			finds(broken("WF-03", gives, "status under other_profile, running", `about the operation: {"code":"forbidden","id":"the ID"}`, `about one that never was: {"code":"unknown","id":"the ID"}`)), nil},
		variant{"another order", edits(ends("c4", sayingNo(`{"id":"wf_1","code":"unknown"}`))),
			finds(broken("WF-03", gives, "cancel under other_profile, running", `about the operation: {"id":"the ID","code":"unknown"}`, `about one that never was: {"code":"unknown","id":"the ID"}`)), nil},
		variant{"it is told", edits(ends("c2", done("operation", "running"))),
			finds(broken("WF-03", "another binding reaches an operation", "status under other_profile, running", "status c2 was answered ")), nil},
		variant{"it is cancelled and denied", edits(shows("checkpoint", "after running", row("state", "cancelled"))),
			finds(broken("WF-03", "a call under another binding changed an operation", "operation wf_1 (running) was stored as map[state:running]", "and is stored as map[state:cancelled] behind the calls")), nil},
		variant{"the owner is refused too", edits(ends("c6", sayingNo(`{"code":"unknown"}`))), nil,
			[]string{"its owner was not told how operation wf_1 stands (running), so that a refusal of others says nothing"}},
		variant{"no answer", edits(ends("c2", unknown())), nil, []string{"call c2 or its twin c3 got no answer"}},
		variant{"no twin", edits(noCall("c5")), nil, []string{"call c4 has no twin about an operation that never was"}},
		variant{"nobody asked", edits(noCall("c2", "c3", "c4", "c5")), nil, []string{"nobody asked under another binding"}},
	)
}
