package workrecords

import (
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var earlyEnds = []suites.Test{
	{
		ID: "WR-37/ended-before-it-exists", Clauses: []string{"WR-37"},
		Title: "complete and cancel that come before the item apply in order; a note behind them is appended and changes no status",
		Drive: on(func(s *scene) {
			s.beginWithoutApp()
			s.ended("complete")
			s.ended("cancel")
			s.ended("cancel", "complete")
			s.ended("complete", "cancel")
			s.note(s.ended("complete"), s.Word("a note after complete"))
			s.note(s.ended("complete", "cancel"), s.Word("a note after cancel"))
			s.lookAtAccepted(early)
			s.Launch(world.Only("app"))
			s.settle()
			s.lookAtEnd()
		}),
		Judge: judge.All(judge.EarlyEndsInOrder, judge.AllApplied("WR-37", 16), judge.NotesOnRecord("WR-37", 2)),
	},
}

// ended starts a task and ends it, in each of these ways in turn.
func (s *scene) ended(roles ...string) string {
	id := s.start(s.newTask())
	for _, role := range roles {
		s.helper.Do(s.following(role, id, ""))
	}
	return id
}
