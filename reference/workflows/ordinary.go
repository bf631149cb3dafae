package workflows

import (
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// directCall makes a call of an ordinary tool take the way that a step takes:
// profile and target go into the binding, the rest are its arguments, and the
// middleware says what may be in them. A write without the word that confirms it
// asks for a preview.
func directCall(tool string, raw json.RawMessage) ports.Call {
	call := ports.Call{Tool: tool, Arguments: raw, Attempt: 1}
	var rest map[string]json.RawMessage
	var b ports.Binding
	if json.Unmarshal(raw, &rest) != nil || json.Unmarshal(rest["profile"], &b.Profile) != nil || json.Unmarshal(rest["target"], &b.Target) != nil {
		return call // bound to nobody, so that the validation refuses it
	}
	delete(rest, "profile")
	delete(rest, "target")
	arguments, err := json.Marshal(rest)
	if err != nil {
		return call
	}
	_, confirmed := rest[definitions.Confirm]
	call.Binding, call.Arguments = b, arguments
	call.Preview = definitions.AccessOf(tool) == ports.Write && !confirmed
	return call
}

func callAnswer(o ports.Outcome) answer {
	a := definitions.Call{Ending: o.Ending, Code: o.Code, Result: o.Result}
	if o.Ending == ports.Previewed {
		a.Result, a.Confirmation = nil, &ports.Confirmation{}
		if json.Unmarshal(o.Result, a.Confirmation) != nil {
			a = definitions.Call{Ending: ports.Unsent, Code: ports.CodeStoreUnreadable}
		}
	}
	return answer{a, a.IsError(), a.Code}
}
