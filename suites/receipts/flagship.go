package receipts

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var flagship = []suites.Test{
	{
		ID: "RC-25/flagship", Clauses: []string{"RC-25"},
		Title:   "a lost answer, a hidden receipt and a person who types meanwhile end in one saved revision, one request, one receipt and one edit that is visibly unsaved",
		Faults:  []string{"answer-lost", "server-answered-for"},
		Missing: suites.First(noRole("recheck_update", "read"), suites.NoAction("type")),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.LosesServerAnswer(update)
			s.look(struck)
			s.shoot("unknown")
			hidden := s.ServerAnswers("lookup", s.draft, 404, "no_receipt")
			s.editor.Do(s.recheck(update, rechecked))
			s.types("other", typed)
			s.look(typed)
			hidden.Release()
			s.editor.Do(s.recheck(update, converged))
			s.settled()
			s.editor.Do(s.read(converged))
			s.look(converged)
			s.shoot("recovered")
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.Placed("server-answered-for", 1), judge.Flagship),
	},
}

// shoot keeps a picture of the editor, where it is a page.
func (s *scene) shoot(name string) {
	if s.editor.HasPage() {
		s.editor.Shoot(name)
	}
}
