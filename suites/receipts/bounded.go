package receipts

import (
	"github.com/holdfast-mcp/holdfast/fixtures/account"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var bounded = []suites.Test{
	{
		ID: "RC-17/lookup-hangs", Clauses: []string{"RC-17", "RC-09"},
		Title:   "a recheck whose lookup hangs is answered at its deadline, leaves the editor free and the outcome unknown, and a later recheck confirms it",
		Faults:  []string{"answer-lost", "server-held"},
		Missing: noRole("recheck_update"),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.LosesServerAnswer(update)
			s.look(struck)
			lookup := s.HoldToServer("lookup", s.draft)
			flight := s.editor.Go(s.recheck(update, rechecked), s.Patience())
			lookup.Await()
			flight.Wait()
			s.free()
			s.look(rechecked)
			lookup.Release()
			s.ServerLanded()
			s.confirms(update)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.Placed("server-held", 1), judge.HungLookupEnds, judge.Under("RC-17", judge.ConfirmedByRecheck), judge.OneMutation),
	},
	{
		ID: "RC-18/answered-on-the-way", Clauses: []string{"RC-18", "RC-09"},
		Title:   "a recheck that is answered with 401 leaves the editor free and the outcome unknown, and one behind a new sign-in confirms it",
		Faults:  []string{"answer-lost", "server-answered-for"},
		Missing: suites.First(noRole("recheck_update"), suites.NoAction("sign_in_editor")),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.LosesServerAnswer(update)
			s.look(struck)
			refusal := s.ServerAnswers("lookup", s.draft, 401, "signed_out")
			s.editor.Do(s.recheck(update, rechecked))
			refusal.Release()
			s.free()
			s.look(rechecked)
			s.signsInAgain()
			s.confirms(update)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.Placed("server-answered-for", 1), judge.SignedOutReleases, judge.Under("RC-18", judge.ConfirmedByRecheck), judge.OneMutation),
	},
	{
		ID: "RC-18/session-ended", Clauses: []string{"RC-18", "RC-09"},
		Title:   "a recheck in a session that the server has ended leaves the editor free and the outcome unknown, and one behind a new sign-in confirms it",
		Faults:  []string{"answer-lost"},
		Missing: suites.First(noRole("recheck_update"), suites.NoAction("sign_in_editor"), noServer("sign_in", "end_sessions")),
		Drive: on(func(s *scene) {
			s.begin()
			update := s.update()
			s.editor.LosesServerAnswer(update)
			s.look(struck)
			s.Visitor(account.First).Ask("end_sessions", struck, nil)
			s.editor.Do(s.recheck(update, rechecked))
			s.free()
			s.look(rechecked)
			s.signsInAgain()
			s.confirms(update)
		}),
		Judge: judge.All(judge.Placed("answer-lost", 1), judge.OnceSessionsEnded(judge.SignedOutReleases, judge.Under("RC-18", judge.ConfirmedByRecheck), judge.OneMutation)),
	},
	{
		ID: "RC-19/answered-on-the-way", Clauses: []string{"RC-19"},
		Title:  "an update that is answered with 401 is refused: nothing is unknown, nothing is sent again and nothing is stored",
		Faults: []string{"server-answered-for"},
		Drive: on(func(s *scene) {
			s.begin()
			refusal := s.ServerAnswers("update", s.draft, 401, "signed_out")
			s.editor.Do(s.update().At(struck))
			s.free()
			refusal.Release()
			s.look(struck)
			s.editor.Do(s.update().At(converged))
		}),
		Judge: judge.All(judge.Placed("server-answered-for", 1), judge.SignedOutRefuses),
	},
	{
		ID: "RC-19/session-ended", Clauses: []string{"RC-19"},
		Title:   "an update in a session that the server has ended is refused: nothing is unknown, nothing is sent again and nothing is stored",
		Missing: suites.First(suites.NoAction("sign_in_editor"), noServer("sign_in", "end_sessions")),
		Drive: on(func(s *scene) {
			s.begin()
			s.Visitor(account.First).Ask("end_sessions", struck, nil)
			s.editor.Do(s.update().At(struck))
			s.free()
			s.look(struck)
			s.signsInAgain()
			s.editor.Do(s.update().At(converged))
		}),
		Judge: judge.OnceSessionsEnded(judge.SignedOutRefuses),
	},
}

// confirms rechecks an update whose receipt can be seen.
func (s *scene) confirms(update world.Act) {
	s.editor.Do(s.recheck(update, converged))
	s.free()
	s.look(converged)
}

// signsInAgain lets the same person sign in to the editor once more, and waits until
// it shows the draft: it may read that only then. That it does not is for the judges.
func (s *scene) signsInAgain() {
	s.editor.Person("sign_in_editor", map[string]string{"user": account.First, "password": s.Password(account.First)})
	s.shows()
}

// shows waits until the editor shows the draft.
func (s *scene) shows() {
	s.Await("the editor to show the draft", func() bool { return s.editor.PeekAtEditor(s.draft)["changed"] != nil })
}
