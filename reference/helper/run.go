package helper

import (
	"cmp"
	"context"
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
		server.AddTool(serving.Tool(spec, false), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer := w.call(ctx, spec, req.Params.Arguments)
			if answer.isError() {
				log.Info("refused", "tool", spec.Name, "class", answer.Failure.Class, "code", answer.Failure.Code)
				if err := w.countRefusal(ctx, spec, answer); err != nil {
					log.Warn("a refusal was not counted", "tool", spec.Name, "error", err.Error())
				}
			}
			return serving.Result(ports.Dialect.say(answer), answer.isError())
		})
	}
	return server, nil
}
