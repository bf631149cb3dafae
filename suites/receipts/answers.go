package receipts

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var lost = []suites.Test{
	{
		ID: "RC-07/answer-lost", Clauses: []string{"RC-07", "RC-09", "RC-11"},
		Title:   "an update whose response is lost behind the commit is an unknown outcome, and one recheck confirms it without a second mutation",
		Faults:  []string{"answer-lost"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.LosesServerAnswer(update)
			s.look(struck)
			s.converges(update)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.UnknownOnceLost, judge.OneMutation, judge.ConfirmedByRecheck),
	},
}
