package world

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/mcp"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// taskLife is how long a task is wished to be kept, in milliseconds.
const taskLife = 3_600_000

// maxTaskPages bounds a tasks/list whose cursors never end.
const maxTaskPages = 1000

// NeedsTasks stops the spec where the caller's server does not offer MCP Tasks of
// tool calls.
func (c *Caller) NeedsTasks() {
	var offered struct {
		Tasks struct {
			Requests struct {
				Tools struct{ Call json.RawMessage }
			}
		}
	}
	if json.Unmarshal(c.offers, &offered) != nil || offered.Tasks.Requests.Tools.Call == nil {
		Inapplicable("the server offers no Tasks for tool calls at revision %s: its capabilities are %s", c.agreed, c.offers)
	}
}

// StartTask makes the call that starts an operation, as a task. The ID in the answer
// is the operation's.
func (c *Caller) StartTask(act Act) history.Operation {
	tool := c.tool(act)
	raw := c.arguments(tool, act)
	return c.fly(act, tool.Name, raw, c.w.config.Limits.Answer, func(ctx context.Context, _ *Flight) history.Call {
		reply, err := c.session.Request(ctx, "tools/call", map[string]any{"name": tool.Name, "arguments": raw, "task": map[string]any{"ttl": taskLife}})
		if err != nil {
			return unanswered(err)
		}
		var created struct{ Task task }
		return c.w.shown(reply, &created, func() task { return created.Task })
	}).Wait()
}

// Task asks about the task whose ID is the operation's: its status ("get"), or to
// cancel it ("cancel").
func (c *Caller) Task(method string, act Act) history.Operation {
	params := c.ofTask(act)
	return c.ask("tasks/"+method, act, params, func(ctx context.Context, _ *Flight) history.Call {
		reply, err := c.session.Request(ctx, "tasks/"+method, params)
		if err != nil {
			return unanswered(err)
		}
		var t task
		return c.w.shown(reply, &t, func() task { return t })
	})
}

// TaskResult asks for the result of a task, which is answered as the operation's
// status is.
func (c *Caller) TaskResult(act Act) history.Operation {
	params := c.ofTask(act)
	return c.ask("tasks/result", act, params, func(ctx context.Context, _ *Flight) history.Call {
		reply, err := c.session.Request(ctx, "tasks/result", params)
		return c.w.outcome(c.target(), c.tool(Act{Role: "status"}), reply, err)
	})
}

// ListedTask looks for a task in the whole of tasks/list. One that is not there has
// the status "".
func (c *Caller) ListedTask(act Act) history.Operation {
	params := c.ofTask(act)
	wanted := params["taskId"]
	delete(params, "taskId")
	return c.ask("tasks/list", act, params, func(ctx context.Context, _ *Flight) history.Call {
		for range maxTaskPages {
			reply, err := c.session.Request(ctx, "tasks/list", params)
			if err != nil {
				return unanswered(err)
			}
			var page struct {
				Tasks      []task
				NextCursor string `json:"nextCursor"`
			}
			i := -1
			said := c.w.shown(reply, &page, func() task {
				if i = slices.IndexFunc(page.Tasks, func(t task) bool { return t.ID == wanted }); i < 0 {
					return task{}
				}
				return page.Tasks[i]
			})
			if i >= 0 || page.NextCursor == "" || said.Outcome != history.Done {
				return said
			}
			params["cursor"] = page.NextCursor
		}
		return history.Call{Outcome: history.Unknown, Reason: "tasks/list does not end"}
	})
}

// ask makes a request about a task and waits for its end.
func (c *Caller) ask(method string, act Act, params map[string]any, ask func(context.Context, *Flight) history.Call) history.Operation {
	raw, err := json.Marshal(params)
	if err != nil {
		Broken("making the parameters of %s: %v", method, err)
	}
	return c.fly(act, method, raw, c.w.config.Limits.Answer, ask).Wait()
}

// ofTask are the parameters of a request about a task.
func (c *Caller) ofTask(act Act) map[string]any {
	params := map[string]any{"taskId": act.Params["operation_id"]}
	if meta := c.w.Target.Profiles.Workflows.Tasks.Meta; meta != nil {
		expanded, err := c.w.known(c.known).With(act.Params).ExpandAny(meta)
		if err != nil {
			Broken("making the _meta of a request about a task: %v", err)
		}
		params["_meta"] = expanded
	}
	return params
}

// task is what is read of a task.
type task struct {
	ID     string `json:"taskId"`
	Status string `json:"status"`
}

// shown reads an answer about a task: its status, and the states of an operation
// that the target file says are shown by that.
func (w *World) shown(reply mcp.Reply, into any, find func() task) history.Call {
	ended := history.Call{Answer: reply.Raw, IsError: reply.IsError, Outcome: history.Refused}
	if reply.Err != nil {
		ended.Reason = reply.Err.Error()
		return ended
	}
	if err := json.Unmarshal(reply.Raw, into); err != nil {
		ended.Unmapped, ended.Reason = true, "the answer is not one about a task: "+err.Error()
		return ended
	}
	t := find()
	states := []any{}
	for _, state := range w.Target.Profiles.Workflows.Tasks.Statuses[t.Status] {
		states = append(states, state)
	}
	ended.Outcome = history.Done
	ended.Fields = map[string]any{"operation_id": t.ID, "task": t.Status, "states": states}
	return ended
}
