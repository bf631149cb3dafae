package serving

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// Tool is a tool's entry of tools/list. openWorld says whether it reaches beyond what
// the reference keeps itself.
func Tool(spec toolspec.Spec, openWorld bool) *mcp.Tool {
	return &mcp.Tool{
		Meta: mcp.Meta{"holdfast/access": spec.Access},
		Name: spec.Name, Title: spec.Title, Description: spec.Description,
		InputSchema: spec.Input, OutputSchema: spec.Output,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: spec.Annotations.ReadOnly, IdempotentHint: spec.Annotations.Idempotent,
			DestructiveHint: &spec.Annotations.Destructive, OpenWorldHint: &openWorld,
		},
	}
}

// Result says an answer twice, for callers that read structure and for those that
// read text.
func Result(content any, isError bool) (*mcp.CallToolResult, error) {
	b, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(b)}},
		StructuredContent: json.RawMessage(b),
		IsError:           isError,
	}, nil
}
