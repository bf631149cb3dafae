package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// denied tells of three operations: wf_1, whose second step "b" is to be denied,
// wf_2, whose only step "d" is, and wf_3, with which nothing is wrong.
func denied() history.History {
	s := newStory()
	s.call("start", params("texts", `["a","b","c"]`, "denied", "1", "how", "the first way"), done("operation_id", "wf_1"))       // c1
	s.call("start", params("texts", `["d"]`, "denied", "0", "how", "the second way"), done("operation_id", "wf_2"))              // c2
	s.call("start", params("texts", `["e","f"]`), done("operation_id", "wf_3"))                                                  // c3
	s.call("status", params("operation_id", "wf_1", "moment", "converged"), done("operation", "failed", "code", "not_this_way")) // c4
	s.call("status", params("operation_id", "wf_2", "moment", "converged"), done("operation", "failed", "code", "nor_that_way")) // c5
	s.look("checkpoint", "converged", params("operation_id", "wf_1"), row("state", "failed", "code", "not_this_way", "steps", list("done", "failed", "pending")))
	s.look("checkpoint", "converged", params("operation_id", "wf_2"), row("state", "failed", "code", "nor_that_way", "steps", list("failed")))
	s.look("checkpoint", "converged", params("operation_id", "wf_3"), row("state", "completed", "steps", list("done", "done")))
	s.look("effects", "converged", nil, row("text", "a"), row("text", "e"), row("text", "f"))
	for text, n := range map[string]int{"a": 1, "b": 0, "c": 0, "d": 0, "e": 1, "f": 1} {
		s.look("outside", "converged", params("text", text), row("came", n, "passed", n))
	}
	audited := func(id string, step int, decision, code string) map[string]any {
		return row("operation_id", id, "step", step, "decision", decision, "code", code)
	}
	s.look("audit", "converged", nil, row("tool", "preview"), audited("wf_1", 1, "allowed", ""), audited("wf_1", 2, "denied", "not_this_way"),
		audited("wf_2", 1, "denied", "nor_that_way"), audited("wf_3", 1, "allowed", ""), audited("wf_3", 2, "allowed", ""))
	return s.told()
}

// ofOperation changes the checkpoint of one operation at the end.
func ofOperation(id, column string, value any) edit {
	return each("the checkpoint of "+id, func(e history.Event) bool {
		return isLook("checkpoint", "converged")(e) && e.Look.Params["operation_id"] == id
	}, func(e *history.Event) { e.Look.Rows[0][column] = value })
}

func TestStepDenied(t *testing.T) {
	rule := StepDenied("WF-06", "", "the first way", "the second way")
	first, second := "operation wf_1, step 2: the first way", "operation wf_2, step 1: the second way"
	const summary = "a step that is to be denied did not fail its operation"
	const executed = "a step that is to be denied was executed, or one behind it"
	stored := func(facts ...string) []string { return append([]string{first}, facts...) }
	rules(t, rule, denied(),
		variant{"it is let through", edits(ofOperation("wf_1", "state", "completed"), ofOperation("wf_1", "steps", list("done", "done", "done"))),
			finds(broken("WF-06", summary, stored(`it is stored as "completed" with the steps "done", "done", "done", expected "failed" with "done", "failed", "pending"`)...)), nil},
		variant{"it waits", edits(ofOperation("wf_1", "state", "interrupted"), ofOperation("wf_1", "steps", list("done", "pending", "pending"))),
			finds(broken("WF-06", summary, stored(`it is stored as "interrupted" with the steps "done", "pending", "pending", expected "failed" with "done", "failed", "pending"`)...)), nil},
		variant{"the next one runs", edits(ofOperation("wf_1", "steps", list("done", "failed", "done"))),
			finds(broken("WF-06", summary, stored(`it is stored as "failed" with the steps "done", "failed", "done", expected "failed" with "done", "failed", "pending"`)...)), nil},
		variant{"it took effect all the same", edits(rowsLater("effects", "converged", row("text", "d"))),
			finds(broken("WF-06", executed, second, `0 requests of "d" went out, expected at most 0`, `the outside service has applied "d" 1 times`)), nil},
		variant{"it went out all the same", edits(wire("c", "converged", 1, 1)),
			finds(broken("WF-06", executed, first, `1 requests of "c" went out, expected at most 0`, `the outside service has applied "c" 0 times`)), nil},
		variant{"status tells another state", edits(field("c5", "operation", "needs_review")),
			finds(broken("WF-06", "status does not tell why a step was denied", second, "status c5 was answered ", `expected failed with the code ""`)), nil},
		variant{"its turn never came", edits(ofOperation("wf_1", "steps", list("failed", "pending", "pending"))), nil,
			[]string{`operation wf_1 did not come to the step that is to be denied: its steps are stored as "failed", "pending", "pending"`}},
		variant{"nobody asked", edits(noCall("c4")), nil, []string{"the status of operation wf_1 was not asked for"}},
		variant{"one way was not tried", edits(noCall("c2")), nil, []string{"no started operation had a step that is to be denied because the second way"}},
		variant{"no control", edits(noCall("c3")), nil, []string{"no operation without a step that is to be denied was started"}},
		variant{"the control failed", edits(ofOperation("wf_3", "state", "failed")), nil,
			[]string{`operation wf_3, with which nothing is wrong, is stored as "failed", so that a failure says nothing of a denial`}},
		variant{"no effect is ever seen", edits(shows("effects", "converged")), nil, []string{
			`no effect was seen of a step with which nothing is wrong ("e"), so that none seen elsewhere says nothing`,
			`no effect was seen of a step with which nothing is wrong ("f"), so that none seen elsewhere says nothing`}},
		variant{"which step is not told", edits(param("c2", "denied", "1")), nil,
			[]string{"the start c2 does not say which of its steps is to be denied", "no started operation had a step that is to be denied because the second way"}},
	)
	expectRuling(t, StepDenied("WF-05", "approval_invalid", "the second way"), with(denied(), edits(field("c4", "code", "approval_invalid"))...), finds(
		broken("WF-05", "status does not tell why a step was denied", second, "status c5 was answered ", `expected failed with the code "approval_invalid"`)), nil)
}

// A step that is used up may have taken effect where it was good.
func TestAUsedUpConfirmationTakesEffectOnce(t *testing.T) {
	once := with(denied(), param("c1", "texts", `["b","b","c"]`), rowsLater("effects", "converged", row("text", "b")), wire("b", "converged", 1, 1))
	expectRuling(t, StepDenied("WF-06", ""), once, nil, nil)
	twice := with(once, rowsLater("effects", "converged", row("text", "b")), wire("b", "converged", 2, 2))
	expectRuling(t, StepDenied("WF-06", ""), twice, finds(broken("WF-06", "a step that is to be denied was executed, or one behind it",
		"operation wf_1, step 2: the first way", `2 requests of "b" went out, expected at most 1`, `the outside service has applied "b" 2 times`)), nil)
}

func TestOwnCodes(t *testing.T) {
	rules(t, OwnCodes, denied(),
		variant{"two controls, one code", edits(field("c5", "code", "not_this_way")),
			finds(broken("WF-04", "two controls deny with the same code", `"not_this_way": the first way`, `"not_this_way": the second way`)), nil},
		variant{"no code", edits(noField("c4", "code")), finds(broken("WF-04", "a denied step has no safe code", "operation wf_1: the first way", "status c4 was answered ")), nil},
		variant{"a sentence", edits(field("c4", "code", "The channel lobby says no")),
			finds(broken("WF-04", "a denied step has no safe code", "operation wf_1: the first way", "status c4 was answered ")), nil},
		variant{"one control, one code", edits(param("c2", "how", "the first way"), field("c5", "code", "not_this_way")), nil, nil},
	)
}

func TestStepsAudited(t *testing.T) {
	without := func(n int, step string) variant {
		return variant{fmt.Sprintf("no record of %s", step), edits(noRow("audit", "converged", n)), finds(broken("WF-04", "a step left no audit record", step)), nil}
	}
	rules(t, StepsAudited, denied(),
		without(1, "operation wf_1, step 1 is done"),
		without(2, "operation wf_1, step 2 is failed"),
		without(5, "operation wf_3, step 2 is done"),
		variant{"the record does not say why", edits(cell("audit", "converged", 3, "code", "")),
			finds(broken("WF-04", "the audit record of a denied step does not say why", "operation wf_2, step 1 is failed", `its code is "nor_that_way", and on record stands ""`)), nil},
		variant{"the probe shows no step", edits(noColumn("audit", "converged", "step")), nil, []string{`the probe audit shows no column "step"`}},
		variant{"nobody looked", edits(noLook("audit", "converged")), nil, []string{"the audit log was not seen"}},
		variant{"no step ran", edits(ofOperation("wf_1", "steps", list("pending")), ofOperation("wf_2", "steps", list("pending")), ofOperation("wf_3", "steps", list("pending"))), nil, []string{"no step came to its turn"}},
	)
}
