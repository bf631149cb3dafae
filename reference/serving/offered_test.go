package serving

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"
)

// A server with one tool, in every way in which it is spoken to.
func sessions(t *testing.T) map[string]*mcp.ClientSession {
	t.Helper()
	g := NewWithT(t)
	serve := func(run func(context.Context, *mcp.Server) error) {
		server := mcp.NewServer(&mcp.Implementation{Name: "one", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
		server.AddTool(&mcp.Tool{Name: "one", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- run(ctx, server) }()
		t.Cleanup(func() { cancel(); g.Expect(<-ended).To(Succeed()) })
	}
	all := map[string]*mcp.ClientSession{}
	connect := func(name string, transport mcp.Transport, revision string) {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(session.InitializeResult().ProtocolVersion).To(Equal(revision))
		t.Cleanup(func() { g.Expect(session.Close()).To(Succeed()) })
		all[name] = session
	}

	served := make(chan string, 1)
	serve(func(ctx context.Context, server *mcp.Server) error {
		return HTTP(ctx, server, "127.0.0.1:0", slog.New(slog.DiscardHandler), func(url string) { served <- url }, Door{}, nil)
	})
	url := <-served
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		web := &http.Client{Transport: &http.Transport{}}
		t.Cleanup(web.CloseIdleConnections)
		connect(revision, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: web}, revision)
	}
	in, toIn := io.Pipe()
	fromOut, out := io.Pipe()
	serve(func(ctx context.Context, server *mcp.Server) error { return Stdio(ctx, server, in, out, Door{}) })
	connect("stdio", &mcp.IOTransport{Reader: fromOut, Writer: toIn}, "2025-11-25")
	return all
}

// What a server does not declare it does not answer either, not even with an empty list.
func TestWhatIsNotDeclaredIsNotAnswered(t *testing.T) {
	for name, session := range sessions(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ctx := t.Context()
			capabilities := session.InitializeResult().Capabilities
			g.Expect(capabilities).To(HaveField("Tools", Not(BeNil())))
			g.Expect(capabilities).To(And(HaveField("Prompts", BeNil()), HaveField("Resources", BeNil()), HaveField("Logging", BeNil()), HaveField("Completions", BeNil())))
			for method, ask := range map[string]func() error{
				"prompts/list":             func() error { _, err := session.ListPrompts(ctx, nil); return err },
				"prompts/get":              func() error { _, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "x"}); return err },
				"resources/list":           func() error { _, err := session.ListResources(ctx, nil); return err },
				"resources/templates/list": func() error { _, err := session.ListResourceTemplates(ctx, nil); return err },
				"resources/read":           func() error { _, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "x:y"}); return err },
				"completion/complete": func() error {
					_, err := session.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "x"}})
					return err
				},
			} {
				var refused *jsonrpc.Error
				g.Expect(errors.As(ask(), &refused)).To(BeTrue(), method)
				g.Expect(refused.Code).To(BeEquivalentTo(jsonrpc.CodeMethodNotFound), method)
				g.Expect(refused.Message).To(ContainSubstring(method))
			}
			tools, err := session.ListTools(ctx, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(tools.Tools).To(HaveLen(1))
			_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "one", Arguments: map[string]any{}})
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}
