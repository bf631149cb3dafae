package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-mcp/holdfast/reference/serving"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/engine"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Run serves until the caller's input ends (stdio) or ctx is done. Operations go
// on after the callers who started them, and stop with the server.
func Run(ctx context.Context, cfg Config, p Ports) error {
	p = p.complete()
	log := cfg.logger()
	e := NewEngine(p, log)
	defer e.Close()
	server := newServer(p, e, log)
	t, err := offerTasks(ctx, server, dispatch{p, e})
	if err != nil {
		return err
	}
	door := serving.Door{Message: taskToMeta, Leaving: t.leave}
	if cfg.HTTPAddr != "" {
		return serving.HTTP(ctx, server, cfg.HTTPAddr, log, cfg.Serving, door, nil)
	}
	return serving.Stdio(ctx, server, cfg.Stdin, cfg.Stdout, door)
}

// NewEngine is the engine on a server's ports, without the server. It must be closed.
func NewEngine(p Ports, log *slog.Logger) *engine.Engine {
	p = p.complete()
	return engine.New(engine.Ports{Clock: p.Clock, IDs: p.IDs, Admit: p.Admit, Store: p.Store, Policies: p.Policies, Invoke: p.Invoke, Background: p.Background, Log: log})
}

func newServer(p Ports, e *engine.Engine, log *slog.Logger) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "holdfast-reference-workflows", Title: "holdfast reference workflows", Version: fmt.Sprintf("%d.0.0", definitions.Version)},
		&mcp.ServerOptions{
			Instructions: "Messages in a chat, one by one or as durable workflows. A write is previewed first: call the tool without a confirmation, then again with the one that it hands out. workflow_start answers with an operation ID at once; ask workflow_status for it. needs_review means that a person must look at the chat before anything is tried again.",
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		})
	d := dispatch{p, e}
	for _, spec := range p.Tools {
		server.AddTool(serving.Tool(spec, true), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			a := d.call(ctx, spec.Name, req.Params.Arguments)
			if a.isError {
				log.Info("not done", "tool", spec.Name, "code", a.code)
			}
			return serving.Result(a.content, a.isError)
		})
	}
	return server
}

// answer is what any tool answers.
type answer struct {
	content any
	isError bool
	code    ports.Code
}

// dispatch hands a call to whoever does it.
type dispatch struct {
	ports  Ports
	engine *engine.Engine
}

// addressed are the arguments of the tools that run others, and of every tool.
type addressed struct {
	ports.Binding
	Operation string            `json:"operation"`
	Steps     []engine.StepCall `json:"steps"`
}

// read reads arguments that match the tool's schema.
func (d dispatch) read(tool string, raw json.RawMessage) (a addressed, ok bool) {
	return a, d.ports.Checking.Check(tool, raw) && json.Unmarshal(raw, &a) == nil
}

func (d dispatch) call(ctx context.Context, tool string, raw json.RawMessage) answer {
	if slices.Contains(definitions.Ordinary(), tool) {
		return callAnswer(d.ports.Invoke.Invoke(ctx, directCall(tool, raw)))
	}
	a, ok := d.read(tool, raw)
	if !ok {
		if tool == definitions.Pipeline {
			return pipelineAnswer(definitions.PipelineResult{Code: ports.CodeInvalidArguments})
		}
		return operation(ports.Operation{}, &engine.AdmissionError{Code: ports.CodeInvalidArguments})
	}
	switch tool {
	case definitions.WorkflowStart:
		return operation(d.engine.Start(ctx, a.Binding, a.Steps))
	case definitions.WorkflowStatus:
		return operation(d.engine.Status(ctx, a.Operation, a.Binding))
	case definitions.WorkflowResume:
		return operation(d.engine.Resume(ctx, a.Operation, a.Binding))
	case definitions.WorkflowCancel:
		return operation(d.engine.Cancel(ctx, a.Operation, a.Binding))
	}
	return d.pipeline(ctx, a)
}

func operation(o ports.Operation, err error) answer {
	if err != nil {
		code := engine.CodeOf(err)
		return answer{definitions.Refused(code), true, code}
	}
	return answer{definitions.View(o), false, o.Code}
}

// pipeline runs calls within the request; nothing of it is stored.
func (d dispatch) pipeline(ctx context.Context, a addressed) answer {
	var steps []ports.Step
	for _, s := range a.Steps {
		steps = append(steps, ports.Step{Tool: s.Tool, Arguments: s.Arguments})
	}
	if code := d.ports.Admit.Admit(steps); code != "" {
		return pipelineAnswer(definitions.PipelineResult{Total: min(len(steps), definitions.MaxSteps), Code: code})
	}
	out := definitions.PipelineResult{Total: len(steps)}
	for i, s := range steps {
		o := d.ports.Invoke.Invoke(ctx, ports.Call{Binding: a.Binding, Tool: s.Tool, Arguments: s.Arguments, Step: i + 1, Attempt: 1})
		if o.Ending != ports.Succeeded {
			out.Code = o.Code
			break
		}
		out.Done++
	}
	return pipelineAnswer(out)
}

func pipelineAnswer(r definitions.PipelineResult) answer { return answer{r, r.IsError(), r.Code} }
