package workflows

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/engine"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// around adds to the methods of every session what Tasks add to them: to initialize
// the capability, to tools/list which tool can be a task, to tools/call the start of
// one. In a session of another revision the methods of Tasks do not exist.
func (t *tasks) around(server *mcp.Server) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			ss, _ := req.GetSession().(*mcp.ServerSession)
			switch call, _ := req.GetParams().(*mcp.CallToolParamsRaw); {
			case method == "initialize":
				r, err := next(ctx, method, req)
				if said, ok := r.(*mcp.InitializeResult); err != nil || !ok || said.ProtocolVersion != tasksRevision {
					return r, err
				}
				t.admit(ss, server)
				return withCapability(r)
			case t.over(ss) == nil && strings.HasPrefix(method, "tasks/"):
				return nil, refusal(jsonrpc.CodeMethodNotFound, "%s is a method of revision %s only", method, tasksRevision)
			case t.over(ss) == nil:
			case method == "tools/list":
				r, err := next(ctx, method, req)
				if err != nil {
					return r, err
				}
				return withSupport(r)
			case call != nil && call.Meta[metaTask] != nil:
				return t.start(ctx, ss, call)
			}
			return next(ctx, method, req)
		}
	}
}

func withCapability(r mcp.Result) (mcp.Result, error) {
	d, err := documentOf(r)
	if err != nil {
		return nil, err
	}
	if offered, ok := d.fields["capabilities"].(map[string]any); ok {
		none := map[string]any{}
		offered["tasks"] = map[string]any{"list": none, "cancel": none, "requests": map[string]any{"tools": map[string]any{"call": none}}}
	}
	return d, nil
}

func withSupport(r mcp.Result) (mcp.Result, error) {
	d, err := documentOf(r)
	if err != nil {
		return nil, err
	}
	tools, _ := d.fields["tools"].([]any)
	for _, entry := range tools {
		if tool, ok := entry.(map[string]any); ok && tool["name"] == definitions.WorkflowStart {
			tool["execution"] = map[string]any{"taskSupport": "optional"}
		}
	}
	return d, nil
}

// start starts an operation as a task. The lifetime that is wished for does not
// count: an operation is kept.
func (t *tasks) start(ctx context.Context, ss *mcp.ServerSession, call *mcp.CallToolParamsRaw) (mcp.Result, error) {
	if call.Name != definitions.WorkflowStart {
		return nil, refusal(jsonrpc.CodeMethodNotFound, "only %s can be a task; call this tool without one", definitions.WorkflowStart)
	}
	a, ok := t.read(call.Name, call.Arguments)
	if !ok {
		return nil, refusal(jsonrpc.CodeInvalidParams, "%s: nothing was stored", ports.CodeInvalidArguments)
	}
	o, err := t.engine.Start(ctx, a.Binding, a.Steps)
	if err != nil {
		return nil, refusal(jsonrpc.CodeInvalidParams, "%s: nothing was stored", engine.CodeOf(err))
	}
	t.started(ss, a.Binding)
	return &document{fields: map[string]any{"task": t.ports.Tasks.Task(o)}}, nil
}
