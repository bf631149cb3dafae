package receipts

import (
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// Beside the moments of scene.go.
const (
	ready   = "ready"   // right before something that is to reach nobody
	strange = "strange" // behind rechecks of what is not the editor's to recheck
	unsent  = "unsent"  // behind a command that is not to leave
)

var unknowns = []suites.Test{
	{
		ID: "RC-07/answer-withheld", Clauses: []string{"RC-07", "RC-09", "RC-11"},
		Title:   "an update whose response does not come until the editor's deadline, behind the commit, is an unknown outcome, and one recheck confirms it",
		Faults:  []string{"answer-lost"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			s.recovers(s.update(), s.editor.WithholdsServerAnswer)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.UnknownOnceLost, judge.OneMutation, judge.ConfirmedByRecheck),
	},
	{
		ID: "RC-07/submission-lost", Clauses: []string{"RC-07", "RC-09", "RC-11"},
		Title:   "a submission whose response is lost behind the commit is an unknown outcome, and one recheck confirms it without a second one",
		Faults:  []string{"answer-lost"},
		Missing: noRole("submit", "recheck_submit"),
		Drive: on(func(s *scene) {
			s.begin()
			s.recovers(s.submission(), s.editor.LosesServerAnswer)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.UnknownOnceLost, judge.OneMutation, judge.ConfirmedByRecheck),
	},
	requestLost("RC-07/request-lost", "an update", (*scene).update, "recheck_update"),
	requestLost("RC-07/submission-request-lost", "a submission", (*scene).submission, "submit", "recheck_submit"),
	{
		ID: "RC-10/hidden-receipt", Clauses: []string{"RC-10", "RC-09", "RC-11"},
		Title:   "a recheck is still unknown while the lookup answers 503 or shows no receipt, and confirms once the receipt shows",
		Faults:  []string{"answer-lost", "server-answered-for"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.LosesServerAnswer(update)
			for _, hidden := range []struct {
				status int
				code   string
			}{{503, "unavailable"}, {404, "no_receipt"}} {
				it := s.ServerAnswers("lookup", s.draft, hidden.status, hidden.code)
				s.inVain(update)
				it.Release()
			}
			s.converges(update)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.Placed("server-answered-for", 2), judge.HiddenProvesNothing, judge.OneMutation, judge.ConfirmedByRecheck),
	},
}

// requestLost is a spec of the twin of a lost answer: the server never gets the request.
func requestLost(id, words string, act func(*scene) world.Act, roles ...string) suites.Test {
	return suites.Test{
		ID: id, Clauses: []string{"RC-07"}, Faults: []string{"request-lost"}, Missing: noRole(roles...),
		Title: words + " whose request is lost before the server gets it is an unknown outcome as well, and stays one",
		Drive: on(func(s *scene) {
			s.begin()
			lost := act(s)
			s.editor.LosesServerRequest(lost)
			s.look(struck)
			s.inVain(lost)
		}),
		Judge: judge.All(judge.Placed("request-lost", 1), judge.UnknownThoughLost, judge.Under("RC-07", judge.AbsenceProvesNothing)),
	}
}

// recovers makes a mutation under a fault that hides its outcome, and rechecks it.
func (s *scene) recovers(act world.Act, under func(world.Act) history.Operation) {
	under(act)
	s.look(struck)
	s.converges(act)
}

// converges rechecks a mutation whose receipt can be seen.
func (s *scene) converges(act world.Act) {
	s.lastly(s.recheck(act, converged))
}

// inVain rechecks a mutation while nothing can be known of it.
func (s *scene) inVain(act world.Act) {
	s.editor.Do(s.recheck(act, rechecked))
	s.settled()
	s.look(rechecked)
}
