package editor

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-mcp/holdfast/reference/editor/definitions"
	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
	"github.com/holdfast-mcp/holdfast/reference/serving"
)

func newServer(p Ports, e *Editor, log *slog.Logger) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "holdfast-reference-editor", Title: "holdfast reference editor", Version: fmt.Sprintf("%d.0.0", definitions.Version)},
		&mcp.ServerOptions{
			Instructions: "The draft of a trip, in an editor that a person works in too. Read it first; a change carries the revision that it starts from and a fresh command ID. OUTCOME_UNKNOWN means that the change may have been applied: send no other one, and recheck it with the tool and the ID that the answer names.",
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	for _, spec := range p.Tools {
		server.AddTool(serving.Tool(spec, false), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			a := call(ctx, p, e, spec.Name, req.Params.Arguments)
			if a.isError {
				log.Info("not done", "tool", spec.Name, "outcome", a.outcome, "code", a.code)
			}
			return serving.Result(a.content, a.isError)
		})
	}
	return server
}

// said is what any tool answers.
type said struct {
	content any
	isError bool
	outcome ports.Outcome
	code    ports.Code
}

// arguments are those of all tools.
type arguments struct {
	Draft            string      `json:"draftId"`
	ExpectedRevision int         `json:"expectedRevision"`
	Command          string      `json:"commandId"`
	Patch            ports.Patch `json:"patch"`
	GiveUp           bool        `json:"giveUp"`
}

func call(ctx context.Context, p Ports, e *Editor, tool string, raw json.RawMessage) said {
	var a arguments
	wrong := p.Checking.Check(tool, raw)
	if err := json.Unmarshal(raw, &a); err != nil && wrong == "" {
		wrong = "the arguments are not what the tool takes"
	}
	if tool == ports.GetDraft {
		if wrong != "" {
			return said{draftSaid{Draft: a.Draft, Code: ports.CodeInvalid, Reason: wrong}, true, "", ports.CodeInvalid}
		}
		v, err := e.Get(ctx, a.Draft)
		return draft(a.Draft, v, err)
	}
	if wrong != "" {
		return answered(ports.Answer{Outcome: ports.Refused, CommandID: a.Command, DraftID: a.Draft, Code: ports.CodeInvalid, Reason: wrong})
	}
	switch tool {
	case ports.UpdateDraft:
		return answered(e.Mutate(ctx, ports.Command{Draft: a.Draft, ID: a.Command, Kind: ports.Update, ExpectedRevision: a.ExpectedRevision, Patch: a.Patch}))
	case ports.SubmitTrip:
		return answered(e.Mutate(ctx, ports.Command{Draft: a.Draft, ID: a.Command, Kind: ports.Submission, ExpectedRevision: a.ExpectedRevision}))
	case ports.RecheckSubmission:
		return answered(e.Recheck(ctx, ports.Recheck{Kind: ports.Submission, Draft: a.Draft, Command: a.Command, GiveUp: a.GiveUp}))
	}
	return answered(e.Recheck(ctx, ports.Recheck{Kind: ports.Update, Draft: a.Draft, Command: a.Command, GiveUp: a.GiveUp}))
}

func answered(a ports.Answer) said { return said{a, a.Outcome.IsError(), a.Outcome, a.Code} }

// draftSaid is what get_trip_draft answers.
type draftSaid struct {
	Draft             string          `json:"draftId"`
	Revision          int             `json:"revision,omitempty"`
	Status            string          `json:"status,omitempty"`
	Saved             *ports.Fields   `json:"saved,omitempty"`
	HasUnsavedChanges *bool           `json:"hasUnsavedChanges,omitempty"`
	State             ports.State     `json:"state,omitempty"`
	Unresolved        *ports.Attached `json:"unresolved,omitempty"`
	Code              ports.Code      `json:"code,omitempty"`
	Reason            string          `json:"reason,omitempty"`
}

// draft says what the editor holds. One that holds no values says why.
func draft(id string, v ports.View, err error) said {
	if err != nil {
		v = ports.View{Code: CodeOf(err)}
		v.Reason = ports.MeaningOf(v.Code)
	}
	d := draftSaid{Draft: id, State: v.State, Unresolved: v.Unresolved, Code: v.Code, Reason: v.Reason}
	if v.Revision == 0 {
		if d.Code == "" { // an operation is in flight that reads them
			d.Code, d.Reason = ports.CodeBusy, ports.MeaningOf(ports.CodeBusy)
		}
		return said{d, true, "", d.Code}
	}
	d.Revision, d.Status, d.Saved, d.HasUnsavedChanges = v.Revision, v.Status, &v.Saved, &v.HasUnsavedChanges
	return said{d, false, "", d.Code}
}
