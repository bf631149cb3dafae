package judge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// mostSteps is how many steps a definition may have.
const mostSteps = 128

// StepCounts (WF-07): a definition with 1 to 128 steps is accepted, and is stored
// with all of them; one with none and one with more are refused, and leave the store
// as it was. The control is that an accepted one changes it.
func StepCounts(h history.History) Ruling {
	var r Ruling
	tried := map[int]bool{}
	for _, o := range h.Operations("start") {
		n, err := strconv.Atoi(o.Param("count"))
		if err != nil {
			continue
		}
		tried[n] = true
		what := fmt.Sprintf("a definition with %d steps", n)
		if n == 0 || n > mostSteps {
			r.refusedWhole(h, o, "WF-07", what)
			continue
		}
		r.acceptedWhole(h, o, what)
		if o.Outcome() == history.Done {
			r.allSteps(h, o, n)
		}
	}
	for _, n := range []int{0, 1, mostSteps, mostSteps + 1} {
		if !tried[n] {
			r.doubted("no start of a definition with %d steps was tried", n)
		}
	}
	return r
}

// allSteps holds what is stored to the number of steps that was accepted.
func (r *Ruling) allSteps(h history.History, o history.Operation, n int) {
	stored, ok := r.checkpoint(h, operation{id: o.Text("operation_id")}, whenConverged)
	if states := stepStates(stored); ok && len(states) != n {
		r.broke("WF-07", "an accepted definition is stored with another number of steps", says("start", o), fmt.Sprintf("%d steps were sent, and %d are stored", n, len(states)))
	}
}

// refusedWhole holds a start to being refused with nothing stored.
func (r *Ruling) refusedWhole(h history.History, o history.Operation, clause, what string) {
	switch o.Outcome() {
	case history.Unknown:
		r.doubted("%s got no answer", what)
		return
	case history.Done:
		r.broke(clause, "a definition that must be refused is accepted", what, says("start", o))
		return
	}
	was, is, ok := r.storeAround(h, o)
	if ok && !maps.Equal(was, is) {
		r.broke(clause, "a refused definition left something in the store", what, says("start", o), "changed: "+quoted(filesChanged(was, is)))
	}
}

// acceptedWhole is the control of refusedWhole.
func (r *Ruling) acceptedWhole(h history.History, o history.Operation, what string) {
	switch o.Outcome() {
	case history.Unknown:
		r.doubted("%s got no answer", what)
		return
	case history.Refused:
		if o.Param("count") == "" {
			r.doubted("%s was refused, so that a refusal says nothing: %s", what, answerOf(o))
		} else {
			r.broke("WF-07", "a definition that must be accepted is refused", what, says("start", o))
		}
		return
	}
	if was, is, ok := r.storeAround(h, o); ok && maps.Equal(was, is) {
		r.doubted("%s was accepted and nothing in the store changed, so that nothing changed elsewhere says nothing", what)
	}
}

// storeAround are the files of the store before and after a start, by their digests.
func (r *Ruling) storeAround(h history.History, o history.Operation) (was, is map[string]string, ok bool) {
	of := map[string]string{"try": o.Param("try")}
	before, sawBefore := lastLook(h, "operations", "before", of)
	after, sawAfter := lastLook(h, "operations", "after", of)
	if !sawBefore || !sawAfter {
		r.doubted("the store was not seen before and after the start %s", o.Invoked.ID)
		return nil, nil, false
	}
	return byFile(before), byFile(after), true
}

func byFile(look history.Look) map[string]string {
	files := map[string]string{}
	for _, row := range look.Rows {
		files[text(row, "file")] = text(row, "digest")
	}
	return files
}

// filesChanged are the names of the files that are not the same.
func filesChanged(was, is map[string]string) []string {
	var names []string
	for name := range is {
		if was[name] != is[name] {
			names = append(names, name)
		}
	}
	for name := range was {
		if _, there := is[name]; !there {
			names = append(names, name+" (gone)")
		}
	}
	slices.Sort(names)
	return names
}

// NothingNested (WF-08): a definition that names a pipeline or a workflow tool is
// refused, and leaves the store as it was. Every such tool that tools/list shows must
// have been tried. The control is an ordinary definition, which is accepted.
func NothingNested(h history.History) Ruling {
	var r Ruling
	tried, ordinary := map[string]bool{}, 0
	for _, o := range h.Operations("start") {
		tool, nested := o.Invoked.Params["nested"]
		if !nested {
			ordinary++
			r.acceptedWhole(h, o, "an ordinary definition")
			continue
		}
		tried[tool] = true
		r.refusedWhole(h, o, "WF-08", fmt.Sprintf("a definition with the step %q", tool))
	}
	if ordinary == 0 {
		r.doubted("no ordinary definition was started, so that a refusal says nothing")
	}
	for _, m := range h.Marks("tools") {
		names, _ := texts(m.Data, "names")
		for _, name := range names {
			if (name == "mcp_pipeline" || strings.HasPrefix(name, "workflow_")) && !tried[name] {
				r.doubted("the tool %s was not tried as a step; the target file does not name it in profiles.workflows.forbidden", name)
			}
		}
	}
	if len(tried) == 0 && r.silent() {
		r.doubted("no step that is forbidden was tried")
	}
	return r
}
