package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// TasksAgree (WF-29): at every moment at which an operation stands somewhere, its
// task has a status that shows that state, in tasks/get and in tasks/list, and the
// result of a task that has ended says the same. The control is workflow_status,
// asked in front of the task and behind it: the operation was in the state that the
// moment is about, and did not move meanwhile.
func TasksAgree(moments map[string]string) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		for _, o := range r.operations(h) {
			for _, moment := range slices.Sorted(maps.Keys(moments)) {
				if status, stood := r.stood(h, o, moment, moments[moment]); stood {
					r.shownAs(h, o, moment, status, moments[moment])
				}
			}
		}
		return r
	}
}

// stood says whether an operation was in a state throughout a moment, by
// workflow_status; what is not known is doubted.
func (r *Ruling) stood(h history.History, o operation, moment, state string) (history.Operation, bool) {
	answers := callsAbout(h, "status", moment, o)
	if len(answers) < 2 {
		r.doubted("operation %s was not asked for both in front of its task and behind it at the moment %s", o.id, moment)
		return history.Operation{}, false
	}
	for _, a := range answers {
		if a.Outcome() != history.Done || stateOf(a) != state {
			r.doubted("operation %s was to be %s throughout the moment %s: %s", o.id, state, moment, says("status", a))
			return history.Operation{}, false
		}
	}
	return answers[0], true
}

// shownAs holds every view of the task at a moment to a state.
func (r *Ruling) shownAs(h history.History, o operation, moment string, status history.Operation, state string) {
	for _, view := range []string{"task get", "task list"} {
		answers := callsAbout(h, view, moment, o)
		if len(answers) == 0 {
			r.doubted("there was no %s about operation %s at the moment %s", view, o.id, moment)
		}
		for _, a := range answers {
			shows, _ := a.Field("states").([]any)
			switch {
			case a.Outcome() == history.Unknown:
				r.doubted("%s %s got no answer", view, a.Invoked.ID)
			case a.Outcome() == history.Refused || a.Text("task") == "":
				r.broke("WF-29", "an operation is not to be found as a task", says("status", status), says(view, a))
			case !slices.Contains(shows, any(state)):
				r.broke("WF-29", "the two views of an operation disagree", says("status", status), says(view, a),
					fmt.Sprintf("a task that is %s shows an operation that is one of %v, and it is %s", a.Text("task"), shows, state))
			}
		}
	}
	for _, a := range callsAbout(h, "task result", moment, o) {
		switch {
		case a.Outcome() == history.Unknown:
			r.doubted("task result %s got no answer", a.Invoked.ID)
		case stateOf(a) != state:
			r.broke("WF-29", "the result of a task disagrees with its operation", says("status", status), says("task result", a))
		}
	}
}
