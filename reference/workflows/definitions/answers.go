package definitions

import (
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Operation is what the workflow tools answer, and all of it (WF-23): the
// operation's ID and binding, its state, how many of its steps are where, and a
// safe code. A refusal has the code alone.
type Operation struct {
	Operation string     `json:"operation,omitempty"`
	Target    string     `json:"target,omitempty"`
	State     string     `json:"state,omitempty"`
	Steps     *Counts    `json:"steps,omitempty"`
	Code      ports.Code `json:"code,omitempty"`
}

// Counts are numbers of steps.
type Counts struct {
	Total    int `json:"total"`
	Pending  int `json:"pending"`
	InFlight int `json:"in_flight"`
	Done     int `json:"done"`
	Failed   int `json:"failed"`
	Unknown  int `json:"unknown"`
}

// View is the answer about an operation.
func View(o ports.Operation) Operation {
	return Operation{
		Operation: o.ID, Target: o.Target, State: string(o.State), Code: o.Code,
		Steps: &Counts{
			Total: len(o.Steps), Pending: o.Count(ports.Pending), InFlight: o.Count(ports.InFlight),
			Done: o.Count(ports.Done), Failed: o.Count(ports.StepFail), Unknown: o.Count(ports.Unknown),
		},
	}
}

// Refused is the answer of a refusal.
func Refused(code ports.Code) Operation { return Operation{Code: code} }

// IsError says whether the answer is a refusal by structure.
func (o Operation) IsError() bool { return o.State == "" }

// Call is what an ordinary tool answers.
type Call struct {
	Ending ports.Ending    `json:"ending"`
	Code   ports.Code      `json:"code,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	*ports.Confirmation
}

// IsError says whether the call did not do what was asked.
func (c Call) IsError() bool { return c.Ending != ports.Succeeded && c.Ending != ports.Previewed }

// PipelineResult is what mcp_pipeline answers.
type PipelineResult struct {
	Total int        `json:"total"`
	Done  int        `json:"done"`
	Code  ports.Code `json:"code,omitempty"` // of the call that it stopped at
}

// IsError says whether a call did not succeed.
func (p PipelineResult) IsError() bool { return p.Code != "" }

func count(description string) object {
	return object{"type": "integer", "minimum": 0, "maximum": MaxSteps, "description": description}
}

func answer(properties object) object {
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
		"properties": properties,
	}
}

func operationAnswer() object {
	o := answer(object{
		"operation": object{"type": "string"}, "target": object{"type": "string"},
		"state": enum(ports.States()), "code": enum(ports.Codes()),
		"steps": object{
			"type": "object", "additionalProperties": false, "required": []string{"total", "pending", "in_flight", "done", "failed", "unknown"},
			"properties": object{
				"total": count("how many steps there are"), "pending": count("not begun"), "in_flight": count("under way"),
				"done": count("done"), "failed": count("definitely not done"), "unknown": count("in doubt"),
			},
		},
	})
	o["anyOf"] = []object{{"required": []string{"operation", "target", "state", "steps"}}, {"required": []string{"code"}}}
	return o
}

func callAnswer() object {
	o := answer(object{
		"ending": enum(ports.Endings()),
		"code":   enum(ports.Codes()), "result": object{"type": "object"},
		"confirm_hash": object{"type": "string"}, "confirm_id": object{"type": "string"},
		"expires_at": object{"type": "string", "format": "date-time"},
	})
	o["required"] = []string{"ending"}
	return o
}

func pipelineAnswer() object {
	o := answer(object{"total": count("how many calls there were"), "done": count("how many succeeded"), "code": enum(ports.Codes())})
	o["required"] = []string{"total", "done"}
	return o
}
