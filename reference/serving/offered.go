package serving

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// notOffered are the methods of what none of the reference's servers offers.
var notOffered = []string{"prompts/", "resources/", "logging/", "completion/"}

// onlyOffered refuses the methods of capabilities that the server does not declare.
// The SDK answers some of them all the same, with an empty list, and so would deny
// its own declaration: whoever supports prompts must declare them (MCP 2026-07-28,
// server/discover).
func onlyOffered(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		for _, prefix := range notOffered {
			if strings.HasPrefix(method, prefix) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
			}
		}
		return next(ctx, method, req)
	}
}
