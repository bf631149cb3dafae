// Package definitions is what the editor promises about its tools before any is
// called: closed argument schemas, and answer schemas with every word as an enum.
package definitions

import (
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// Version is the version of the promises.
const Version = 1

// object is a JSON object of a schema; marshalling sorts its names.
type object map[string]any

func (o object) raw() json.RawMessage {
	b, err := json.Marshal(o)
	if err != nil {
		panic("schema of literals does not marshal: " + err.Error()) // a programming error of this file
	}
	return b
}

func closed(required []string, properties object) object {
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"properties": properties, "required": required, "additionalProperties": false,
	}
}

// name is a short identifier: it goes into paths of URLs.
func name(description string) object {
	return object{"type": "string", "minLength": 1, "maxLength": 128, "pattern": `^[A-Za-z0-9][A-Za-z0-9_.:-]*$`, "description": description}
}

func enum[T ~string](words []T) object { return object{"type": "string", "enum": words} }

func revision(description string) object {
	return object{"type": "integer", "minimum": 1, "description": description}
}

var (
	draftID   = name("the draft")
	commandID = name("your ID of this one change: a fresh one for each, and the same again when it is asked about")
	expected  = revision("the saved revision that the change starts from, as get_trip_draft says it")
)

func patch() object {
	fields := object{}
	for _, f := range ports.FieldNames() {
		fields[string(f)] = object{"type": "string", "maxLength": 2000}
	}
	return object{"type": "object", "properties": fields, "additionalProperties": false, "minProperties": 1, "description": "the fields to set, and what to"}
}

// texts are the texts of a draft, all of them.
func texts(description string) object {
	all := object{}
	for _, f := range ports.FieldNames() {
		all[string(f)] = object{"type": "string"}
	}
	return object{"type": "object", "properties": all, "required": ports.FieldNames(), "additionalProperties": false, "description": description}
}

// draftAnswer is what get_trip_draft answers; a refusal has a code and no revision.
func draftAnswer() object {
	o := closed([]string{"draftId"}, object{
		"draftId": object{"type": "string"}, "revision": revision("the saved revision that the editor knows"),
		"status": object{"type": "string", "enum": []string{"draft", "submitted"}},
		"saved":  texts("the saved values that the editor knows"), "hasUnsavedChanges": object{"type": "boolean", "description": "the person sees something that is not saved"},
		"state": enum(ports.States()),
		"unresolved": object{
			"type": "object", "additionalProperties": false, "required": []string{"commandId", "kind"}, "description": "the command whose outcome is unknown",
			"properties": object{"commandId": object{"type": "string"}, "kind": enum(ports.Kinds())},
		},
		"code": enum(ports.Codes()), "reason": object{"type": "string"},
	})
	o["anyOf"] = []object{{"required": []string{"revision", "status", "saved", "hasUnsavedChanges", "state"}}, {"required": []string{"code"}}}
	return o
}

// commandAnswer is what mutations and rechecks answer.
func commandAnswer() object {
	rechecks := []string{ports.RecheckUpdate, ports.RecheckSubmission}
	return closed([]string{"outcome"}, object{
		"outcome": enum(ports.Outcomes()), "commandId": object{"type": "string"}, "draftId": object{"type": "string"},
		"fromRevision": revision("of a confirmed command: where it started from"), "toRevision": revision("and where it led to"),
		"code": enum(ports.Codes()), "reason": object{"type": "string"},
		"recheck": closed([]string{"tool", "draftId", "commandId"}, object{
			"tool": enum(rechecks), "draftId": object{"type": "string"}, "commandId": object{"type": "string"},
		}),
	})
}

// Definitions are the tools, not compiled yet.
func Definitions() []toolspec.Spec {
	answer := commandAnswer().raw()
	asked := closed([]string{"draftId", "commandId"}, object{
		"draftId": draftID, "commandId": name("the command whose outcome is unknown"),
		"giveUp": object{"type": "boolean", "description": "if there is no receipt, have the command refused for good, so that it is known not to be applied"},
	}).raw()
	return []toolspec.Spec{
		{
			Name: ports.GetDraft, Title: "Read the draft", Access: toolspec.Read,
			Description: "Says what is saved, at which revision, whether the person has unsaved changes, and whether an outcome is unknown.",
			Annotations: toolspec.Annotations{ReadOnly: true, Idempotent: true},
			Input:       closed([]string{"draftId"}, object{"draftId": draftID}).raw(), Output: draftAnswer().raw(),
		},
		{
			Name: ports.UpdateDraft, Title: "Update the draft", Access: toolspec.Write,
			Description: "Sets fields of a draft at a revision. OUTCOME_UNKNOWN means that it may have been applied: do not repeat it, recheck it with recheck_trip_update.",
			Annotations: toolspec.Annotations{Destructive: true, Idempotent: true},
			Input:       closed([]string{"draftId", "expectedRevision", "commandId", "patch"}, object{"draftId": draftID, "expectedRevision": expected, "commandId": commandID, "patch": patch()}).raw(), Output: answer,
		},
		{
			Name: ports.SubmitTrip, Title: "Submit the trip", Access: toolspec.Write,
			Description: "Submits a draft at a revision. OUTCOME_UNKNOWN means that it may have been submitted: do not repeat it, recheck it with recheck_trip_submission.",
			Annotations: toolspec.Annotations{Destructive: true, Idempotent: true},
			Input:       closed([]string{"draftId", "expectedRevision", "commandId"}, object{"draftId": draftID, "expectedRevision": expected, "commandId": commandID}).raw(), Output: answer,
		},
		{
			Name: ports.RecheckUpdate, Title: "Recheck an update", Access: toolspec.Write,
			Description: "Looks up the receipt of the update whose outcome is unknown in this draft's editor. It sends no update.",
			Annotations: toolspec.Annotations{Idempotent: true}, Input: asked, Output: answer,
		},
		{
			Name: ports.RecheckSubmission, Title: "Recheck a submission", Access: toolspec.Write,
			Description: "Looks up the receipt of the submission whose outcome is unknown in this draft's editor. It submits nothing.",
			Annotations: toolspec.Annotations{Idempotent: true}, Input: asked, Output: answer,
		},
	}
}

// Compile makes the set of all tools.
func Compile() (*toolspec.Set, error) { return toolspec.Compile(Version, Definitions()) }
