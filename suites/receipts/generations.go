package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// The moments in a later generation of the session or the editor.
const (
	reloaded = "reloaded" // right behind a reload, before anything is asked for
	renewed  = "renewed"  // behind a recheck
)

var generations = []suites.Test{
	{
		ID: "RC-23/reload", Clauses: []string{"RC-23"},
		Title:   "a recheck behind a reload is refused with no lookup, and the reloaded editor claims neither saved nor failed",
		Faults:  []string{"answer-lost", "server-answered-for"},
		Missing: suites.First(noRole("recheck_update", "read"), suites.NoAction("reload")),
		Drive: on(func(s *scene) {
			s.begin()
			lost := s.inDoubt()
			s.editor.Person("reload", map[string]string{"draft": s.draft})
			s.shows()
			s.look(reloaded)
			s.editor.Do(s.recheck(lost, renewed))
			s.editor.Do(s.read(renewed))
			s.look(renewed)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.Placed("server-answered-for", 1), judge.OlderGenerationIsRefused(1), judge.ReloadClaimsNothing),
	},
	{
		ID: "RC-23/another-user", Clauses: []string{"RC-23"},
		Title:   "a recheck of a session that another user's has followed is refused with no lookup, also once the first one is back",
		Faults:  []string{"answer-lost", "server-answered-for"},
		Missing: suites.First(noRole("recheck_update"), suites.NoAction("sign_in_editor", "sign_out_editor")),
		Drive: on(func(s *scene) {
			s.begin()
			lost := s.inDoubt()
			for _, user := range []string{account.Second, account.First} {
				s.editor.Person("sign_out_editor", map[string]string{"draft": s.draft})
				s.signsIn(user)
				s.editor.Do(s.recheck(lost, renewed))
			}
			s.LookAtServer(renewed, s.draft)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.Placed("server-answered-for", 1), judge.OlderGenerationIsRefused(2)),
	},
	{
		ID: "RC-23/same-user-again", Clauses: []string{"RC-23"},
		Title:   "an outcome of a session that ended can be rechecked once the same user has signed in again",
		Faults:  []string{"answer-lost"},
		Missing: suites.First(noRole("recheck_update"), suites.NoAction("sign_in_editor"), noServer("sign_in", "end_sessions")),
		Drive: on(func(s *scene) {
			s.begin()
			lost := s.update()
			s.editor.LosesServerAnswer(lost)
			s.Visitor(account.First).Ask("end_sessions", struck, nil)
			s.editor.Do(s.recheck(lost, rechecked))
			s.signsIn(account.First)
			s.converges(lost)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.SameUserGoesOn),
	},
}

// inDoubt loses the answer to an update and asks once what came of it while its
// receipt is hidden: the lookup that is allowed.
func (s *scene) inDoubt() world.Act {
	lost := s.update()
	s.editor.LosesServerAnswer(lost)
	s.look(struck)
	hidden := s.ServerAnswers("lookup", s.draft, 404, "no_receipt")
	s.editor.Do(s.recheck(lost, rechecked))
	hidden.Release()
	s.settled()
	s.look(rechecked)
	return lost
}

// signsIn signs an account in to the editor, by hand.
func (s *scene) signsIn(user string) {
	s.editor.Person("sign_in_editor", map[string]string{"draft": s.draft, "user": user, "password": s.Password(user)})
}
