package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

func privately() history.History {
	s := newStory()
	s.mark("umask", "process", "workflows.1", "wanted", "0000", "is", "0000")
	s.call("start", params("texts", `["one"]`), done("operation_id", "wf_1"))
	for _, when := range []string{"held", "struck", "converged"} {
		s.look("store-modes", when, nil,
			row("file", "store", "kind", "folder", "mode", "0700"),
			row("file", "store/wf_1.json", "kind", "file", "mode", "0600"),
			row("file", "store/odd", "kind", "link", "mode", "0777"))
	}
	return s.told()
}

func TestStoreIsPrivate(t *testing.T) {
	const summary = "the store of operations is not its user's alone"
	rules(t, StoreIsPrivate, privately(),
		variant{"a file is open to others", edits(cell("store-modes", "held", 1, "mode", "0644")),
			finds(broken("WF-09", summary, "at the moment held the file store/wf_1.json has the mode 0644, expected 0600")), nil},
		variant{"the folder is open behind a kill", edits(cell("store-modes", "struck", 0, "mode", "0755")),
			finds(broken("WF-09", summary, "at the moment struck the folder store has the mode 0755, expected 0700")), nil},
		variant{"a file cannot be written by its user", edits(cell("store-modes", "converged", 1, "mode", "0400")),
			finds(broken("WF-09", summary, "at the moment converged the file store/wf_1.json has the mode 0400, expected 0600")), nil},
		variant{"nobody looked", edits(noLook("store-modes", "struck")), nil, []string{"the modes in the store were not seen at the moment struck"}},
		variant{"nothing is there", edits(shows("store-modes", "held")), nil,
			[]string{"the store had no folder with files at the moment held; does the target file's store name it?"}},
		variant{"another umask", edits(markData("umask", "is", "0022")), nil, []string{`the server was to run under the umask 0000 and ran under "0022"`}},
		variant{"no umask", edits(noMark("umask")), nil, []string{"it is not known under which umask the server ran"}},
		variant{"nothing was started", edits(noCall("c1")), nil, []string{"no operation was started"}},
	)
}
