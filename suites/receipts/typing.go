package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var typing = []suites.Test{
	{
		ID: "RC-14/typed-while-unknown", Clauses: []string{"RC-14", "RC-15"},
		Title:   "what the person types while an outcome is unknown stays visible and unsaved behind the recovery, and a read says so",
		Faults:  []string{"answer-lost"},
		Missing: needs(noRole("recheck_update", "read"), noAction("type")),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.LosesServerAnswer(update)
			s.types("other", typed)
			s.look(typed)
			s.editor.Do(s.recheck(update, converged))
			s.settled()
			s.editor.Do(s.read(converged))
			s.look(converged)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.TypedStaysUnsaved, judge.ReadTellsUnsaved),
	},
	toldApart("RC-16/the-other-field-after", "changed", "other"),
	toldApart("RC-16/the-changed-field-after", "other", "changed"),
}

// toldApart is a spec of a person who types into one field before the dispatch and
// into the other one after it.
func toldApart(id, first, then string) suites.Test {
	words := map[string]string{"changed": "the field that the command changes", "other": "another field"}
	return suites.Test{
		ID: id, Clauses: []string{"RC-16"}, Faults: []string{"answer-lost"},
		Title:   "what was typed into " + words[first] + " before the dispatch and into " + words[then] + " after it is told apart by the recovery",
		Missing: needs(noRole("recheck_update"), noAction("type")),
		Drive: on(func(s *scene) {
			s.begin()
			s.types(first, before)
			s.look(before)
			update := s.update()
			s.editor.LosesServerAnswer(update)
			s.types(then, typed)
			s.look(typed)
			s.editor.Do(s.recheck(update, converged))
			s.settled()
			s.look(converged)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.TypedIsToldApart),
	}
}

// needs says what a spec lacks of several things.
func needs(of ...func(*target.File) string) func(*target.File) string {
	return func(f *target.File) string {
		for _, missing := range of {
			if why := missing(f); why != "" {
				return why
			}
		}
		return ""
	}
}
