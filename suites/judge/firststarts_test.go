package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// firstStarts is DU-18: a round in which both write, and one in which one refuses.
func firstStarts() history.History {
	s := newStory()
	s.mark("first-starts", "round", "1", "held", 2, "came", 2)
	s.call("write", value("a", "round", "1"), done())                                                          // c1
	s.callOn("helper.2", "write", value("b", "round", "1"), done())                                            // c2
	s.callOn("helper.3", "write", value("c", "round", "1", "moment", "later"), done())                         // c3
	s.callOn("helper.3", "read", params("moment", "final", "round", "1"), done("values", list("a", "b", "c"))) // c4
	s.mark("first-starts", "round", "2", "held", 2, "came", 1)
	s.call("write", value("d", "round", "2"), done())                                       // c5
	s.call("write", value("e", "round", "2", "moment", "later"), done())                    // c6
	s.call("read", params("moment", "final", "round", "2"), done("values", list("d", "e"))) // c7
	return s.told()
}

func TestFirstStartsLeaveAStore(t *testing.T) {
	spoilt := func(fact string) variant {
		return variant{finds: finds(broken("DU-18", "two first starts spoilt the store in 1 of 2 rounds", fact))}
	}
	const lost = "of writes at once through two servers that were started on no store acknowledged ones are lost, in 1 of 2 rounds; the store can be used"
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, FirstStartsLeaveAStore(2), firstStarts(),
		variant{"one is lost", edits(field("c4", "values", list("b", "c"))),
			finds(broken("DU-18", lost, `round 1 (2 of 2 shook hands): 2 of 3 acknowledged writes survived; lost: "a"`)), nil},
		variant{"one of the two is refused", edits(ends("c2", refused("", "busy")), field("c4", "values", list("a", "c"))), nil, nil},
		named(spoilt("round 1 (2 of 2 shook hands): neither of the two servers could write"), "both are refused", ends("c1", refused("", "")), ends("c2", refused("", ""))),
		named(spoilt("round 2 (1 of 2 shook hands): a later server does not start"), "the later one does not start", noCall("c6", "c7")),
		named(spoilt(`round 2 (1 of 2 shook hands): a later server cannot write: call c6: {"isError":true}`), "the later one cannot write", ends("c6", refused("", ""))),
		named(spoilt("round 2 (1 of 2 shook hands): a later server cannot read: call c7: refused: refused: malformed"), "the later one cannot read", ends("c7", refused("", "malformed"))),
		variant{"one write gets no answer", edits(ends("c2", unknown()), field("c4", "values", list("a", "c"))), nil, nil},
		variant{"no write gets an answer", edits(ends("c1", unknown()), ends("c2", unknown())), nil,
			[]string{"in round 1 no write was acknowledged, and 2 writes got no answer"}},
		variant{"nothing is read", edits(noCall("c7")), nil, []string{"in round 2 nothing was read by a later server"}},
	)
	expectRuling(t, FirstStartsLeaveAStore(3), firstStarts(), nil, []string{"3 rounds of two first starts were needed, 2 were made"})
}
