package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

var lifecycle = []suites.Test{
	{
		ID: "WR-13/deleted-by-the-person", Clauses: []string{"WR-13", "WR-15"},
		Title: "the anchor of a deleted item is dead with its reason, and what was queued ends failed",
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			id := s.start(t)
			s.awaitItem(id)
			s.deleteWithQueue(id, t)
			s.noteAbout("never-issued", s.Word("never-issued"))
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.DeletedIsDead, judge.TwoErrors),
	},
	{
		ID: "WR-14/new-start-after-deletion", Clauses: []string{"WR-14"},
		Title: "a start under the task key of a dead anchor issues a new ID, and the old one stays dead",
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			id := s.start(t)
			s.awaitItem(id)
			s.delete(id, t)
			s.startBy(s.helper, s.starting(s.again(t)).With("after", id))
			s.settle()
			s.helper = s.helper.Restarted()
			s.lookAtEnd()
		}),
		Judge: judge.NewAfterDead,
	},
	{
		ID: "WR-15/never-issued-and-dead", Clauses: []string{"WR-15"},
		Title: "an ID that was never issued and a dead one get different structured errors",
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			id := s.start(t)
			s.awaitItem(id)
			s.delete(id, t)
			s.noteAbout("dead", id)
			s.noteAbout("never-issued", s.Word("never-issued"))
		}),
		Judge: judge.TwoErrors,
	},
}
