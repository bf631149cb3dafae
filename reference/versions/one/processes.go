package one

import (
	"context"
	"slices"

	"github.com/holdfast-mcp/holdfast/reference/app"
	"github.com/holdfast-mcp/holdfast/reference/helper"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
	"github.com/holdfast-mcp/holdfast/reference/versions/two"
)

// HelperPorts is helper.DefaultPorts of version 1.
func HelperPorts(ctx context.Context, c helper.Config) (helper.Ports, func() error, error) {
	tools, err := two.Tools(Version, tool)
	if err != nil {
		return helper.Ports{}, nil, err
	}
	d := helper.Dialect{Version: Version, Tools: tools, Say: say}
	return helper.PortsFor(ctx, c, d, func(ctx context.Context, path string, o sidecar.Options) (helper.Sidecar, error) {
		return Open(ctx, path, o)
	})
}

// AppPorts is app.DefaultPorts of version 1; it is run with Config.Contract set to Version.
func AppPorts(ctx context.Context, c app.Config) (app.Ports, func() error, error) {
	return app.PortsFor(ctx, c, func(ctx context.Context, path string, o sidecar.Options) (app.Sidecar, error) {
		return Open(ctx, path, o)
	})
}

// tool takes away what came after version 1: anchors, an item ID in every
// answer, a start's first note, attachments, and the status waiting.
func tool(name string, input, output map[string]any) {
	delete(output["properties"].(map[string]any), "anchor")
	output["anyOf"].([]any)[0] = map[string]any{"required": []any{"state", "materialized"}}
	properties := input["properties"].(map[string]any)
	switch name {
	case toolspec.WorkStart:
		delete(properties, "note")
	case toolspec.WorkNote:
		delete(properties, "attachment")
	case toolspec.WorkStatus:
		status := properties["status"].(map[string]any)
		status["enum"] = slices.DeleteFunc(status["enum"].([]any), func(word any) bool { return word == string(sidecar.Waiting) })
	}
}

func say(a helper.Answer) any {
	out := two.Say(Version, a)
	delete(out, "anchor")
	return out
}
