package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// pairs makes a call with a read before and after it; the reads are the calls
// before and after its own number.
func pairs(s *story, role, word string, p map[string]string, e ending, before, after []any) string {
	s.call("read", params("pair", word, "moment", "before"), done("values", before))
	id := s.call(role, and(p, "pair", word), e)
	s.call("read", params("pair", word, "moment", "after"), done("values", after))
	return id
}

// refusals is DU-20: one valid write (c2) and one invalid call (c5).
func refusals() history.History {
	s := newStory()
	pairs(s, "write", "p1", value("v1"), done(), list("v0"), list("v0", "v1"))
	pairs(s, "invalid", "p2", params("violation", "text is missing"), refused("permanent", "invalid"), list("v0", "v1"), list("v1", "v0"))
	return s.told()
}

func TestErrorChangedNothing(t *testing.T) {
	const noControl = "no valid write was seen to change what is read, so that a change would not have been noticed"
	const none = "no invalid call was answered with an error"
	call := `call: work_invalid {"violation":"text is missing"}`
	changed := func(after string) variant {
		return variant{finds: finds(broken("DU-20", "a call that was answered with an error changed the state",
			call, `its answer: {"isError":true}`, `before: "v0", "v1"`, "after: "+after))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	bare := each("c5", isCall("c5", history.Invoked), func(e *history.Event) { e.Call.Arguments = json.RawMessage(`{"violation":"text is missing"}`) })
	rules(t, ErrorChangedNothing, with(refusals(), bare),
		named(changed(`"v0", "v1", ""`), "it wrote something", field("c6", "values", list("v0", "v1", ""))),
		named(changed(`"v0"`), "it took something away", field("c6", "values", list("v0"))),
		named(changed(`"v0", "v1", "v1"`), "it repeated something", field("c6", "values", list("v0", "v1", "v1"))),
		named(changed("nothing"), "it emptied the store", field("c6", "values", list())),
		variant{"the state cannot be read then", edits(ends("c6", ending{Outcome: history.Refused, Reason: "cannot parse"})),
			finds(broken("DU-20", "after a call that was answered with an error the state cannot be read",
				`call: {"violation":"text is missing"}`, `its answer: {"isError":true}`, "the read then: refused: cannot parse")), nil},
		variant{"it was accepted", edits(ends("c5", done())), nil, []string{none}},
		variant{"it got no answer", edits(ends("c5", unknown())), nil, []string{"call c5 got no answer, so that it is not known to be an error", none}},
		variant{"it never returned", edits(neverReturned("c5")), nil, []string{"call c5 got no answer, so that it is not known to be an error", none}},
		variant{"it was not made", edits(noCall("c5")), nil, []string{none}},
		variant{"nothing was read before", edits(noCall("c4")), nil, []string{"the state was not read before call c5", none}},
		variant{"the read before failed", edits(ends("c4", refused("", ""))), nil, []string{"the state was not read before call c5", none}},
		variant{"nothing was read after", edits(noCall("c6")), nil, []string{"the state was not read after call c5", none}},
		variant{"the read after never came back", edits(neverReturned("c6")), nil, []string{"the state was not read after call c5", none}},
		variant{"the read before overlaps it", edits(endedLate("c4")), nil, []string{"the state was not read before call c5", none}},
		variant{"the reads belong to another call", edits(param("c4", "pair", "p9"), param("c6", "pair", "p9")), nil, []string{"the state was not read before call c5", none}},
		variant{"the reads belong to no call", edits(param("c4", "pair", ""), param("c5", "pair", ""), param("c6", "pair", "")), nil,
			[]string{"the state was not read before call c5", none}},
		variant{"the valid write changed nothing that is read", edits(field("c3", "values", list("v0"))), nil, []string{noControl}},
		variant{"the valid write changed only the order", edits(field("c1", "values", list("v1", "v0"))), nil, []string{noControl}},
		variant{"no valid write was made", edits(noCall("c2")), nil, []string{noControl}},
		variant{"the valid write was refused", edits(ends("c2", refused("", ""))), nil, []string{noControl}},
		variant{"an earlier write of unknown outcome may still come", edits(ends("c2", unknown()), field("c6", "values", list("v0", "v1", "v1"))), nil,
			[]string{"another write was on its way around call c5, so that a change could be its own", none, noControl}},
		variant{"an overlapping write may have come", edits(endedLate("c2"), field("c6", "values", list("v0", "v1", "v2"))), nil,
			[]string{"another write was on its way around call c5, so that a change could be its own", none, noControl}},
	)
}

// readsBack is DU-21: three writes, one of them refused.
func readsBack() history.History {
	s := newStory()
	pairs(s, "write", "p1", value("v1"), done(), list(), list("v1"))                                        // c1 c2 c3
	pairs(s, "write", "p2", value("awkward"), refused("permanent", "no_such_text"), list("v1"), list("v1")) // c4 c5 c6
	pairs(s, "write", "p3", value("v10"), done(), list("v1"), list("v10", "v1"))                            // c7 c8 c9
	return s.told()
}

func TestReadBack(t *testing.T) {
	rules(t, ReadBack, readsBack(),
		variant{"it cannot be read back", edits(field("c9", "values", list("v1"))),
			finds(broken("DU-21", "an acknowledged write cannot be read back at once", `written: "v10"`, "read back: 1 value, none of them it")), nil},
		variant{"a longer value is not it", edits(field("c3", "values", list("v10"))),
			finds(broken("DU-21", "an acknowledged write cannot be read back at once", `written: "v1"`, "read back: 1 value, none of them it")), nil},
		variant{"it can be read back cut", edits(field("c9", "values", list("v1", "v"))),
			finds(broken("DU-21", "an acknowledged write cannot be read back at once", `written: "v10"`, "read back: 2 values, none of them it")), nil},
		variant{"a later write wipes out the earlier one", edits(field("c9", "values", list("v10"))),
			finds(broken("DU-21", "acknowledged writes are gone after a later one", `lost: "v1"`, `after the write of "v10"`, "read back by call c9: 1 value")), nil},
		variant{"input that was accepted breaks the read", edits(ends("c9", ending{Outcome: history.Refused, Reason: "cannot parse"})),
			finds(broken("DU-21", "input that was accepted breaks the next read", `accepted: "v10"`, "the read then: refused: cannot parse", "its answer: cannot parse")), nil},
		variant{"input that was refused breaks the read", edits(ends("c6", ending{Outcome: history.Refused, Reason: "cannot parse"})),
			finds(broken("DU-20", "input that was refused breaks the next read", `refused: "awkward"`, "the read then: refused: cannot parse", "its answer: cannot parse")), nil},
		variant{"a read gets no answer", edits(ends("c9", unknown())),
			finds(broken("DU-21", "input that was accepted breaks the next read", `accepted: "v10"`, "the read then: unknown: no answer within 15s", "its answer: no answer within 15s")), nil},
		variant{"a write gets no answer", edits(ends("c8", unknown())), nil, []string{`call c8 (write of "v10") got no answer although no fault was placed`}},
		variant{"a write never returns", edits(neverReturned("c8")), nil, []string{`call c8 (write of "v10") got no answer although no fault was placed`}},
		variant{"nothing was read after one", edits(noCall("c9")), nil, []string{"nothing was read after call c8"}},
		variant{"the read after one overlaps it", edits(endedLate("c8")), nil, []string{"nothing was read after call c8"}},
		variant{"the read after one shows no values", edits(noField("c9", "values")), nil, []string{"nothing was read after call c8"}},
		variant{"none was acknowledged", edits(ends("c2", refused("", "")), ends("c8", refused("", ""))), nil, []string{"no write was acknowledged"}},
		variant{"nothing was written", edits(noCall("c2", "c5", "c8")), nil, []string{"no write was acknowledged"}},
	)
}
