package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var ends = []suites.Test{
	{
		ID: "WR-23/library-locked", Clauses: []string{"WR-23"},
		Title:   "what a locked library blocks stays pending, also across a restart of the app, until its user unlocks it",
		Missing: suites.NoAction("lock", "unblock"),
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.newTask())
			s.awaitItem(id)
			s.settle()
			s.Look("intents", early, map[string]string{"item_id": id})
			s.Look("writes", early, nil)
			s.Act("lock", nil)
			note := s.noting(id, s.Word("a note that waits for the person"))
			s.helper.Do(note)
			s.note(id, s.Word("a note behind it"))
			waiting := s.start(s.newTask())
			s.awaitTried(id, 1)
			s.awaitTried(waiting, 1)
			s.lookAtAccepted(held)
			s.StopProcess("app")
			s.lookAtAccepted(held)
			s.Launch(world.Only("app"))
			s.watchTried(id, 2)
			s.watchTried(waiting, 2)
			s.helper.Do(note.At(held))
			s.lookAtAccepted(held)
			s.Look("writes", held, nil)
			s.Act("unblock", nil)
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.BlockedUntilPerson, judge.NotesOnRecord("WR-23", 2)),
	},
	{
		ID: "WR-23/restarted-before-the-login", Clauses: []string{"WR-23"},
		Title:   "what a locked library blocks stays blocked in an app that starts again, before its login and after it",
		Missing: suites.NoAction("lock", "unblock"),
		Faults:  []string{"login-held"},
		Drive: on(func(s *scene) {
			s.begin()
			id := s.start(s.newTask())
			s.awaitItem(id)
			s.settle()
			s.Look("intents", early, map[string]string{"item_id": id})
			s.Look("writes", early, nil)
			s.Act("lock", nil)
			note := s.noting(id, s.Word("a note that waits for the person"))
			s.helper.Do(note)
			s.awaitTried(id, 1)
			s.Look("intents", held, map[string]string{"item_id": id})
			s.StopProcess("app")
			login := s.HoldLogin()
			s.Launch(world.Only("app"))
			// That the new app has tried a start shows that it has gone through its queue.
			s.awaitAttempts(s.start(s.newTask()), 1)
			s.Look("intents", held, map[string]string{"item_id": id})
			s.helper.Do(note.At(held))
			login.Release()
			s.watchTried(id, 2)
			s.Look("intents", held, map[string]string{"item_id": id})
			s.Look("writes", held, nil)
			s.Act("unblock", nil)
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.BlockedUntilPerson, judge.NotesOnRecord("WR-23", 1)),
	},
	{
		ID: "WR-24/repeated-once-applied", Clauses: []string{"WR-24"},
		Title: "what was applied stays applied across restarts, and a repeated call of any kind gets the result of the first time",
		Drive: on(func(s *scene) {
			s.begin()
			start := s.starting(s.newTask().withNote(s.Word("the first note")))
			id := s.startBy(s.helper, start)
			acts := []world.Act{start}
			for _, act := range s.followUps(id) {
				s.helper.Do(act)
				acts = append(acts, act)
			}
			again := func() {
				for _, act := range acts {
					s.helper.Do(act)
				}
			}
			s.settle()
			s.Look("intents", early, map[string]string{"item_id": id})
			s.Look("item", early, map[string]string{"item_id": id})
			again()
			s.StopProcess("app")
			s.helper = s.helper.Restarted()
			again()
			s.Launch(world.Only("app"))
			// Another record comes to be, so the app has gone through its queue again.
			s.awaitItem(s.start(s.newTask()))
			s.settle()
			again()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.AppliedIsTerminal, judge.NotesOnRecord("WR-24", 2)),
	},
}
