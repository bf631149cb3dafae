package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// linked tells of operation wf_1, whose checkpoint was replaced by a link.
func linked() history.History {
	s := newStory()
	of, file := params("operation_id", "wf_1"), params("file", "wf_1")
	place := row("kind", "link", "owner", 0, "content", "aa")
	s.call("start", params("texts", `["one"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	s.look("outside", "struck", params("text", "one"), row("came", 1, "passed", 0))
	s.mark("swapped", "operation_id", "wf_1", "what", "checkpoint", "how", "a link")
	s.look("swapped", "struck", of, place)
	for _, role := range []string{"status", "resume", "cancel"} { // c2, c3, c4
		s.call(role, and(of, "moment", "wronged"), refused("", "", "code", "store_refused"))
	}
	s.call("start", params("texts", `["two"]`, "moment", "wronged"), refused("", "", "code", "store_refused")) // c5
	s.look("reads", "wronged", file, row("read", false))
	s.look("swapped", "wronged", of, place)
	s.call("status", and(of, "moment", "mended"), done("operation_id", "wf_1", "operation", "interrupted")) // c6
	s.look("reads", "mended", file, row("read", true))
	s.look("outside", "converged", params("text", "one"), row("came", 1, "passed", 0))
	return s.told()
}

func TestSwapIsRefused(t *testing.T) {
	const thing = "a checkpoint that is a link"
	rules(t, SwapIsRefused, linked(),
		variant{"a status is answered", edits(ends("c2", done("operation", "interrupted"))),
			finds(broken("WF-28", thing+" is used", "status c2 was answered ", "expected a refusal")), nil},
		variant{"a start is taken", edits(ends("c5", done("operation_id", "wf_2", "operation", "running"))),
			finds(broken("WF-28", thing+" is used", "start c5 was answered ", "expected a refusal")), nil},
		variant{"no answer", edits(ends("c3", unknown())),
			finds(broken("WF-28", thing+" keeps a call from being answered", "resume c3 was answered no answer within 15s", "expected a refusal")), nil},
		variant{"the link is followed", edits(cell("reads", "wronged", 0, "read", true)),
			finds(broken("WF-28", "a link in the store is followed", "the checkpoint of operation wf_1 was read through it")), nil},
		variant{"another user's is read", edits(markData("swapped", "how", "another user's"), cell("reads", "wronged", 0, "read", true)), nil, nil},
		variant{"the link is replaced", edits(cell("swapped", "wronged", 0, "kind", "file")),
			finds(broken("WF-28", thing+" is changed", "its kind was link and is file")), nil},
		variant{"the owner is changed back", edits(markData("swapped", "how", "another user's"), cell("swapped", "struck", 0, "owner", 65534)),
			finds(broken("WF-28", "a checkpoint that is another user's is changed", "its owner was 65534 and is 0")), nil},
		variant{"a step goes out", edits(wire("one", "converged", 2, 1)),
			finds(broken("WF-28", "a step goes out by "+thing, `operation wf_1: 1 requests of step "one" had come, and 2 at the end`)), nil},
		variant{"it does not start", edits(noCall("c2", "c3", "c4", "c5"), marked("server-refused", "error", "exit code 1")), nil, nil},
		variant{"nobody asked", edits(noCall("c2", "c5")), nil, []string{"a server started on " + thing + " and was asked 2 times about operation wf_1, expected 3"}},
		variant{"nothing is there at the end", edits(ends("c6", refused("", "", "code", "unknown"))), nil,
			[]string{"operation wf_1 is not answered for once everything is put back, so that it is not known what was refused"}},
		variant{"reads are not seen", edits(cell("reads", "mended", 0, "read", false)), nil,
			[]string{"no read of the checkpoint of operation wf_1 is seen where it has to be read, so that nothing is seen when none is"}},
		variant{"nobody watched", edits(noLook("reads", "wronged")), nil,
			[]string{"it was not seen whether the checkpoint of operation wf_1 was read at the moment wronged"}},
		variant{"nobody looked", edits(noLook("swapped", "wronged")), nil, []string{"what was swapped was not seen before and behind the calls"}},
		variant{"nothing was swapped", edits(noMark("swapped")), nil, []string{"nothing was swapped"}},
	)
}
