package definitions

import "github.com/holdfast-mcp/holdfast/reference/workflows/ports"

// pollInterval is after how many milliseconds a caller may ask for a task again.
const pollInterval = 500

// TaskState is one line of the table that makes a task out of an operation.
type TaskState struct {
	State  ports.State
	Status ports.TaskStatus
	// Why is the task's message: what the status means here, in one sentence that
	// holds nothing of a caller's (WF-23).
	Why string
}

// TaskStates is the whole table (WF-29).
func TaskStates() []TaskState {
	return []TaskState{
		{ports.Running, ports.Working, "running: its steps run"},
		{ports.Interrupted, ports.InputRequired, "interrupted: nobody runs it; workflow_resume goes on with it"},
		{ports.NeedsReview, ports.InputRequired, "needs_review: a person must look at the chat; nothing of it runs again"},
		{ports.Completed, ports.TaskCompleted, "completed: every step is done"},
		{ports.Failed, ports.TaskFailed, "failed: a step was definitely not done"},
		{ports.Cancelled, ports.TaskCancelled, "cancelled: stopped, with no write in doubt"},
	}
}

// Tasks shows operations by the table.
type Tasks struct{}

// Task is how an operation stands, as a task.
func (Tasks) Task(o ports.Operation) ports.Task {
	t := ports.Task{ID: o.ID, Created: o.Created, Updated: o.Updated}
	for _, line := range TaskStates() {
		if line.State == o.State {
			t.Status, t.Message = line.Status, line.Why
		}
	}
	if o.Code != "" {
		t.Message += " (" + string(o.Code) + ")"
	}
	if !t.Status.Terminal() {
		t.Poll = pollInterval
	}
	return t
}
