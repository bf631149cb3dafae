package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// cancelledWrites is DU-11: a write, one that is cancelled, and one behind it.
func cancelledWrites() history.History {
	s := newStory()
	readsAtFirst(s)
	s.call("write", value("value-001 ~aaaa"), done())    // c1
	s.call("write", value("value-002 ~bbbb"), unknown()) // c2
	s.mark("cancelled", "call", "c2")
	s.call("write", value("value-003 ~cccc", "after", "cancel"), done())                                                // c3
	s.callOn("helper.2", "read", params("moment", "final"), done("values", list("value-001 ~aaaa", "value-003 ~cccc"))) // c4
	return s.told()
}

func TestCancelledWhole(t *testing.T) {
	shows := func(values ...string) edit { return field("c4", "values", list(values...)) }
	rules(t, CancelledWhole, cancelledWrites(),
		variant{"the cancelled one is there", edits(shows("value-001 ~aaaa", "value-002 ~bbbb", "value-003 ~cccc")), nil, nil},
		variant{"it was refused and is absent", edits(ends("c2", refused("", ""))), nil, nil},
		variant{"it is there twice", edits(shows("value-001 ~aaaa", "value-002 ~bbbb", "value-002 ~bbbb", "value-003 ~cccc")),
			finds(broken("DU-11", "1 of 1 cancelled write is there more than once", `"value-002 ~bbbb": 2 times`)), nil},
		variant{"it is there in part", edits(shows("value-001 ~aaaa", "value-002 ~b", "value-003 ~cccc")),
			finds(broken("DU-11", "1 of 1 cancelled write is there in part", `written: "value-002 ~bbbb", read back: "value-002 ~b"`)), nil},
		variant{"it was acknowledged and is gone", edits(ends("c2", done())),
			finds(broken("DU-11", "1 of 3 acknowledged writes is gone behind a cancelled call", `"value-002 ~bbbb"`)), nil},
		variant{"an earlier one is gone", edits(shows("value-003 ~cccc")),
			finds(broken("DU-11", "1 of 2 acknowledged writes is gone behind a cancelled call", `"value-001 ~aaaa"`)), nil},
		variant{"the server answers nobody", edits(ends("c3", unknown()), shows("value-001 ~aaaa")),
			finds(broken("DU-11", "behind a cancelled call the server is not usable: 1 of 1 write refused or not answered", "write c3: unknown; answer: no answer within 15s")), nil},
		variant{"the store cannot be read", edits(ends("c4", refused("", ""))),
			finds(broken("DU-11", "behind a cancelled call the store cannot be read", "call c4: refused: refused: ")), nil},
		variant{"nothing was cancelled", edits(removed("mark", func(e history.Event) bool { return e.Kind == history.KindMark })), nil, []string{"no call was cancelled"}},
		variant{"nothing was read", edits(noCall("c4")), nil, []string{"behind the cancelled call nothing was written, or nothing was read at the end"}},
		variant{"nothing was written behind it", edits(noCall("c3")), nil, []string{"behind the cancelled call nothing was written, or nothing was read at the end"}},
	)
}
