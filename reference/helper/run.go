package helper

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-mcp/holdfast/reference/serving"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// Run serves until the caller's input ends (stdio) or ctx is done. Calls that
// are under way are answered before it returns.
func Run(ctx context.Context, cfg Config, ports Ports) error {
	server, err := newServer(cfg, ports)
	if err != nil {
		return err
	}
	if cfg.HTTPAddr != "" {
		return serving.HTTP(ctx, server, cfg.HTTPAddr, cfg.logger(), cfg.Serving, serving.Door{}, nil)
	}
	return serving.Stdio(ctx, server, cfg.Stdin, cfg.Stdout, serving.Door{})
}

// newServer registers the tools. The server logs nothing by itself: arguments
// and answers hold a person's content.
func newServer(cfg Config, ports Ports) (*mcp.Server, error) {
	tools := ports.Tools
	if tools == nil {
		set, err := toolspec.Specs()
		if err != nil {
			return nil, err
		}
		tools = set.All()
	}
	server := mcp.NewServer(
		&mcp.Implementation{Name: "holdfast-reference-helper", Title: "holdfast reference helper", Version: fmt.Sprintf("%d.0.0", cmp.Or(ports.Dialect.Version, sidecar.ContractVersion))},
		&mcp.ServerOptions{
			Instructions: "Work records. Start with work_start; the item ID that it answers with is valid at once. Give every change an idempotency key and repeat it with the same key when an answer is lost.",
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	w := &work{cfg: cfg, ports: ports}
	log := cfg.logger()
	for _, spec := range tools {
		server.AddTool(tool(spec), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer := w.call(ctx, spec, req.Params.Arguments)
			if answer.isError() {
				log.Info("refused", "tool", spec.Name, "class", answer.Failure.Class, "code", answer.Failure.Code)
				if err := w.countRefusal(ctx, spec, answer); err != nil {
					log.Warn("a refusal was not counted", "tool", spec.Name, "error", err.Error())
				}
			}
			return result(answer.isError(), ports.Dialect.say(answer))
		})
	}
	return server, nil
}

func tool(spec toolspec.Spec) *mcp.Tool {
	closedWorld := false
	return &mcp.Tool{
		Meta: mcp.Meta{"holdfast/access": spec.Access},
		Name: spec.Name, Title: spec.Title, Description: spec.Description,
		InputSchema: spec.Input, OutputSchema: spec.Output,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: spec.Annotations.ReadOnly, IdempotentHint: spec.Annotations.Idempotent,
			DestructiveHint: &spec.Annotations.Destructive, OpenWorldHint: &closedWorld,
		},
	}
}

// result says the answer twice, for callers that read structure and for those
// that read text.
func result(isError bool, a any) (*mcp.CallToolResult, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(b)}},
		StructuredContent: json.RawMessage(b),
		IsError:           isError,
	}, nil
}
