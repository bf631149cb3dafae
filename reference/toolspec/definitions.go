package toolspec

import (
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

// The codes that only the helper answers with; the others are stored failures.
const (
	CodeInvalidArguments   sidecar.Code = "invalid_arguments"   // permanent: against the inputSchema
	CodeAccessMissing      sidecar.Code = "access_missing"      // permanent: the caller lacks the tool's access
	CodeNeverIssued        sidecar.Code = "never_issued"        // permanent: no such item ID
	CodeKeyReused          sidecar.Code = "key_reused"          // permanent: key of other content
	CodeSidecarBusy        sidecar.Code = "sidecar_busy"        // transient: locked by another writer
	CodeSidecarStorage     sidecar.Code = "sidecar_storage"     // transient: no room, or not writable
	CodeSidecarUnreadable  sidecar.Code = "sidecar_unreadable"  // permanent: damaged
	CodeAccountUnavailable sidecar.Code = "account_unavailable" // blocked: the record is another account's
	CodeCancelled          sidecar.Code = "cancelled"           // transient: cancelled before anything was stored
	CodeNoStagingRoot      sidecar.Code = "no_staging_root"     // permanent: attachments are not set up
)

// Codes are all codes that an answer may carry.
func Codes() []sidecar.Code {
	return append([]sidecar.Code{
		CodeInvalidArguments, CodeAccessMissing, CodeNeverIssued, CodeKeyReused, CodeSidecarBusy, CodeSidecarStorage,
		CodeSidecarUnreadable, CodeAccountUnavailable, CodeCancelled, CodeNoStagingRoot,
	}, sidecar.ExecutorCodes()...)
}

// CommandStates are the answer's words for how far a command has come. A stored
// pending intent is answered as queued.
func CommandStates() []string { return []string{"queued", "retrying", "applied", "failed"} }

// AnchorStates are the answer's words for how far an item ID has come.
func AnchorStates() []sidecar.AnchorState {
	return []sidecar.AnchorState{sidecar.Provisional, sidecar.Live, sidecar.Dead}
}

// object is a JSON object of a schema; marshalling sorts its names.
type object map[string]any

func (o object) raw() json.RawMessage {
	b, err := json.Marshal(o)
	if err != nil {
		panic("schema of literals does not marshal: " + err.Error()) // a programming error of this file
	}
	return b
}

// name is a short identifier: no control characters, so that it can be a key.
func name(limit int, description string) object {
	return object{"type": "string", "minLength": 1, "maxLength": limit, "pattern": `^\P{Cc}+$`, "description": description}
}

func text(limit int, description string) object {
	return object{"type": "string", "minLength": 1, "maxLength": limit, "description": description}
}

func itemID() object { return name(200, "the item ID that work_start answered with") }

func key() object {
	return name(200, "names this one command: repeat it with the same key to be sure that it takes effect once")
}

func closed(required []string, properties object) json.RawMessage {
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"properties": properties, "required": required, "additionalProperties": false,
	}.raw()
}

// Definitions are the tools of the current contract version, not compiled yet.
func Definitions() []Spec {
	keyed := Annotations{Idempotent: true}
	changing := Annotations{Idempotent: true, Destructive: true}
	command := commandAnswer().raw()
	return []Spec{
		{
			Name: WorkStart, Title: "Start work", Access: Write, Annotations: keyed, Output: command,
			Description: "Opens the work record of a task, or returns the one that the task already has. The item ID is valid at once, also for notes and status, before the record exists.",
			Input: closed([]string{"task_key", "title", "idempotency_key"}, object{
				"task_key": name(200, "the task that the record belongs to"), "title": text(500, "what a person sees as the record's title"),
				"note": text(20000, "a first note, kept with the start"), "idempotency_key": key(),
			}),
		},
		{
			Name: WorkNote, Title: "Add a note", Access: Write, Annotations: keyed, Output: command,
			Description: "Appends a note to a record. Nothing that is there changes.",
			Input: closed([]string{"item_id", "text", "idempotency_key"}, object{
				"item_id": itemID(), "text": text(20000, "the note"), "idempotency_key": key(),
				"attachment": name(1024, "a staged file, as a path relative to the staging root and inside it"),
			}),
		},
		{
			Name: WorkStatus, Title: "Set the status", Access: Write, Annotations: changing, Output: command,
			Description: "Sets where the work stands. The record has one status at a time.",
			Input: closed([]string{"item_id", "status", "idempotency_key"}, object{
				"item_id": itemID(), "status": object{"type": "string", "enum": sidecar.SettableStatuses()}, "idempotency_key": key(),
			}),
		},
		{
			Name: WorkComplete, Title: "Complete the work", Access: Write, Annotations: changing, Output: command,
			Description: "Sets the status to done.",
			Input:       closed([]string{"item_id", "idempotency_key"}, object{"item_id": itemID(), "idempotency_key": key()}),
		},
		{
			Name: WorkCancel, Title: "Cancel the work", Access: Write, Annotations: changing, Output: command,
			Description: "Sets the status to cancelled. The record stays.",
			Input:       closed([]string{"item_id", "idempotency_key"}, object{"item_id": itemID(), "idempotency_key": key()}),
		},
		{
			Name: WorkGet, Title: "Read a record", Access: Read, Annotations: Annotations{ReadOnly: true, Idempotent: true}, Output: recordAnswer().raw(),
			Description: "Reads a record with its notes. checked says whether the app confirmed it; otherwise it is what was accepted so far.",
			Input:       closed([]string{"item_id"}, object{"item_id": itemID()}),
		},
	}
}

func failure() object {
	return object{
		"type": "object", "additionalProperties": false, "required": []string{"class", "code", "reason"},
		"properties": object{
			"class":  object{"type": "string", "enum": []sidecar.Class{sidecar.Transient, sidecar.Permanent, sidecar.Blocked}},
			"code":   object{"type": "string", "enum": Codes()},
			"reason": object{"type": "string"},
		},
	}
}

// commandAnswer is what a changing tool answers: a command on an item, or only a
// failure where there is no item to speak of.
func commandAnswer() object {
	return object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
		"required": []string{"contract_version"},
		"anyOf": []object{
			{"required": []string{"item_id", "state", "anchor", "materialized"}},
			{"required": []string{"failure"}},
		},
		"properties": object{
			"item_id":          object{"type": "string"},
			"state":            object{"type": "string", "enum": CommandStates()},
			"anchor":           object{"type": "string", "enum": AnchorStates()},
			"materialized":     object{"type": "boolean", "description": "the record exists in the library"},
			"replayed":         object{"type": "boolean", "description": "this idempotency key had been accepted before"},
			"existing":         object{"type": "boolean", "description": "the task already had this record"},
			"failure":          failure(),
			"contract_version": object{"type": "integer", "const": sidecar.ContractVersion},
		},
	}
}

// recordAnswer is what work_get answers.
func recordAnswer() object {
	o := commandAnswer()
	p := o["properties"].(object)
	delete(p, "replayed")
	delete(p, "existing")
	commandState := object{"type": "string", "enum": CommandStates()}
	p["checked"] = object{"type": "boolean", "description": "the app was asked and answered"}
	p["task_key"] = object{"type": "string"}
	p["title"] = object{"type": "string"}
	p["status"] = object{"type": "string", "enum": append(sidecar.SettableStatuses(), sidecar.Cancelled)}
	p["notes"] = object{"type": "array", "items": object{
		"type": "object", "additionalProperties": false, "required": []string{"text", "state"},
		"properties": object{"text": object{"type": "string"}, "state": commandState},
	}}
	p["commands"] = object{"type": "array", "items": object{
		"type": "object", "additionalProperties": false, "required": []string{"kind", "state", "attempts"},
		"properties": object{
			"kind":  object{"type": "string", "enum": []sidecar.Kind{sidecar.StartKind, sidecar.NoteKind, sidecar.StatusKind, sidecar.CompleteKind, sidecar.CancelKind}},
			"state": commandState, "attempts": object{"type": "integer", "minimum": 0}, "failure": failure(),
		},
	}}
	return o
}
