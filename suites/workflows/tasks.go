package workflows

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

var tasks = []suites.Test{
	{
		ID: "WF-29/running-and-completed", Clauses: []string{"WF-29"}, NotFor: noTasks, Faults: []string{"outside-held"},
		Title: "an operation that was started as a task is the same in both views while its step is held, and once it is completed",
		Drive: on(func(s *scene) {
			s.beginWithTasks()
			first, second := s.step("write"), s.step("write")
			request := s.HoldOutside(first.text)
			id := s.startTask(first, second)
			request.Await()
			s.bothViews(id, held)
			request.Release()
			s.settle(id)
			s.taskResult(id, converged, s.bothViews(id, converged))
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.TasksAgree(map[string]string{held: "running", converged: "completed"})),
	},
	{
		ID: "WF-29/failed", Clauses: []string{"WF-29"}, NotFor: noTasks, Faults: []string{"outside-refused"},
		Title: "an operation whose step the outside service refused is failed in both views",
		Drive: on(func(s *scene) {
			s.beginWithTasks()
			first, second := s.step("write"), s.step("write")
			refusal := s.RefuseOutside(first.text, 403)
			id := s.startTask(first, second)
			s.settle(id)
			refusal.Given()
			s.taskResult(id, converged, s.bothViews(id, converged))
		}),
		Judge: judge.All(judge.Placed("outside-refused", 1), judge.TasksAgree(map[string]string{converged: "failed"})),
	},
	{
		ID: "WF-29/cancelled", Clauses: []string{"WF-29"}, NotFor: noTasks, Faults: []string{"outside-held"},
		Title:   "an operation that is cancelled as a task runs in both views until its step has finished, and is cancelled in both then",
		Missing: noKind("unabortable"),
		Drive: on(func(s *scene) {
			s.beginWithTasks()
			first, second := s.step("unabortable"), s.step("write")
			request := s.HoldOutside(first.text)
			id := s.startTask(first, second)
			request.Await()
			s.server.Task("cancel", s.asking("task cancel", id, held))
			s.bothViews(id, held)
			request.Release()
			s.settle(id)
			s.taskResult(id, converged, s.bothViews(id, converged))
		}),
		Judge: judge.All(judge.Placed("outside-held", 1), judge.TasksAgree(map[string]string{held: "running", converged: "cancelled"})),
	},
	{
		ID: "WF-29/interrupted-and-reviewed", Clauses: []string{"WF-29"}, NotFor: noTasks, Faults: []string{"kill-at-request"},
		Title: "an operation that was started without a task is the same in both views after its server was killed, and once it needs a review",
		Drive: on(func(s *scene) {
			s.beginWithTasks()
			first, second := s.step("write"), s.step("write")
			id := s.know(s.server.KilledWhileHeld(s.starting(first, second), first.text))
			s.again()
			s.bothViews(id, restarted)
			s.ask("resume", id, resumed)
			s.settle(id)
			s.bothViews(id, resumed)
			s.server = s.server.Restarted()
			s.bothViews(id, converged)
		}),
		Judge: judge.All(judge.Placed("kill-at-request", 1), judge.TasksAgree(map[string]string{restarted: "interrupted", resumed: "needs_review", converged: "needs_review"})),
	},
	{
		ID: "WF-03/a-foreign-task-is-an-unknown-one", Clauses: []string{"WF-03"}, NotFor: noTasks,
		Title:   "under another profile or target a task is answered as one that never was",
		Missing: suites.First(noForeignBinding, noTaskMeta),
		Drive: on(func(s *scene) {
			s.beginWithTasks()
			id := s.startTask(s.step("write"))
			s.settle(id)
			s.foreignTask(id)
		}),
		Judge: judge.ForeignIsUnknown,
	},
}

// noTasks says why Tasks cannot be asked for.
func noTasks(f *target.File) string {
	switch {
	case f.Profiles.Workflows.Tasks == nil:
		return "the target file says of no Tasks that they show operations (profiles.workflows.tasks)"
	case f.Revision != mcp.Revision20251125:
		return fmt.Sprintf("Tasks are of revision %s, and the target is asked for %s", mcp.Revision20251125, f.Revision)
	}
	return ""
}

// noTaskMeta says that a request about a task does not tell for whom it asks.
func noTaskMeta(f *target.File) string {
	if len(f.Profiles.Workflows.Tasks.Meta) > 0 {
		return ""
	}
	return "the target file does not say how a request about a task names its binding (profiles.workflows.tasks.meta)"
}

// beginWithTasks begins with a server that offers Tasks.
func (s *scene) beginWithTasks() {
	s.begin()
	s.server.NeedsTasks()
}

// startTask starts an operation as a task and returns its ID, "" where there was none.
func (s *scene) startTask(steps ...step) string {
	return s.know(s.server.StartTask(s.starting(steps...)))
}

// bothViews asks for an operation and for its task at a moment, and for the
// operation again: what is between two equal answers was so all the time. It returns
// the status of the task.
func (s *scene) bothViews(id, moment string) string {
	if id == "" {
		return "" // the start gave out none, and the judges say so
	}
	s.ask("status", id, moment)
	status := s.server.Task("get", s.asking("task get", id, moment)).Text("task")
	s.server.ListedTask(s.asking("task list", id, moment))
	s.ask("status", id, moment)
	return status
}

// taskResult asks for the result of a task that has ended by its status: every other
// is waited for.
func (s *scene) taskResult(id, moment, status string) {
	if slices.Contains([]string{"completed", "failed", "cancelled"}, status) {
		s.server.TaskResult(s.asking("task result", id, moment))
	}
}

// foreignTask asks under every other binding about a task, and about one that never
// was. Its owner asks behind that.
func (s *scene) foreignTask(id string) {
	if id == "" {
		return
	}
	const moment = "finished"
	about := map[string]string{"operation_id": id}
	s.Look("checkpoint", before+" "+moment, about)
	for _, binding := range []string{otherProfile, otherTarget} {
		if _, there := s.Target.Profiles.Workflows.Bindings[binding]; !there {
			continue
		}
		for _, asked := range []struct{ about, id string }{{"an operation", id}, {"none", neverWas(id)}} {
			params := s.bound(binding, "operation_id", asked.id, "moment", moment, "binding", binding, "about", asked.about, "owned", id)
			s.server.Task("get", world.Act{Role: "task get", Params: params})
			s.server.Task("cancel", world.Act{Role: "task cancel", Params: params})
			s.server.TaskResult(world.Act{Role: "task result", Params: params})
		}
	}
	s.Look("checkpoint", after+" "+moment, about)
	s.server.Task("get", s.asking("task get", id, moment))
	s.ask("status", id, moment)
}
