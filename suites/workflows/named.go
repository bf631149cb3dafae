package workflows

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var named = []suites.Test{
	noRollback("WF-31/failure", "failed", "outside-refused", (*scene).failed),
	noRollback("WF-31/cancel", "cancelled", "outside-held", (*scene).cancelled, "unabortable"),
	noRollback("WF-31/review", "needs_review", "outside-receipt", (*scene).reviewable, "deliver"),
}

// noRollback is a spec of an operation with a step behind it that ends before its
// last one.
func noRollback(id, state, fault string, come func(*scene) (string, []step), kinds ...string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"WF-31"}, Faults: []string{fault}, Missing: noKind(kinds...),
		Title: "an operation that ends as " + state + " behind a step that was done undoes nothing: the outside service gets no call that its definition does not name",
		Drive: on(func(s *scene) {
			s.begin()
			id, steps := come(s)
			s.ask("resume", id, settled)
			s.ask("cancel", id, settled)
			s.Quiet()
			s.lookAt(converged, id, steps...)
			s.LookAtChanges(converged, texts(s.steps)...)
		}),
		Judge: judge.All(judge.Placed(fault, 1), judge.OnlyNamedCalls(state)),
	}
}

func texts(steps []step) (all []string) {
	for _, st := range steps {
		all = append(all, st.text)
	}
	return all
}
