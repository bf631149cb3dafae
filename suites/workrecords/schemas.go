package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var schemas = []suites.Test{
	{
		ID: "WR-35/answers-and-lists", Clauses: []string{"WR-35"},
		Title: "answers and errors match the declared outputSchema, and tools/list tells the same after a restart",
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.newTask().withNote(s.Word("a first note")))
			for _, call := range s.everyCall(id) {
				s.helper.Do(call())
			}
			s.get(id, early)
			s.noteAbout("never-issued", s.Word("never-issued"))
			s.settle()
			s.get(id, converged)
			s.helper = s.helper.Restarted()
			s.helper.Tools()
			s.note(id, s.Word("a note behind the restart"))
			s.get(id, restarted)
		}),
		Judge: judge.AnswersMatchSchemas,
	},
	{
		ID: "WR-41/every-offered-value", Clauses: []string{"WR-41"},
		Title: "the app applies every value that an enumeration of an inputSchema offers",
		Drive: on(func(s *scene) {
			s.begin()
			for i := range s.everyCall("") {
				onItsOwn := func() world.Act {
					id := s.start(s.newTask())
					s.awaitItem(id)
					return s.everyCall(id)[i]()
				}
				for _, act := range s.helper.Offered(onItsOwn) {
					s.know(s.helper.Do(act))
				}
			}
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.OfferedIsApplied,
	},
	{
		ID: "WR-41/answered-words", Clauses: []string{"WR-41"},
		Title:   "every state, class and code that is answered is in the enumerations of the outputSchema",
		Missing: suites.First(noStaging, suites.NoAction("lock", "unblock", "delete")),
		Faults:  []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			t := s.newTask()
			id := s.start(t)
			s.awaitAttempts(id, 1)
			s.start(t) // retrying, as the account is not there yet
			s.get(id, held)
			login.Release()
			s.settle()
			s.get(id, converged)

			s.Act("lock", nil)
			waiting := s.noting(id, s.Word("a note that waits for its person"))
			s.helper.Do(waiting)
			s.awaitClass(id, "blocked")
			s.helper.Do(waiting)
			s.get(id, held)
			s.Act("unblock", nil)
			doomed := s.attaching(id)
			s.SwapForLink(doomed.Params["attachment"])
			s.helper.Do(doomed)
			s.settle()
			s.helper.Do(doomed)
			s.get(id, converged)

			s.noteAbout("never-issued", s.Word("never-issued"))
			s.helper.Do(s.starting(t).With("title", s.Word("another title")))
			s.delete(id, t)
			s.start(t) // what the key was given, which is dead by now
			s.noteAbout("dead", id)
			s.get(id, "dead")
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.WordsAreListed),
	},
}
