package two

import (
	"context"
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reference/app"
	"github.com/holdfast-mcp/holdfast/reference/helper"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// HelperPorts is helper.DefaultPorts of version 2.
func HelperPorts(ctx context.Context, c helper.Config) (helper.Ports, func() error, error) {
	tools, err := Tools(Version)
	if err != nil {
		return helper.Ports{}, nil, err
	}
	d := helper.Dialect{Version: Version, Tools: tools, Say: func(a helper.Answer) any { return Say(Version, a) }}
	return helper.PortsFor(ctx, c, d, func(ctx context.Context, path string, o sidecar.Options) (helper.Sidecar, error) {
		return Open(ctx, path, o)
	})
}

// AppPorts is app.DefaultPorts of version 2; it is run with Config.Contract set to Version.
func AppPorts(ctx context.Context, c app.Config) (app.Ports, func() error, error) {
	return app.PortsFor(ctx, c, func(ctx context.Context, path string, o sidecar.Options) (app.Sidecar, error) {
		return Open(ctx, path, o)
	})
}

// Tools are the current tools with the answers of a version that tells a failure
// as text; edit changes them further.
func Tools(version int, edit ...func(tool string, input, output map[string]any)) (*toolspec.Set, error) {
	list := toolspec.Definitions()
	for i := range list {
		var input, output map[string]any
		read(list[i].Input, &input)
		read(list[i].Output, &output)
		p := output["properties"].(map[string]any)
		text(p)
		p["contract_version"] = map[string]any{"type": "integer", "const": version}
		if commands, ok := p["commands"].(map[string]any); ok {
			text(commands["items"].(map[string]any)["properties"].(map[string]any))
		}
		output["anyOf"].([]any)[1] = map[string]any{"required": []any{"error"}}
		for _, e := range edit {
			e(list[i].Name, input, output)
		}
		list[i].Input, list[i].Output = raw(input), raw(output)
	}
	return toolspec.Compile(version, list)
}

// text puts an error's text in the place of a failure.
func text(properties map[string]any) {
	delete(properties, "failure")
	properties["error"] = map[string]any{"type": "string"}
}

// Say words an answer as a version that tells a failure as text.
func Say(version int, a helper.Answer) map[string]any {
	var out map[string]any
	read(raw(a), &out)
	out["contract_version"] = version
	prose(out)
	if commands, ok := out["commands"].([]any); ok {
		for _, c := range commands {
			prose(c.(map[string]any))
		}
	}
	return out
}

func prose(answer map[string]any) {
	if failure, ok := answer["failure"].(map[string]any); ok {
		delete(answer, "failure")
		answer["error"] = failure["reason"]
	}
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("an answer of strings and numbers does not marshal: " + err.Error())
	}
	return b
}

func read(b json.RawMessage, into any) {
	if err := json.Unmarshal(b, into); err != nil {
		panic("what this package marshalled is no JSON: " + err.Error())
	}
}
