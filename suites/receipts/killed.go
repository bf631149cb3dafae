package receipts

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var killed = []suites.Test{
	{
		ID: "RC-24/killed-behind-the-commit", Clauses: []string{"RC-24", "RC-09"},
		Title:   "a server that is killed between commit and response leaves an unknown outcome, which a recheck confirms once it is back",
		Faults:  []string{"kill-at-answer"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			act := s.update()
			s.editor.ServerKilledAtAnswer(act)
			s.look(struck)
			s.Launch()
			s.converges(act)
		}),
		Judge: judge.All(judge.Placed("kill-at-answer", 1), judge.Under("RC-24", judge.UnknownOnceLost), judge.Under("RC-24", judge.ConfirmedByRecheck), judge.OneMutation),
	},
	{
		ID: "RC-24/killed-before-the-commit", Clauses: []string{"RC-24"},
		Title:   "a server that is killed before it commits leaves an unknown outcome, and a recheck that finds no receipt once it is back does not make a failure of it",
		Faults:  []string{"kill-at-request"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			act := s.update()
			s.editor.ServerKilledAtRequest(act)
			s.look(struck)
			s.Launch()
			s.inVain(act)
		}),
		Judge: judge.All(judge.Placed("kill-at-request", 1), judge.Under("RC-24", judge.UnknownThoughLost), judge.AbsenceProvesNothing),
	},
	{
		ID: "RC-26/committed-late", Clauses: []string{"RC-26", "RC-09"},
		Title:   "an update whose request is held beyond the editor's deadline and commits behind it is found by recheck",
		Faults:  []string{"server-held"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			act := s.update()
			request := s.HoldToServer("update", s.draft)
			flight := s.editor.Go(act, s.Patience())
			request.Await()
			flight.Wait()
			s.look(struck)
			s.inVain(act)
			request.Release()
			s.ServerLanded()
			s.converges(act)
		}),
		Judge: judge.All(judge.Placed("server-held", 1), judge.Under("RC-26", judge.UnknownThoughLost), judge.Under("RC-26", judge.AbsenceProvesNothing), judge.Under("RC-26", judge.ConfirmedByRecheck), judge.OneMutation),
	},
}
