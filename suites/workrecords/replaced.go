package workrecords

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// answered is the moment at which a call has come back, and nobody but the helper
// can have done anything.
const answered = "answered"

var replaced = []suites.Test{
	{
		ID: "WR-16/record-is-live", Clauses: []string{"WR-16"},
		Title: "a start on a task whose record is live returns that record and makes no second item",
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			id := s.start(t)
			s.awaitItem(id)
			s.settle()
			s.Look("item", early, map[string]string{"item_id": id})
			s.startBy(s.helper, s.starting(s.again(t)).With("beside", id))
			s.helper = s.helper.Restarted()
			s.startBy(s.helper, s.starting(s.again(t)).With("beside", id))
			s.noteAbout("never-issued", s.Word("never-issued"))
			s.settle()
			s.lookAtEnd()
			s.lookAtTasks(t)
		}),
		Judge: judge.All(judge.LiveIsReturned, judge.NoRawStorageErrors("WR-16")),
	},
	{
		ID: "WR-16/item-is-gone", Clauses: []string{"WR-16"},
		Title:   "a start that finds its live anchor's item gone marks it dead and answers with a new ID in that same call",
		Faults:  []string{"store-busy", "app-still"},
		Missing: suites.First(noStore("sidecar"), noWire(world.AppWire)),
		Drive: on(func(s *scene) {
			s.begin()
			t := s.newTask()
			id := s.start(t)
			s.awaitItem(id)
			s.settle()
			// While the sidecar is occupied the app deletes the item and cannot tell the anchor.
			busy := s.Occupy("sidecar")
			s.Act("delete", map[string]string{"item_id": id})
			s.Mark("deleted", map[string]any{"item_id": id, "task_key": t.key})
			s.Look("anchor", held, map[string]string{"item_id": id})
			s.Look("item", held, map[string]string{"item_id": id})
			// The app stands still until the store was looked at, so that what is there is
			// the work of that one call.
			s.know(s.helper.StillOnceAsked(s.starting(s.again(t)).With("after", id), id, busy.Release, func(history.Operation) {
				s.Look("anchors", answered, map[string]string{"task_key": t.key})
			}))
			s.noteAbout("never-issued", s.Word("never-issued"))
			s.settle()
			s.lookAtEnd()
			s.lookAtTasks(t)
		}),
		Judge: judge.All(judge.Placed("store-busy", 1), judge.Placed("app-still", 1),
			judge.GoneIsReplaced, judge.NoRawStorageErrors("WR-16")),
	},
}

// noWire says that a spec needs to see what goes from one process to another.
func noWire(name string) func(*target.File) string {
	return func(f *target.File) string {
		if _, there := f.Wires[name]; !there {
			return fmt.Sprintf("the target file has no wire %q", name)
		}
		return ""
	}
}
