package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// flow tells of an operation wf_1 with the steps "one" and "two", of which the
// second is held on the wire, and what is seen then and at the end.
func flow() history.History {
	s := newStory()
	s.fault("f1", "outside-held", history.Fault{Stage: history.Armed})
	s.call("start", params("texts", `["one","two"]`), done("operation_id", "wf_1", "operation", "running")) // c1
	seen(s, "held", [2]int{1, 1}, [2]int{1, 0}, []string{"one"}, "running", "done", "in_flight")
	s.fault("f1", "outside-held", history.Fault{Stage: history.Healed})
	seen(s, "converged", [2]int{1, 1}, [2]int{1, 1}, []string{"one", "two"}, "completed", "done", "done")
	return s.told()
}

// seen are the looks of a moment: how many requests of each step came and passed,
// what is in effect, and the checkpoint.
func seen(s *story, when string, one, two [2]int, effects []string, state string, steps ...string) {
	s.look("checkpoint", when, params("operation_id", "wf_1"), row("state", state, "steps", list(steps...)))
	rows := []map[string]any{}
	for _, text := range effects {
		rows = append(rows, row("text", text))
	}
	s.look("effects", when, nil, rows...)
	s.look("outside", when, params("text", "one"), row("came", one[0], "passed", one[1]))
	s.look("outside", when, params("text", "two"), row("came", two[0], "passed", two[1]))
}

// wire changes what was counted of a step at a moment.
func wire(text, when string, came, passed int) edit {
	return each("the outside wire", func(e history.Event) bool {
		return e.Look != nil && e.Look.Probe == "outside" && e.Look.When == when && e.Look.Params["text"] == text
	}, func(e *history.Event) { e.Look.Rows = []map[string]any{row("came", came, "passed", passed)} })
}

func noWire(when string) edit { return noLook("outside", when) }

// firstHeld is flow with its first step held.
func firstHeld() history.History {
	return with(flow(), shows("effects", "held"), wire("one", "held", 1, 0), wire("two", "held", 0, 0), cell("checkpoint", "held", 0, "steps", list("in_flight", "pending")))
}

func TestStartAnswersFirst(t *testing.T) {
	answer := `start c1 was answered `
	rules(t, StartAnswersFirst, firstHeld(),
		variant{"nothing is stored", edits(shows("checkpoint", "held")),
			finds(broken("WF-01", "a start was acknowledged and no checkpoint is stored", answer, "the store has no checkpoint of operation wf_1")), nil},
		variant{"the answer comes behind the step", edits(endedLate("c1")),
			finds(broken("WF-01", "a start is answered only after its first step has finished", answer, "its first step was let go before that")), nil},
		variant{"the first step was not held", edits(shows("effects", "held", row("text", "one")), wire("one", "held", 1, 1)), nil,
			[]string{`the first step of operation wf_1 had gone out when it was to be held (the outside service has applied "one" 1 times)`}},
		variant{"it never takes effect", edits(shows("effects", "converged", row("text", "two"))), nil,
			[]string{"the first step of operation wf_1 never took effect, so that it cannot be told what the answer came before"}},
		variant{"nobody saw what is applied", edits(noLook("effects", "held")), nil, []string{"what the outside service has applied was not seen at the moment held"}},
		variant{"nobody counted", edits(noWire("held")), nil, []string{"the requests to the outside service were not counted at the moment held"}},
		variant{"nobody saw the store", edits(noLook("checkpoint", "held")), nil, []string{"the checkpoint of operation wf_1 was not seen at the moment held"}},
		variant{"nothing was started", edits(noCall("c1")), nil, []string{"no operation was started"}},
		variant{"the answer names no operation", edits(noField("c1", "operation_id")), nil, []string{"the start c1 was acknowledged and its answer names no operation"}},
		variant{"the steps are not told", edits(param("c1", "texts", "[")), nil, []string{"the start c1 does not say which steps it has: unexpected end of JSON input"}},
	)
}

func TestInFlightFirst(t *testing.T) {
	const summary = "the request of a step has left and the checkpoint does not say that it is in flight"
	second := "operation wf_1: the request of step 2 is on the wire"
	rules(t, InFlightFirst, flow(),
		variant{"it is written behind", edits(cell("checkpoint", "held", 0, "steps", list("done", "pending"))),
			finds(broken("WF-12", summary, second, `its steps are stored as "done", "pending", expected "done", "in_flight"`)), nil},
		variant{"the result of the first is not stored", edits(cell("checkpoint", "held", 0, "steps", list("in_flight", "in_flight"))),
			finds(broken("WF-12", summary, second, `its steps are stored as "in_flight", "in_flight", expected "done", "in_flight"`)), nil},
		variant{"nothing is stored", edits(shows("checkpoint", "held")),
			finds(broken("WF-12", summary, second, `its steps are stored as nothing, expected "done", "in_flight"`)), nil},
		variant{"no request was held", edits(wire("two", "held", 1, 1)), nil, []string{"no request of operation wf_1 was held"}},
		variant{"nobody counted", edits(noWire("held")), nil, []string{"the requests to the outside service were not counted at the moment held"}},
		variant{"two rows", edits(shows("checkpoint", "held", row("state", "running"), row("state", "running"))), nil, []string{"the probe checkpoint shows 2 rows of operation wf_1"}},
	)
}
