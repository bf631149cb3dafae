package judge

import (
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// tries tells of a start between two looks at the store.
func (s *story) tries(name string, p map[string]string, e ending, after ...string) {
	of := params("try", name)
	s.look("operations", "before", of, row("file", "store/old", "digest", "1"))
	s.call("start", and(p, "try", name), e)
	rows := []map[string]any{row("file", "store/old", "digest", "1")}
	for _, file := range after {
		rows = append(rows, row("file", file, "digest", "2"))
	}
	s.look("operations", "after", of, rows...)
}

func counted(steps int) map[string]any {
	return row("state", "completed", "steps", list(strings.Fields(strings.Repeat("done ", steps))...))
}

// afterTry changes what the store holds behind a start.
func afterTry(name string, rows ...map[string]any) edit {
	return each("the store after "+name, func(e history.Event) bool { return isLook("operations", "after")(e) && e.Look.Params["try"] == name },
		func(e *history.Event) { e.Look.Rows = rows })
}

func TestStepCounts(t *testing.T) {
	s := newStory()
	s.tries("none", params("count", "0"), refused("", "invalid"))                           // c1
	s.tries("more", params("count", "129"), refused("", "invalid"))                         // c2
	s.tries("one", params("count", "1"), done("operation_id", "wf_1"), "store/wf_1")        // c3
	s.tries("most", params("count", "128"), done("operation_id", "wf_128"), "store/wf_128") // c4
	s.look("checkpoint", "converged", params("operation_id", "wf_1"), counted(1))
	s.look("checkpoint", "converged", params("operation_id", "wf_128"), counted(128))
	old := row("file", "store/old", "digest", "1")
	rules(t, StepCounts, s.told(),
		variant{"129 are accepted", edits(ends("c2", done("operation_id", "wf_129"))),
			finds(broken("WF-07", "a definition that must be refused is accepted", "a definition with 129 steps", "start c2 was answered ")), nil},
		variant{"none is accepted", edits(ends("c1", done("operation_id", "wf_0"))),
			finds(broken("WF-07", "a definition that must be refused is accepted", "a definition with 0 steps", "start c1 was answered ")), nil},
		variant{"128 are refused", edits(ends("c4", refused("", "invalid"))),
			finds(broken("WF-07", "a definition that must be accepted is refused", "a definition with 128 steps", `start c4 was answered {"isError":true}`)), nil},
		variant{"a refused one is stored", edits(afterTry("more", old, row("file", "store/wf_129", "digest", "2"))),
			finds(broken("WF-07", "a refused definition left something in the store", "a definition with 129 steps", `start c2 was answered {"isError":true}`, `changed: "store/wf_129"`)), nil},
		variant{"a refused one takes something away", edits(afterTry("none")),
			finds(broken("WF-07", "a refused definition left something in the store", "a definition with 0 steps", `start c1 was answered {"isError":true}`, `changed: "store/old (gone)"`)), nil},
		variant{"the last step is lost", edits(each("the checkpoint", func(e history.Event) bool {
			return isLook("checkpoint", "converged")(e) && e.Look.Params["operation_id"] == "wf_128"
		}, func(e *history.Event) { e.Look.Rows[0] = counted(127) })),
			finds(broken("WF-07", "an accepted definition is stored with another number of steps", "start c4 was answered ", "128 steps were sent, and 127 are stored")), nil},
		variant{"the store never changes", edits(afterTry("one", old)), nil,
			[]string{"a definition with 1 steps was accepted and nothing in the store changed, so that nothing changed elsewhere says nothing"}},
		variant{"no answer", edits(ends("c1", unknown())), nil, []string{"a definition with 0 steps got no answer"}},
		variant{"129 were not tried", edits(noCall("c2")), nil, []string{"no start of a definition with 129 steps was tried"}},
		variant{"the store was not seen", edits(removed("look", func(e history.Event) bool {
			return isLook("operations", "before")(e) && e.Look.Params["try"] == "none"
		})), nil, []string{"the store was not seen before and after the start c1"}},
	)
}

func TestNothingNested(t *testing.T) {
	s := newStory()
	s.mark("tools", "names", list("publish", "mcp_pipeline", "workflow_start"))
	s.tries("ordinary", params(), done("operation_id", "wf_1"), "store/wf_1") // c1
	s.tries("pipeline", params("nested", "mcp_pipeline"), refused("", "no"))
	s.tries("start", params("nested", "workflow_start"), refused("", "no"))
	s.tries("behind", params("nested", "workflow_start"), refused("", "no"))
	old := row("file", "store/old", "digest", "1")
	rules(t, NothingNested, s.told(),
		variant{"a pipeline is accepted", edits(ends("c2", done("operation_id", "wf_2"))),
			finds(broken("WF-08", "a definition that must be refused is accepted", `a definition with the step "mcp_pipeline"`, "start c2 was answered ")), nil},
		variant{"a refused one is stored", edits(afterTry("behind", old, row("file", "store/wf_2", "digest", "2"))),
			finds(broken("WF-08", "a refused definition left something in the store", `a definition with the step "workflow_start"`, `start c4 was answered {"isError":true}`, `changed: "store/wf_2"`)), nil},
		variant{"everything is refused", edits(ends("c1", refused("", "no"))), nil,
			[]string{`an ordinary definition was refused, so that a refusal says nothing: {"isError":true}`}},
		variant{"nothing ordinary was tried", edits(noCall("c1")), nil, []string{"no ordinary definition was started, so that a refusal says nothing"}},
		variant{"a tool was left out", edits(noCall("c2")), nil,
			[]string{"the tool mcp_pipeline was not tried as a step; the target file does not name it in profiles.workflows.forbidden"}},
		variant{"nothing was tried", edits(noCall("c2", "c3", "c4"), noMark("tools")), nil, []string{"no step that is forbidden was tried"}},
	)
}
