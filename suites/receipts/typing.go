package receipts

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var typing = []suites.Test{
	{
		ID: "RC-14/typed-while-unknown", Clauses: []string{"RC-14", "RC-15"},
		Title:   "what the person types while an outcome is unknown stays visible and unsaved behind the recovery, and a read says so",
		Faults:  []string{"answer-lost"},
		Missing: suites.First(noRole("recheck_update", "read"), suites.NoAction("type")),
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
	toldApart("RC-16/the-other-field-after", "what was typed into the field that the command changes before the dispatch and into another one after it is told apart by the recovery",
		"changed", func(s *scene) { s.types("other", typed) }),
	toldApart("RC-16/the-changed-field-after", "what was typed into another field before the dispatch and into the one that the command changes after it is told apart by the recovery",
		"other", func(s *scene) { s.types("changed", typed) }),
	toldApart("RC-16/typed-back", "the text that stood in the field that the command changes counts as typed after the dispatch where the person has typed it again then",
		"other", func(s *scene) {
			stood, seen := s.editor.PeekAtEditor(s.draft)["changed"].(string)
			if !seen {
				world.Inconclusive("the editor of draft %s does not show the field that the command changes", s.draft)
			}
			s.types("changed", typed)
			s.typesText("changed", stood, typed)
		}),
}

// toldApart is a spec of a person who types into a field before the dispatch and goes
// on after it.
func toldApart(id, title, first string, then func(*scene)) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"RC-16"}, Title: title, Faults: []string{"answer-lost"},
		Missing: suites.First(noRole("recheck_update"), suites.NoAction("type")),
		Drive: on(func(s *scene) {
			s.begin()
			s.types(first, before)
			s.look(before)
			update := s.update()
			s.editor.LosesServerAnswer(update)
			then(s)
			s.look(typed)
			s.converges(update)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.TypedIsToldApart),
	}
}
