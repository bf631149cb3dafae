package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var failures = []suites.Test{
	{
		ID: "WR-22/attachment-gone", Clauses: []string{"WR-22"},
		Title:   "a note whose attachment leads outside when it is applied is tried once and ends failed",
		Missing: noStaging,
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			id := s.start(s.newTask())
			doomed := s.attaching(id)
			s.helper.Do(doomed)
			s.note(id, s.Word("the note behind it"))
			s.SwapForLink(doomed.Params["attachment"])
			s.Launch(world.Only("app"))
			s.settle()
			s.helper.Do(doomed.At(converged))
			s.lookAtEnd()
		}),
		Judge: judge.PermanentOnce,
	},
	{
		ID: "WR-25/by-structure", Clauses: []string{"WR-25"},
		Title:   "class and code of every failure are fields, in the store and in the answer",
		Missing: noStaging,
		Faults:  []string{"login-held"},
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			t := s.newTask()
			id := s.start(t)
			doomed := s.attaching(id)
			s.helper.Do(doomed)
			s.SwapForLink(doomed.Params["attachment"])
			s.awaitAttempts(id, 1)
			s.Look("intents", held, map[string]string{"item_id": id})
			login.Release()
			s.settle()
			s.helper.Do(doomed.At(converged))
			s.noteAbout("never-issued", s.Word("never-issued"))
			s.helper.Do(s.starting(t).With("title", s.Word("another title")))
			s.delete(id, t)
			s.noteAbout("dead", id)
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.Structured),
	},
	{
		ID: "WR-25/blocked-by-structure", Clauses: []string{"WR-25"},
		Title:   "what waits for a person tells class, code and reason as fields, in the store and in the answer",
		Missing: suites.NoAction("lock", "unblock"),
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.newTask())
			s.awaitItem(id)
			s.settle()
			s.Act("lock", nil)
			note := s.noting(id, s.Word("a note that waits for the person"))
			s.helper.Do(note)
			s.awaitTried(id, 1)
			s.awaitTried(s.start(s.newTask()), 1) // by then the attempt at the note is over
			s.Look("intents", held, map[string]string{"item_id": id})
			s.helper.Do(note.At(held))
			s.get(id, held)
			s.Act("unblock", nil)
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.BlockedStructured,
	},
}

// attaching is the act of a note with a staged file.
func (s *scene) attaching(id string) world.Act {
	act := s.noting(id, s.Word("a note with an attachment"))
	act.Params["attachment"] = s.StageFile("attachment.txt")
	return act
}

// noteAbout sends a note that must be refused, and says to the judges what it is about.
func (s *scene) noteAbout(about, id string) {
	s.helper.Do(s.noting(id, s.Word("refused "+about)).With("about", about))
}
