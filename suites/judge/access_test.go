package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// withoutAccess is WR-39: a reader's note (c1) and read (c2), and the same note
// by a caller with the access (c3).
func withoutAccess() history.History {
	s := newStory()
	s.look("tools", "", nil, row("name", "work_note", "access", "write"), row("name", "work_get", "access", "read"), row("name", "work_other", "access", ""))
	atRest(s, 1)
	s.callOn("helper.2", "note", params("by", "reader"), refused("permanent", "access_missing"))
	atRest(s, 1)
	s.callOn("helper.2", "get", params("by", "reader"), done())
	atRest(s, 1)
	s.call("note", params("key", "k"), done())
	atRest(s, 2)
	return s.told()
}

func TestAccessEnforced(t *testing.T) {
	call := "call c1 (work_note)"
	two := []map[string]any{row("seq", 1, "item_id", "i1"), row("seq", 2, "item_id", "i1")}
	rules(t, AccessEnforced, withoutAccess(),
		variant{"a reader writes", edits(ends("c1", done("state", "queued"))),
			finds(broken("WR-39", "a caller that may only read was not refused", call, "answer: ")), nil},
		variant{"a reader is refused and it is stored", edits(restRows("intents", 2, two...)),
			finds(broken("WR-39", "a call without the access for it left something in the store", call, "intents before 1 row, after 2 rows")), nil},
		variant{"a tool declares nothing", edits(cell("tools", "", 0, "access", "")),
			finds(broken("WR-39", "tools do not declare the access that they need", `"work_note"`)), nil},
		variant{"the reader cannot read", edits(ends("c2", refused("permanent", "access_missing"))), nil,
			[]string{"the caller that may only read could not even read, so that a refusal may have another cause"}},
		variant{"nobody may write", edits(ends("c3", refused("permanent", "access_missing"))), nil, []string{
			"no valid call of work_note was acknowledged, so that a refusal may have another cause",
			"no acknowledged call was seen to store anything, so that nothing would have been seen of a refused one"}},
		variant{"the refusal never came", edits(ends("c1", unknown())), nil,
			[]string{"call c1 (work_note) got no answer, so that it is not known to be refused"}},
		variant{"no reader tried to write", edits(noCall("c1")), nil, []string{"no call was made by a caller that may only read"}},
		variant{"the tools were not seen", edits(noLook("tools", "")), nil, []string{"it was not seen what the tools declare"}},
	)
}

// onlyReads is WR-39: two reads between looks at the stores, and a write behind them.
func onlyReads() history.History {
	s := newStory()
	at := func(when, sidecar, library string) {
		s.look("stores", when, nil, row("store", "sidecar", "file", "sidecar.db", "digest", sidecar), row("store", "library", "file", "library/library.db", "digest", library))
	}
	at("unread", "s1", "l1")
	s.call("get", and(item("i1"), "moment", "read"), done())                              // c1
	s.call("get", and(item("none"), "moment", "read"), refused("permanent", "no_such_i")) // c2
	at("read", "s1", "l1")
	s.call("note", params("key", "k"), done()) // c3
	at("written", "s2", "l2")
	return s.told()
}

func TestReadsChangeNothing(t *testing.T) {
	changed := func(name, fact string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-39", "a tool that only reads changed a store", fact)), nil}
	}
	rules(t, ReadsChangeNothing, onlyReads(),
		changed("a read changes the sidecar", "sidecar: sidecar.db", cell("stores", "read", 0, "digest", "s9")),
		changed("a read changes the library", "library: library/library.db", cell("stores", "read", 1, "digest", "l9")),
		changed("a read makes a file", "sidecar: sidecar.seen", addRows("stores", "read", row("store", "sidecar", "file", "sidecar.seen", "digest", "x"))),
		changed("a read removes a file", "library: library/library.db is gone", noRow("stores", "read", 1)),
		variant{"the write changed the sidecar alone", edits(cell("stores", "written", 1, "digest", "l1")), nil,
			[]string{"a write was not seen to change the library, so that a change by a read would not have been seen either"}},
		variant{"nothing was read", edits(noCall("c1")), nil, []string{"nothing was read between the looks"}},
		variant{"a read got no answer", edits(ends("c2", unknown())), nil, []string{"call c2 (get) got no answer, so that it may have been no read"}},
		variant{"the stores were not seen", edits(noLook("stores", "read")), nil, []string{"the files of the stores were not seen both before and behind the reads"}},
		variant{"a look failed", edits(lookFails("stores", "unread")), nil, []string{"the files of the stores were not seen both before and behind the reads"}},
	)
}
