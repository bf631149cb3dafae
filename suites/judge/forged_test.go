package judge

import (
	"fmt"
	"testing"
)

func TestForgedRefused(t *testing.T) {
	s := newStory()
	s.call("start", params("texts", `["a"]`), done("operation_id", "wf_1")) // c1
	s.mark("decoys", "files", list("decoys/wf_1.json", "flows/wf_1.json"))
	s.look("names", "before", nil, row("file", "policy"), row("file", "decoys/wf_1.json"))
	for _, role := range []string{"status", "resume", "cancel"} { // c2 to c121
		for i := range 40 {
			s.call(role, params("operation_id", fmt.Sprintf("../%d", i), "forged", fmt.Sprintf("form %d", i)), refused("", "unknown"))
		}
	}
	s.look("operations-openings", "forged", nil, row("file", "policy"))
	s.look("names", "after", nil, row("file", "policy"), row("file", "decoys/wf_1.json"))
	s.look("operations-openings", "legal", nil, row("file", "flows/store/wf_1.json"))
	s.look("operations-openings", "control", nil, row("file", "decoys/wf_1.json"))
	rules(t, ForgedRefused, s.told(),
		variant{"one is accepted", edits(ends("c3", done("operation", "completed"))),
			finds(broken("WF-24", "a forged reference is accepted", `status with form 1: "../1"`, "status c3 was answered ")), nil},
		variant{"one leads astray", edits(rowsLater("operations-openings", "forged", row("file", "flows/wf_1.json"))),
			finds(broken("WF-24", "a forged reference led to a file outside the store", `opened: "flows/wf_1.json"`)), nil},
		variant{"one makes a file", edits(rowsLater("names", "after", row("file", "wf_1.cancel"))),
			finds(broken("WF-24", "a forged reference made a file outside the store", `made: "wf_1.cancel"`)), nil},
		variant{"one is not answered", edits(ends("c43", unknown())), nil, []string{"resume with a forged reference (form 1) got no answer"}},
		variant{"one was not tried", edits(noCall("c121")), nil, []string{"cancel was tried with 39 forged references, at least 40 are needed"}},
		variant{"no legal path was seen", edits(shows("operations-openings", "legal", row("file", "decoys/wf_1.json"))), nil,
			[]string{"the checkpoint was not seen to be opened under its own reference, so that nothing follows from what was not seen"}},
		variant{"no decoy is ever seen", edits(shows("operations-openings", "control")), nil, []string{"a decoy that was opened on purpose was not seen to be opened"}},
		variant{"no decoy", edits(noMark("decoys")), nil, []string{"no decoy was put down", "a decoy that was opened on purpose was not seen to be opened"}},
		variant{"nobody watched", edits(noLook("operations-openings", "forged")), nil, []string{"which files were opened was not seen at the moment forged"}},
		variant{"nobody looked at the names", edits(lookFails("names", "after")), nil, []string{"the files outside the store were not seen before and after"}},
	)
}
