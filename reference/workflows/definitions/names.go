// Package definitions is what the server promises about its tools before any is
// called: strict argument schemas, answer schemas with every word as an enum, and
// the access that each tool needs.
package definitions

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// The ordinary tools.
const (
	ReadMessages    = "read_messages"
	Publish         = "publish"
	UpdateMessage   = "update_message"
	SetTopic        = "set_topic"
	Nudge           = "nudge"
	ComposerPublish = "composer_publish"
)

// The tools that run others.
const (
	Pipeline       = "mcp_pipeline"
	WorkflowStart  = "workflow_start"
	WorkflowStatus = "workflow_status"
	WorkflowResume = "workflow_resume"
	WorkflowCancel = "workflow_cancel"
)

// MaxSteps is how many steps a definition may have (WF-07).
const MaxSteps = 128

// Ordinary lists the tools that can be steps.
func Ordinary() []string {
	return []string{ComposerPublish, Nudge, Publish, ReadMessages, SetTopic, UpdateMessage}
}

// AccessOf is what a profile needs to use a tool. A tool that nobody knows counts
// as one that writes.
func AccessOf(tool string) ports.Access {
	if tool == ReadMessages || tool == WorkflowStatus {
		return ports.Read
	}
	return ports.Write
}

// Rules admits steps.
type Rules struct{}

// Admit refuses a wrong number of steps, and every step that is no ordinary tool:
// a workflow inside a workflow could grow without end (WF-08).
func (Rules) Admit(steps []ports.Step) ports.Code {
	if len(steps) == 0 || len(steps) > MaxSteps {
		return ports.CodeInvalidArguments
	}
	for _, s := range steps {
		if !slices.Contains(Ordinary(), s.Tool) {
			return ports.CodeStepRefused
		}
	}
	return ""
}
