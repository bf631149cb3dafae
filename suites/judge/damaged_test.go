package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// hurt tells of operation wf_1, killed in its first step, whose checkpoint was
// damaged, and of wf_2 that nothing was done to.
func hurt() history.History {
	s := newStory()
	s.call("start", params("texts", `["two"]`), done("operation_id", "wf_2", "operation", "running")) // c1
	s.call("start", params("texts", `["one"]`), done("operation_id", "wf_1", "operation", "running")) // c2
	s.look("outside", "struck", params("text", "one"), row("came", 1, "passed", 0))
	s.mark("damaged", "operation_id", "wf_1", "how", "empty", "was", "aa", "is", "bb")
	wronged := func(role, id string, e ending) { s.call(role, params("operation_id", id, "moment", "wronged"), e) }
	wronged("status", "wf_x", refused("", "", "code", "unknown")) // c3
	wronged("status", "wf_1", refused("", "", "code", "corrupt")) // c4
	wronged("resume", "wf_1", refused("", "", "code", "corrupt")) // c5
	wronged("cancel", "wf_1", refused("", "", "code", "corrupt")) // c6
	s.look("checkpoint-file", "wronged", params("operation_id", "wf_1"), row("kind", "file", "size", 3, "sha256", "bb"))
	wronged("status", "wf_2", done("operation_id", "wf_2", "operation", "completed")) // c7
	s.look("outside", "converged", params("text", "one"), row("came", 1, "passed", 0))
	s.look("checkpoint", "converged", params("operation_id", "wf_2"), row("state", "completed", "steps", list("done")))
	return s.told()
}

func TestDamageIsTold(t *testing.T) {
	const affected = "the damaged checkpoint of one operation affects another"
	const kept = "a damaged checkpoint is not kept as it is"
	const refusal = ` was answered {"isError":true}`
	rules(t, DamageIsTold, hurt(),
		variant{"it is resumed", edits(ends("c5", done("operation_id", "wf_1", "operation", "running"))),
			finds(broken("WF-25", "a damaged checkpoint is taken for a whole one", "resume c5 was answered ", "expected a refusal")), nil},
		variant{"the server says nothing", edits(ends("c4", unknown())),
			finds(broken("WF-25", "a call about an operation with a damaged checkpoint is not answered", "status c4 was answered no answer within 15s")), nil},
		variant{"it is told as unknown", edits(field("c6", "code", "unknown")),
			finds(broken("WF-25", "a damaged checkpoint is told as an operation that is not there", "cancel c6"+refusal, `an operation that never was is refused with "unknown" as well`)), nil},
		variant{"no code", edits(noField("c4", "code")), nil, []string{"the refusal of status c4 has no code; does the target file map it?"}},
		variant{"no status was asked for", edits(noCall("c4")), nil, []string{"status of the operation with a damaged checkpoint was not asked for"}},
		variant{"nobody asked for a strange one", edits(noCall("c3")), nil,
			[]string{"no status of an operation that is not there was refused with a code, so that it cannot be told from the error of a damaged one"}},
		variant{"the file is gone", edits(shows("checkpoint-file", "wronged")), finds(broken("WF-25", kept, "the file of operation wf_1 is gone")), nil},
		variant{"the file is mended", edits(cell("checkpoint-file", "wronged", 0, "sha256", "aa")),
			finds(broken("WF-25", kept, "the file of operation wf_1 holds something else, in 3 bytes")), nil},
		variant{"nobody saw the file", edits(noLook("checkpoint-file", "wronged")), nil, []string{"the file of operation wf_1 was not seen at the moment wronged"}},
		variant{"its step goes out", edits(wire("one", "converged", 2, 1)),
			finds(broken("WF-25", "a step of an operation with a damaged checkpoint goes out", `operation wf_1: 1 requests of step "one" had come, and 2 at the end`)), nil},
		variant{"another is refused", edits(ends("c7", refused("", "", "code", "corrupt"))), finds(broken("WF-25", affected, "status c7"+refusal, "expected completed")), nil},
		variant{"another does not end", edits(cell("checkpoint", "converged", 0, "state", "running")),
			finds(broken("WF-25", affected, "operation wf_2 is stored as map[state:running steps:[done]], expected completed")), nil},
		variant{"nothing was damaged", edits(markData("damaged", "is", "aa")), nil,
			[]string{"the checkpoint of operation wf_1 was to be damaged (empty) and is as it was"}},
		variant{"no damage", edits(noMark("damaged")), nil, []string{"no checkpoint was damaged"}},
		variant{"of nobody", edits(markData("damaged", "operation_id", "wf_9"), noCall("c2", "c1")), nil, []string{"no operation was started"}},
	)
}
