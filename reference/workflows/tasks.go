package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-mcp/holdfast/reference/serving"
	"github.com/holdfast-mcp/holdfast/reference/workflows/checkpoint"
	"github.com/holdfast-mcp/holdfast/reference/workflows/engine"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// tasksRevision is the one revision with Tasks in its core: an earlier one has none,
// and from 2026-07-28 on they are an extension, which is not offered.
const tasksRevision = "2025-11-25"

// metaBinding is where a request about tasks says for whom it asks. Without it the
// bindings count under which the session has started tasks.
const metaBinding = "holdfast/binding"

// tasks offers every operation as a task of MCP Tasks, its ID being the operation's.
// It keeps nothing of an operation: each answer is made of what workflow_status
// would say at that moment (WF-29).
type tasks struct {
	dispatch
	life context.Context // of the server

	mu       sync.Mutex
	sessions map[*mcp.ServerSession]*tasksSession // those that speak tasksRevision
}

// tasksSession is what is known of a session.
type tasksSession struct {
	bindings []ports.Binding // under which it has started tasks
	over     chan struct{}   // closed when it is about to end
}

// offerTasks adds MCP Tasks to a server, for the sessions that speak its revision.
func offerTasks(ctx context.Context, server *mcp.Server, d dispatch) (*tasks, error) {
	t := &tasks{dispatch: d, life: ctx, sessions: map[*mcp.ServerSession]*tasksSession{}}
	for method, answer := range map[string]func(context.Context, *mcp.ServerSession, *taskParams) (*document, error){
		"tasks/get": t.get, "tasks/result": t.result, "tasks/cancel": t.cancel, "tasks/list": t.list,
	} {
		if err := mcp.AddReceivingCustomMethod(server, method, answer); err != nil {
			return nil, fmt.Errorf("offer %s: %w", method, err)
		}
	}
	server.AddReceivingMiddleware(t.around(server))
	return t, nil
}

// taskParams are the parameters of a request about tasks.
type taskParams struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
	Cursor string `json:"cursor"`
}

// document is a result as it goes out.
type document struct {
	mcp.ResultBase
	fields map[string]any
}

// MarshalJSON writes the fields and nothing else.
func (d *document) MarshalJSON() ([]byte, error) { return json.Marshal(d.fields) }

// documentOf is a value as a result, whose fields can be changed.
func documentOf(v any) (*document, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	d := &document{}
	return d, json.Unmarshal(raw, &d.fields)
}

func refusal(code int64, format string, args ...any) error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// unknown says the same of a task that never was, and of one of another binding (WF-03).
func unknown() error {
	return refusal(jsonrpc.CodeInvalidParams, "%s: there is no such task for this caller; name the binding in _meta[%q] if this session did not start it", ports.CodeOperationUnknown, metaBinding)
}

// failed is an error of the engine as one of JSON-RPC, without anything of a caller's.
func failed(err error) error {
	code := engine.CodeOf(err)
	if code == ports.CodeOperationUnknown {
		return unknown()
	}
	return refusal(jsonrpc.CodeInternalError, "%s: workflow_status of the same operation says the same", code)
}

// binding is what a request names in its _meta, if it names one.
func (p *taskParams) binding() (b ports.Binding, given bool) {
	named, given := p.Meta[metaBinding].(map[string]any)
	b.Profile, _ = named["profile"].(string)
	b.Target, _ = named["target"].(string)
	return b, given
}

// bindings are those for which a request asks.
func (t *tasks) bindings(ss *mcp.ServerSession, p *taskParams) []ports.Binding {
	if b, given := p.binding(); given {
		return []ports.Binding{b}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.sessions[ss]; s != nil {
		return slices.Clone(s.bindings)
	}
	return nil
}

// find is the operation behind a task.
func (t *tasks) find(ctx context.Context, ss *mcp.ServerSession, p *taskParams) (ports.Operation, error) {
	if p == nil {
		return ports.Operation{}, refusal(jsonrpc.CodeInvalidParams, "there is no taskId")
	}
	for _, b := range t.bindings(ss, p) {
		o, err := t.engine.Status(ctx, p.TaskID, b)
		if err == nil {
			return o, nil
		}
		if engine.CodeOf(err) != ports.CodeOperationUnknown {
			return o, failed(err)
		}
	}
	return ports.Operation{}, unknown()
}

func (t *tasks) get(ctx context.Context, ss *mcp.ServerSession, p *taskParams) (*document, error) {
	o, err := t.find(ctx, ss, p)
	if err != nil {
		return nil, err
	}
	return documentOf(t.ports.Tasks.Task(o))
}

// cancel answers how the operation stands behind workflow_cancel, which need not be
// cancelled: a write may be in doubt, or a tool deaf (WF-20, WF-21).
func (t *tasks) cancel(ctx context.Context, ss *mcp.ServerSession, p *taskParams) (*document, error) {
	o, err := t.find(ctx, ss, p)
	if err != nil {
		return nil, err
	}
	if status := t.ports.Tasks.Task(o).Status; status.Terminal() {
		return nil, refusal(jsonrpc.CodeInvalidParams, "the task is %s already, and stays so", status)
	}
	if o, err = t.engine.Cancel(ctx, o.ID, o.Binding); err != nil {
		return nil, failed(err)
	}
	return documentOf(t.ports.Tasks.Task(o))
}

// resultPolls is how often tasks/result looks whether the operation has ended,
// whoever runs it.
const resultPolls = 50 * time.Millisecond

// result waits for a terminal status, then answers what workflow_status would. Where
// an operation needs a review it waits until its caller leaves.
func (t *tasks) result(ctx context.Context, ss *mcp.ServerSession, p *taskParams) (*document, error) {
	over := t.over(ss)
	ticker := time.NewTicker(resultPolls)
	defer ticker.Stop()
	for {
		o, err := t.find(ctx, ss, p)
		if err != nil {
			return nil, err
		}
		if t.ports.Tasks.Task(o).Status.Terminal() {
			return t.ended(o)
		}
		select {
		case <-ticker.C:
			continue
		case <-ctx.Done():
		case <-over:
		case <-t.life.Done():
		}
		return nil, refusal(jsonrpc.CodeInternalError, "%s: the task has not ended", ports.CodeStopped)
	}
}

// ended is the result of a task that has ended.
func (t *tasks) ended(o ports.Operation) (*document, error) {
	a := operation(o, nil)
	r, err := serving.Result(a.content, a.isError)
	if err != nil {
		return nil, err
	}
	r.IsError = o.State == ports.Failed
	r.Meta = mcp.Meta{"io.modelcontextprotocol/related-task": map[string]any{"taskId": o.ID}}
	return documentOf(r)
}

// tasksPage is how many tasks one answer of tasks/list holds.
const tasksPage = 50

// list is the operations of the bindings, one binding after another. A cursor is
// the last ID of a page, behind the number of its binding.
func (t *tasks) list(ctx context.Context, ss *mcp.ServerSession, p *taskParams) (*document, error) {
	if p == nil {
		p = &taskParams{}
	}
	all := t.bindings(ss, p)
	at, behind, err := readCursor(p.Cursor, len(all))
	if err != nil {
		return nil, err
	}
	fields, shown := map[string]any{}, []ports.Task{}
	for ; at < len(all); at, behind = at+1, "" {
		page, more, err := t.engine.List(ctx, all[at], behind, tasksPage-len(shown))
		if err != nil {
			return nil, failed(err)
		}
		for _, o := range page {
			shown, behind = append(shown, t.ports.Tasks.Task(o)), o.ID
		}
		if more {
			fields["nextCursor"] = fmt.Sprintf("%d-%s", at, behind)
			break
		}
	}
	fields["tasks"] = shown
	return &document{fields: fields}, nil
}

func readCursor(cursor string, bindings int) (at int, behind string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	number, behind, _ := strings.Cut(cursor, "-")
	at, err = strconv.Atoi(number)
	if err != nil || at < 0 || at >= bindings || (behind != "" && !checkpoint.Valid(behind)) {
		return 0, "", refusal(jsonrpc.CodeInvalidParams, "the cursor is none of this list; begin again without one")
	}
	return at, behind, nil
}

// over is closed when the session is about to end; nil where that is not known.
func (t *tasks) over(ss *mcp.ServerSession) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.sessions[ss]; s != nil {
		return s.over
	}
	return nil
}

// leave forgets a session, and lets what waits in it go.
func (t *tasks) leave(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.sessions, func(ss *mcp.ServerSession, s *tasksSession) bool {
		if ss.ID() != id {
			return false
		}
		close(s.over)
		return true
	})
}

// admit remembers a session that speaks the revision, and forgets those that ended.
func (t *tasks) admit(ss *mcp.ServerSession, server *mcp.Server) {
	live := map[*mcp.ServerSession]bool{}
	for s := range server.Sessions() {
		live[s] = true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.sessions, func(s *mcp.ServerSession, _ *tasksSession) bool { return !live[s] })
	t.sessions[ss] = &tasksSession{over: make(chan struct{})}
}

// started remembers under which binding a session has started a task.
func (t *tasks) started(ss *mcp.ServerSession, b ports.Binding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.sessions[ss]; s != nil && !slices.Contains(s.bindings, b) {
		s.bindings = append(s.bindings, b)
	}
}
