package desk

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

// answer says how an operation ended to whoever asked for it.
func answer(c ports.Command, how ports.Ending) ports.Answer {
	a := ports.Answer{Outcome: how.Outcome, CommandID: c.ID, DraftID: c.Draft, Code: how.Code, Reason: reason(how)}
	switch how.Outcome {
	case ports.Confirmed:
		a.FromRevision, a.ToRevision = how.Receipt.FromRevision, how.Receipt.ToRevision
	case ports.Unknown:
		if how.Code != ports.CodeStaleGeneration { // which is refused
			a.Recheck = pointer(c)
			a.Reason += fmt.Sprintf("; whether command %s was applied is not known; send no other mutation, and call %s with its ID", c.ID, a.Recheck.Tool)
		}
	}
	return a
}

func pointer(c ports.Command) *ports.Pointer {
	return &ports.Pointer{Tool: c.Kind.RecheckTool(), Draft: c.Draft, Command: c.ID}
}

func reason(how ports.Ending) string {
	text := ports.MeaningOf(how.Code)
	if how.Detail != "" {
		text += ": " + how.Detail
	}
	return text
}

// Refused is the answer of something that was not begun. Where an unresolved
// outcome stands in the way, it says how that is rechecked (RC-22).
func (d *Desk) Refused(command string, code ports.Code) ports.Answer {
	a := ports.Answer{Outcome: ports.Refused, CommandID: command, DraftID: d.place.Draft, Code: code, Reason: ports.MeaningOf(code)}
	if code == ports.CodeUnresolved && d.unresolved != nil {
		a.Recheck = pointer(d.unresolved.Command)
	}
	return a
}
