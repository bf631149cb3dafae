package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

const (
	// manyAttempts is the least number of attempts that the contract has watched
	// in WR-10 and WR-21.
	manyAttempts = 25
	// lateNotes is n in "held until n calls were accepted".
	lateNotes = 5
	// refusals is how often the account service turns the app away in WR-17.
	refusals = 4
)

var login = []suites.Test{
	{
		ID: "WR-17/login-held", Clauses: []string{"WR-17"},
		Title:  "what was accepted before the login is applied under the same ID after it",
		Faults: []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			id := s.start(s.newTask())
			s.notes(id, "early note", lateNotes)
			s.awaitAttempts(id, 1)
			s.Look("intents", held, map[string]string{"item_id": id})
			login.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.KeptWhileTransient("WR-17", 1),
			judge.AppliedAfterLogin, judge.NotesOnRecord("WR-17", lateNotes)),
	},
	{
		ID: "WR-17/login-refused-first", Clauses: []string{"WR-17"},
		Title:  "what was accepted before the login is applied although the login fails several times first",
		Faults: []string{"login-refused"},
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			id := s.start(s.newTask())
			s.notes(id, "early note", lateNotes)
			login := s.RefuseLogin(refusals)
			s.Launch(world.Only("app"))
			s.awaitAttempts(id, 1)
			s.Look("intents", held, map[string]string{"item_id": id})
			login.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-refused", 1), judge.KeptWhileTransient("WR-17", 1),
			judge.AppliedAfterLogin, judge.NotesOnRecord("WR-17", lateNotes)),
	},
	{
		ID: "WR-17/another-account-first", Clauses: []string{"WR-17"},
		Title:  "another account that signs in first takes nothing; the owner's records come when the owner is back",
		Faults: []string{"another-account"},
		Drive: on(func(s *scene) {
			s.begin()
			bound := s.start(s.newTask())
			s.awaitItem(bound)
			s.StopProcess("app")
			id := s.start(s.newTask())
			s.notes(id, "early note", lateNotes)
			other := s.AnotherAccount()
			s.Launch(world.Only("app"))
			s.awaitClass(id, "blocked")
			s.Look("intents", "other-account", map[string]string{"item_id": id})
			other.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("another-account", 1), judge.BlockedForOther,
			judge.AppliedAfterLogin, judge.NotesOnRecord("WR-17", lateNotes)),
	},
	{
		ID: "WR-18/nothing-decided", Clauses: []string{"WR-18"},
		Title:  "with no account resolved nothing is written, claimed, failed, marked missing or dead",
		Faults: []string{"login-held"},
		Drive: on(func(s *scene) {
			s.begin()
			old := s.start(s.newTask())
			s.awaitItem(old)
			s.settle()
			s.Look("writes", early, nil)
			s.StopProcess("app")
			login := s.HoldLogin()
			id := s.start(s.newTask())
			s.note(old, s.Word("a note on the old record"))
			s.lookAtAccepted(early)
			s.Launch(world.Only("app"))
			s.awaitAttempts(id, 2)
			s.awaitAttempts(old, 2)
			s.get(old, held)
			s.get(id, held)
			for _, item := range s.items {
				s.Look("intents", held, map[string]string{"item_id": item})
			}
			s.Look("anchors", held, nil)
			s.Look("writes", held, nil)
			login.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.NothingDecided),
	},
	{
		ID: "WR-18/first-login", Clauses: []string{"WR-18"},
		Title:  "an empty session claims no record that was accepted before the first login",
		Faults: []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			id := s.start(s.newTask())
			s.lookAtAccepted(early)
			s.awaitAttempts(id, 2)
			s.Look("intents", held, map[string]string{"item_id": id})
			s.Look("anchors", held, nil)
			s.get(id, held)
			login.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.AnchorsUndecided, judge.AppliedAfterLogin),
	},
	{
		ID: "WR-21/account-unresolved", Clauses: []string{"WR-21"},
		Title:  "25 and more attempts before the login keep the same intents",
		Faults: []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			id := s.start(s.newTask())
			s.note(id, s.Word("a note"))
			s.Look("intents", held, map[string]string{"item_id": id})
			s.awaitAttempts(id, manyAttempts)
			s.Look("intents", held, map[string]string{"item_id": id})
			login.Release()
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.KeptWhileTransient("WR-21", manyAttempts), judge.NotesOnRecord("WR-21", 1)),
	},
	heldUp("WR-21/library-busy", "WR-21", "25 and more attempts at a busy library keep the same intents", manyAttempts, 0, judge.All()),
}

// beginWithLoginHeld starts everything while the app's login hangs in the wire
// to the account service.
func (s *scene) beginWithLoginHeld() *world.Trouble {
	s.Launch(world.Only("account"))
	login := s.HoldLogin()
	s.Launch()
	s.meet()
	return login
}
