package workrecords

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var forward = []suites.Test{
	{
		ID: "WR-40/a-whole-life", Clauses: []string{"WR-40"},
		Title:   "from issue to deletion and into the next record, across restarts, no anchor steps back and one is usable",
		Faults:  []string{"login-held"},
		Missing: suites.NoAction("delete"),
		Drive: on(func(s *scene) {
			login := s.beginWithLoginHeld()
			t := s.newTask()
			first := s.start(t)
			s.watchTask(t, first, "provisional")
			s.get(first, held)
			s.start(s.again(t))
			login.Release()
			s.watchTask(t, first, "live")
			s.get(first, held)
			s.start(s.again(t))
			s.restartBoth()
			s.start(s.again(t))
			s.watchTask(t, first, "live")

			s.Act("delete", map[string]string{"item_id": first})
			s.watchTask(t, first, "dead")
			s.restartBoth()
			s.noteAbout("dead", first)
			s.get(first, early)
			s.lookAtTasks(t)

			second := s.start(s.again(t))
			s.watchTask(t, second, "live")
			s.restartBoth()
			s.start(s.again(t))
			s.start(t)
			s.settle()
			s.lookAtEnd()
			s.lookAtTasks(t)
			s.Look("anchors", converged, nil)
		}),
		Judge: judge.All(judge.Placed("login-held", 1), judge.OnlyForward),
	},
}

// watchTask watches the anchors of a task until one of them has come to a state.
func (s *scene) watchTask(t task, id, state string) {
	s.Watch("a "+state+" anchor of item "+id, "anchors", held, map[string]string{"task_key": t.key}, func(rows []map[string]any) bool {
		return slices.ContainsFunc(rows, func(row map[string]any) bool { return row["item_id"] == id && row["state"] == state })
	})
}

// restartBoth starts helper and app again, and waits until the app has gone
// through its queue: a record of another task comes to be.
func (s *scene) restartBoth() {
	s.StopProcess("app")
	s.helper = s.helper.Restarted()
	s.Launch(world.Only("app"))
	s.awaitItem(s.start(s.newTask()))
}
