package definitions

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reference/toolspec"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Version is the contract version of these tools.
const Version = 1

// The arguments that carry a preview's confirmation.
const (
	Confirm     = "__confirm"
	ConfirmHash = "__confirm_hash"
	ConfirmID   = "__confirm_id"
)

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

// name is a short identifier: it goes into paths of URLs and into logs of others.
func name(description string) object {
	return object{"type": "string", "minLength": 1, "maxLength": 100, "pattern": `^[A-Za-z0-9][A-Za-z0-9_.-]*$`, "description": description}
}

func text(description string) object {
	return object{"type": "string", "minLength": 1, "maxLength": 4000, "description": description}
}

func enum[T ~string](words []T) object { return object{"type": "string", "enum": words} }

// bound adds whom a call is for.
func bound(properties object) object {
	all := object{}
	maps.Copy(all, properties)
	all["profile"] = name("the bot profile that acts")
	all["target"] = name("the guild that is meant")
	return all
}

// ordinary are the arguments of the ordinary tools without the binding: what a
// step carries.
func ordinary() map[string]struct {
	required   []string
	properties object
} {
	type arguments = struct {
		required   []string
		properties object
	}
	channel := name("the channel, one of the target's")
	all := map[string]arguments{
		ReadMessages:    {[]string{"channel"}, object{"channel": channel, "limit": object{"type": "integer", "minimum": 1, "maximum": 100, "description": "how many of the newest messages; default 50"}}},
		Publish:         {[]string{"channel", "content"}, object{"channel": channel, "content": text("the message")}},
		UpdateMessage:   {[]string{"channel", "message", "content"}, object{"channel": channel, "message": name("the message's ID"), "content": text("what it says from now on")}},
		SetTopic:        {[]string{"channel", "topic"}, object{"channel": channel, "topic": text("the channel's topic from now on")}},
		Nudge:           {[]string{"channel", "content"}, object{"channel": channel, "content": text("the nudge")}},
		ComposerPublish: {[]string{"channel", "parts"}, object{"channel": channel, "parts": object{"type": "array", "minItems": 1, "maxItems": 10, "items": text("a part"), "description": "posted in this order"}}},
	}
	for tool, a := range all {
		if AccessOf(tool) == ports.Write {
			a.properties[Confirm] = object{"const": true, "description": "go ahead with what was previewed; without it a write that needs an approval is only previewed"}
			a.properties[ConfirmHash] = object{"type": "string", "minLength": 1, "maxLength": 200, "description": "confirm_hash of the preview"}
			a.properties[ConfirmID] = object{"type": "string", "minLength": 1, "maxLength": 200, "description": "confirm_id of the preview; it works once"}
		}
	}
	return all
}

// BindingSchema is the name under which a binding is compiled.
const BindingSchema = "step/"

// StepSchema is the name under which the arguments of a tool as a step are compiled.
func StepSchema(tool string) string { return "step/" + tool }

// steps is the list of a definition. What a step's arguments must be is said by
// its tool, and looked at when the step runs.
func steps() object {
	return object{
		"type": "array", "minItems": 1, "maxItems": MaxSteps,
		"items": object{
			"type": "object", "additionalProperties": false, "required": []string{"tool", "arguments"},
			"properties": object{
				"tool":      object{"type": "string", "minLength": 1, "maxLength": 100, "description": "an ordinary tool: no workflow tool, and not mcp_pipeline"},
				"arguments": object{"type": "object", "description": "the tool's arguments without profile and target; a write carries the confirmation of its own preview"},
			},
		},
	}
}

// Compile makes the set of all tools, and beside them the schemas of steps.
func Compile() (tools, stepArguments *toolspec.Set, err error) {
	if tools, err = toolspec.Compile(Version, Definitions()); err != nil {
		return nil, nil, err
	}
	list := []toolspec.Spec{{Name: BindingSchema, Input: closed([]string{"profile", "target"}, bound(nil)).raw(), Output: object{}.raw()}}
	for tool, a := range ordinary() {
		list = append(list, toolspec.Spec{Name: StepSchema(tool), Input: closed(a.required, a.properties).raw(), Output: object{}.raw()})
	}
	stepArguments, err = toolspec.Compile(Version, list)
	return tools, stepArguments, err
}

// Definitions are the tools, not compiled yet.
func Definitions() []toolspec.Spec {
	all := workflowTools()
	for _, tool := range slices.Sorted(maps.Keys(ordinary())) {
		a := ordinary()[tool]
		spec := texts[tool]
		spec.Name, spec.Access = tool, toolspec.Access(AccessOf(tool))
		spec.Input = closed(append([]string{"profile", "target"}, a.required...), bound(a.properties)).raw()
		spec.Output = callAnswer().raw()
		all = append(all, spec)
	}
	return all
}

// texts say what the ordinary tools are.
var texts = map[string]toolspec.Spec{
	ReadMessages:    {Title: "Read messages", Description: "Reads the newest messages of a channel.", Annotations: toolspec.Annotations{ReadOnly: true, Idempotent: true}},
	Publish:         {Title: "Publish a message", Description: "Posts a message, after a preview: call it without the confirmation first."},
	UpdateMessage:   {Title: "Update a message", Description: "Replaces what a message says, after a preview.", Annotations: toolspec.Annotations{Destructive: true}},
	SetTopic:        {Title: "Set the topic", Description: "Sets the topic of a channel.", Annotations: toolspec.Annotations{Destructive: true, Idempotent: true}},
	Nudge:           {Title: "Nudge a channel", Description: "Posts a short reminder. One that comes twice harms nobody."},
	ComposerPublish: {Title: "Publish a composed post", Description: "Posts several messages as one, after a preview, and says in its receipt how complete that was."},
}

func workflowTools() []toolspec.Spec {
	answer := operationAnswer().raw()
	reference := bound(object{"operation": object{"type": "string", "maxLength": 4096, "description": "the operation ID that workflow_start answered with"}})
	definition := bound(object{"steps": steps()})
	addressed := closed([]string{"profile", "target", "operation"}, reference).raw()
	return []toolspec.Spec{
		{
			Name: Pipeline, Title: "Run several calls", Access: toolspec.Write,
			Description: "Runs calls one after another within this one request, each through the same controls as alone, and stops at the first that does not succeed. Nothing of it is durable.",
			Input:       closed([]string{"profile", "target", "steps"}, definition).raw(), Output: pipelineAnswer().raw(),
		},
		{
			Name: WorkflowStart, Title: "Start a workflow", Access: toolspec.Write, Output: answer,
			Description: "Stores a definition of at most 128 steps and answers with the operation ID at once; the steps run afterwards, in order, each through the same controls as alone. Starting approves none of its writes.",
			Input:       closed([]string{"profile", "target", "steps"}, definition).raw(),
		},
		{
			Name: WorkflowStatus, Title: "Status of a workflow", Access: toolspec.Read, Input: addressed, Output: answer,
			Description: "Says where an operation stands. Needs the profile and the target that it was started with.",
			Annotations: toolspec.Annotations{ReadOnly: true, Idempotent: true},
		},
		{
			Name: WorkflowResume, Title: "Resume a workflow", Access: toolspec.Write, Input: addressed, Output: answer,
			Description: "Goes on with an interrupted operation. A step in doubt is run again only if its tool's policy declares it idempotent and safe to retry; otherwise the operation needs a review.",
		},
		{
			Name: WorkflowCancel, Title: "Cancel a workflow", Access: toolspec.Write, Input: addressed, Output: answer,
			Description: "Stops an operation before its next step, and the current one where its tool can be aborted. Nothing is rolled back.",
			Annotations: toolspec.Annotations{Idempotent: true},
		},
	}
}
