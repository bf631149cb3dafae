package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// contended tells of operation wf_1, killed in its step, resumed by two servers at
// once, and by the second again when the first was killed.
func contended() history.History {
	s := newStory()
	asked := func(session, moment string, e ending) {
		s.callOn(session, "resume", params("operation_id", "wf_1", "moment", moment), e)
	}
	s.call("start", params("texts", `["one"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	s.look("outside", "struck", params("text", "one"), row("came", 1, "passed", 0))
	asked("server.2", "raced", done("operation", "running"))    // c2
	asked("server.3", "raced", refused("", "", "code", "busy")) // c3
	asked("server.3", "held", refused("", "", "code", "busy"))  // c4
	s.look("outside", "held", params("text", "one"), row("came", 2, "passed", 0))
	asked("server.3", "resumed", done("operation", "running")) // c5
	s.look("effects", "converged", nil, row("text", "one"))
	return s.told()
}

func TestOneOfTwoActs(t *testing.T) {
	const refusal = ` was answered {"isError":true}`
	rules(t, OneOfTwoActs, contended(),
		variant{"both act", edits(ends("c3", done("operation", "running"))),
			finds(broken("WF-11", "two servers resume one operation at once and both act", "resume c2 was answered ", "resume c3 was answered ")), nil},
		variant{"neither acts", edits(ends("c2", refused("", "", "code", "busy"))),
			finds(broken("WF-11", "of two servers that resume one operation at once neither acts", "resume c2"+refusal, "resume c3"+refusal)), nil},
		variant{"the step goes out twice", edits(wire("one", "held", 3, 0)),
			finds(broken("WF-11", "a step goes out more than once although one lock is to keep others from it", `operation wf_1: 2 requests of step "one" came behind the resumes`)), nil},
		variant{"one is not answered", edits(ends("c3", unknown())), nil, []string{"resume c3 was not answered, so that it is not known who acts"}},
		variant{"one resume alone", edits(noCall("c3")), nil, []string{"operation wf_1 was resumed 1 times at once, expected 2"}},
		variant{"nobody counted", edits(noWire("held")), nil, []string{"the requests to the outside service were not counted at the moment held"}},
	)
}

func TestBusyWhileHeld(t *testing.T) {
	rules(t, BusyWhileHeld, with(contended(), wire("one", "held", 1, 0)),
		variant{"it acts", edits(ends("c4", done("operation", "running"))),
			finds(broken("WF-11", "a server resumes an operation that another one runs", "resume c4 was answered ", "expected a refusal")), nil},
		variant{"the step goes out twice", edits(wire("one", "held", 2, 0)),
			finds(broken("WF-11", "a step goes out more than once although one lock is to keep others from it", `operation wf_1: 2 requests of step "one" came while it was held`)), nil},
		variant{"no answer", edits(ends("c4", unknown())), nil, []string{"resume c4 was not answered, so that it is not known whether it acts"}},
		variant{"nobody asked", edits(noCall("c4")), nil, []string{"operation wf_1 was not resumed while another server ran it"}},
	)
}

func TestKilledHolderFrees(t *testing.T) {
	rules(t, KilledHolderFrees, contended(),
		variant{"still busy", edits(ends("c5", refused("", "", "code", "busy"))),
			finds(broken("WF-11", "the lock of a killed holder is not free", `resume c5 was answered {"isError":true}`)), nil},
		variant{"twice in effect", edits(rowsLater("effects", "converged", row("text", "one"))),
			finds(broken("WF-11", "a step takes effect more than once although one lock is to keep others from it", `the outside service has applied "one" 2 times`)), nil},
		variant{"no answer", edits(ends("c5", unknown())), nil, []string{"resume c5 was not answered, so that it is not known whether the lock is free"}},
		variant{"nobody asked", edits(noCall("c5")), nil, []string{"operation wf_1 was not resumed behind the kill of its holder"}},
		variant{"nobody saw the effects", edits(noLook("effects", "converged")), nil, []string{"what the outside service has applied was not seen at the moment converged"}},
	)
}
