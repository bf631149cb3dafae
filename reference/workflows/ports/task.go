package ports

import "time"

// TaskStatus is where a task of MCP Tasks (revision 2025-11-25) stands.
type TaskStatus string

// The statuses of a task. Completed, failed and cancelled never change.
const (
	Working       TaskStatus = "working"
	InputRequired TaskStatus = "input_required"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskCancelled TaskStatus = "cancelled"
)

// Terminal says whether the status never changes.
func (s TaskStatus) Terminal() bool { return s != Working && s != InputRequired }

// Task is an operation as MCP Tasks show it. Nothing of it is stored: it is made of
// the operation whenever somebody asks (WF-29).
type Task struct {
	ID      string     `json:"taskId"`
	Status  TaskStatus `json:"status"`
	Message string     `json:"statusMessage"`
	Created time.Time  `json:"createdAt"`
	Updated time.Time  `json:"lastUpdatedAt"`
	// TTL is null: an operation is kept for as long as its store.
	TTL *int64 `json:"ttl"`
	// Poll is after how many milliseconds another look is worth it; 0 is left out.
	Poll int `json:"pollInterval,omitempty"`
}

// Tasking shows an operation as a task.
type Tasking interface{ Task(Operation) Task }
