package judge

import "testing"

func TestResultFirst(t *testing.T) {
	const summary = "the next step starts before the result of the last one is stored"
	second := "operation wf_1: the request of step 2 is on the wire"
	rules(t, ResultFirst, flow(),
		variant{"the result is kept in memory", edits(cell("checkpoint", "held", 0, "steps", list("in_flight", "in_flight"))),
			finds(broken("WF-13", summary, second, `its steps are stored as "in_flight", "in_flight"`)), nil},
		variant{"nothing is stored", edits(shows("checkpoint", "held")),
			finds(broken("WF-13", summary, second, "its steps are stored as nothing")), nil},
		variant{"the second goes first", edits(wire("one", "held", 0, 0)),
			finds(broken("WF-13", "a step goes out before the one in front of it", "operation wf_1: the request of step 2 is on the wire, and none of step 1 was")), nil},
		variant{"they take effect the other way round", edits(shows("effects", "converged", row("text", "two"), row("text", "one"))),
			finds(broken("WF-13", "steps do not take effect in the order of the definition", `operation wf_1 has the steps "one", "two"`, `applied were "two", "one"`)), nil},
		variant{"others write too", edits(shows("effects", "converged", row("text", "one"), row("text", "somebody's"), row("text", "two"))), nil, nil},
		variant{"not all took effect", edits(shows("effects", "converged", row("text", "one"))), nil,
			[]string{"of operation wf_1 1 of 2 steps took effect, so that their order cannot be told"}},
		variant{"nobody saw what is applied", edits(noLook("effects", "converged")), nil, []string{"what the outside service has applied was not seen at the moment converged"}},
		variant{"the first was held", edits(wire("one", "held", 1, 0)), nil,
			[]string{"the first step of operation wf_1 was held, so that there is no result in front of it"}},
		variant{"no request was held", edits(wire("two", "held", 1, 1)), nil, []string{"no request of operation wf_1 was held"}},
		variant{"nobody saw the store", edits(noLook("checkpoint", "held")), nil, []string{"the checkpoint of operation wf_1 was not seen at the moment held"}},
	)
}
