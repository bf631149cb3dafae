package helper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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
		return serveHTTP(ctx, cfg, server)
	}
	return serveStdio(ctx, cfg, server)
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

func serveStdio(ctx context.Context, cfg Config, server *mcp.Server) error {
	in, out := cfg.Stdin, cfg.Stdout
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	d := newDrain(ctx, in, out)
	err := server.Run(ctx, &mcp.IOTransport{Reader: drainIn{d}, Writer: drainOut{d}})
	if ctx.Err() != nil {
		return nil // asked to leave
	}
	if err != nil {
		return fmt.Errorf("serve stdio: %w", err)
	}
	return nil
}

// statelessFrom is the first MCP revision without sessions; revisions are dates.
const statelessFrom = "2026-07-28"

// httpGrace is how long open requests get to end once the helper is to leave.
const httpGrace = time.Second

func serveHTTP(ctx context.Context, cfg Config, server *mcp.Server) error {
	find := func(*http.Request) *mcp.Server { return server }
	sessions := mcp.NewStreamableHTTPHandler(find, nil)
	stateless := mcp.NewStreamableHTTPHandler(find, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= statelessFrom {
			stateless.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })

	listener, err := net.Listen("tcp", cfg.HTTPAddr)
	if err != nil {
		return fmt.Errorf("serve HTTP on %s: %w; free the port or choose another PORT", cfg.HTTPAddr, err)
	}
	url := "http://" + listener.Addr().String() + "/mcp"
	cfg.logger().Info("serving", "url", url)
	if cfg.Serving != nil {
		cfg.Serving(url)
	}
	web := &http.Server{Handler: http.NewCrossOriginProtection().Handler(mux), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve HTTP on %s: %w", cfg.HTTPAddr, err)
	case <-ctx.Done():
	}
	for session := range server.Sessions() {
		_ = session.Close() // ends its streams; one that is gone already is what is wanted
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpGrace)
	defer cancel()
	if err := web.Shutdown(grace); err != nil {
		_ = web.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP on %s: %w", cfg.HTTPAddr, err)
	}
	return nil
}
