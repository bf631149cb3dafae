package workflows

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// rpc is any answer of JSON-RPC.
type rpc struct {
	Result struct {
		TaskID     string `json:"taskId"`
		Status     string
		Message    string `json:"statusMessage"`
		TTL        json.RawMessage
		Task       ports.Task
		Tasks      []ports.Task
		NextCursor string `json:"nextCursor"`
		IsError    bool   `json:"isError"`
		Structured said   `json:"structuredContent"`
		Meta       map[string]struct {
			TaskID string `json:"taskId"`
		} `json:"_meta"`
		Capabilities struct{ Tasks json.RawMessage }
		Tools        []struct {
			Name      string
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			}
		}
	}
	Error struct {
		Code    int
		Message string
	}
	raw string
}

// method calls a method and returns its answer.
func (s *server) method(name, params string) rpc {
	s.w.t.Helper()
	s.next++
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.next, name, params))
	return s.answer(s.next)
}

func (s *server) answer(id int) rpc {
	s.w.t.Helper()
	for s.out.Scan() {
		var m struct{ ID *int }
		var a rpc
		if json.Unmarshal(s.out.Bytes(), &m) == nil && m.ID != nil && *m.ID == id {
			if err := json.Unmarshal(s.out.Bytes(), &a); err != nil {
				s.w.t.Fatal(err, s.out.Text())
			}
			a.raw = s.out.Text()
			return a
		}
	}
	s.w.t.Fatalf("the server ended before it answered %d:\n%s", id, s.logs)
	return rpc{}
}

// startTask starts an operation as a task.
func (s *server) startTask(steps ...map[string]any) rpc {
	s.w.t.Helper()
	raw, err := json.Marshal(bind(arguments{"steps": steps}))
	if err != nil {
		s.w.t.Fatal(err)
	}
	return s.method("tools/call", fmt.Sprintf(`{"name":"workflow_start","arguments":%s,"task":{"ttl":60000}}`, raw))
}

const ownBinding = `"_meta":{"holdfast/binding":{"profile":"writer","target":"guild-1"}}`

func TestATaskIsAViewOfItsOperation(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	w.control(chat.HoldPath, chat.Hold{Point: chat.BeforeApplied})
	started := s.startTask(nudge("one"))
	id := started.Result.Task.ID
	g.Expect(id).To(MatchRegexp(`^wf_[a-z2-7]{26}$`), started.raw)
	g.Expect(started.Result.Task.Status).To(Equal(ports.Working))
	w.untilHeld()
	now := s.method("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id))
	g.Expect(now.Result.Status).To(Equal("working"), now.raw)
	g.Expect(string(now.Result.TTL)).To(Equal("null"), "it is kept, whatever was wished for")
	g.Expect(s.about("status", id).State).To(Equal("running"))

	s.next++
	waiting := s.next
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tasks/result","params":{"taskId":%q}}`, waiting, id))
	w.control(chat.ReleasePath, struct{}{})
	ended := s.answer(waiting)
	g.Expect(ended.Result.Structured.State).To(Equal("completed"), ended.raw)
	g.Expect(ended.Result.IsError).To(BeFalse())
	g.Expect(ended.Result.Meta["io.modelcontextprotocol/related-task"].TaskID).To(Equal(id))
	g.Expect(s.method("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)).Result.Status).To(Equal("completed"))
	g.Expect(s.method("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id)).Error.Code).To(Equal(-32602), "what has ended stays so")
}

func TestATaskInDoubtAsksForAPerson(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	write := s.confirmed("publish", post("one"))
	w.control(chat.HoldPath, chat.Hold{Point: chat.AfterApplied})
	id := s.startTask(step("publish", write)).Result.Task.ID
	w.untilHeld()
	s.kill()
	w.control(chat.ReleasePath, struct{}{})

	s = w.launch()
	defer s.kill()
	asked := fmt.Sprintf(`{"taskId":%q,%s}`, id, ownBinding)
	interrupted := s.method("tasks/get", asked)
	g.Expect(interrupted.Result.Status).To(Equal("input_required"), interrupted.raw)
	g.Expect(interrupted.Result.Message).To(HavePrefix("interrupted:"))
	g.Expect(s.about("resume", id).State).To(Equal("needs_review"))
	for range 2 {
		reviewed := s.method("tasks/get", asked)
		g.Expect(reviewed.Result.Status).To(Equal("input_required"), reviewed.raw)
		g.Expect(reviewed.Result.Message).To(HavePrefix("needs_review:"))
		g.Expect(s.method("tasks/cancel", asked).Result.Status).To(Equal("input_required"), "a cancel keeps the doubt")
	}
}

func TestATaskThatFailedIsAnError(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	id := s.startTask(step("publish", post("without a confirmation"))).Result.Task.ID
	ended := s.method("tasks/result", fmt.Sprintf(`{"taskId":%q}`, id))
	g.Expect(ended.Result.IsError).To(BeTrue(), ended.raw)
	g.Expect(ended.Result.Structured.Code).To(Equal(ports.CodeApprovalInvalid))
}

func TestACancelledTaskIsCancelled(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	w.control(chat.HoldPath, chat.Hold{Point: chat.BeforeApplied})
	id := s.startTask(read(), nudge("never")).Result.Task.ID
	w.untilHeld()
	cancelled := s.method("tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id))
	g.Expect(cancelled.Result.Status).To(Equal("cancelled"), cancelled.raw)
	g.Expect(s.about("status", id).State).To(Equal("cancelled"))
	w.control(chat.ReleasePath, struct{}{})
}

// Whoever does not show the binding learns as little of a task as of one that never
// was (WF-03), from every method.
func TestATaskIsOfItsBindingAlone(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	id := s.startTask(read()).Result.Task.ID
	s.ends(id)
	g.Expect(s.method("tasks/list", `{}`).Result.Tasks).To(HaveLen(1), "a session sees the tasks of the binding it started one under")
	other := `"_meta":{"holdfast/binding":{"profile":"other","target":"guild-1"}}`
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		foreign := s.method(method, fmt.Sprintf(`{"taskId":%q,%s}`, id, other)).Error
		none := s.method(method, fmt.Sprintf(`{"taskId":%q,%s}`, "wf_"+strings.Repeat("a", 26), other)).Error
		g.Expect(foreign).To(Equal(none))
		g.Expect(foreign.Code).To(Equal(-32602))
	}
	g.Expect(s.method("tasks/list", `{`+other+`}`).Result.Tasks).To(BeEmpty())
	s.kill()

	s = w.launch()
	defer s.kill()
	g.Expect(s.method("tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)).Error.Code).To(Equal(-32602), "another session started none")
	g.Expect(s.method("tasks/list", `{}`).Result.Tasks).To(BeEmpty())
	g.Expect(s.method("tasks/get", fmt.Sprintf(`{"taskId":%q,%s}`, id, ownBinding)).Result.Status).To(Equal("completed"))
	g.Expect(s.method("tasks/list", `{`+ownBinding+`}`).Result.Tasks).To(HaveLen(1))
}

func TestTasksAreListedPageByPage(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	want := map[string]bool{}
	for range tasksPage + 3 {
		want[s.startTask(read()).Result.Task.ID] = true
	}
	first := s.method("tasks/list", `{}`)
	g.Expect(first.Result.Tasks).To(HaveLen(tasksPage))
	second := s.method("tasks/list", fmt.Sprintf(`{"cursor":%q}`, first.Result.NextCursor))
	g.Expect(second.Result.NextCursor).To(BeEmpty())
	for _, task := range append(first.Result.Tasks, second.Result.Tasks...) {
		g.Expect(want).To(HaveKey(task.ID))
		delete(want, task.ID)
	}
	g.Expect(want).To(BeEmpty())
	for _, cursor := range []string{"x", "1-", "0-../x", "-1-"} {
		g.Expect(s.method("tasks/list", fmt.Sprintf(`{"cursor":%q}`, cursor)).Error.Code).To(Equal(-32602), cursor)
	}
}

func TestWhatCannotBeATask(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	g.Expect(s.method("tools/call", `{"name":"workflow_status","arguments":{},"task":{}}`).Error.Code).To(Equal(-32601))
	refused := s.startTask()
	g.Expect(refused.Error.Code).To(Equal(-32602), refused.raw)
	g.Expect(refused.Error.Message).To(HavePrefix(string(ports.CodeInvalidArguments)))
	g.Expect(s.startTask(step("mcp_pipeline", arguments{"steps": []any{}})).Error.Message).To(HavePrefix(string(ports.CodeStepRefused)))
	g.Expect(s.method("tasks/get", `{}`).Error.Code).To(Equal(-32602))
}

func TestTasksAreOfferedAtOneRevisionOnly(t *testing.T) {
	for revision, offered := range map[string]bool{"2025-06-18": false, "2025-11-25": true} {
		t.Run(revision, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			s := w.launchAt(revision)
			defer s.kill()
			hello := s.answer(0)
			g.Expect(len(hello.Result.Capabilities.Tasks) > 0).To(Equal(offered), hello.raw)
			for _, tool := range s.method("tools/list", `{}`).Result.Tools {
				want := ""
				if offered && tool.Name == definitions.WorkflowStart {
					want = "optional"
				}
				g.Expect(tool.Execution.TaskSupport).To(Equal(want), tool.Name)
			}
			g.Expect(s.method("tasks/list", `{}`).Error.Code == -32601).To(Equal(!offered))
			started := s.startTask(read())
			if !offered {
				g.Expect(started.Result.Structured.Operation).To(HavePrefix("wf_"), "the field is ignored: "+started.raw)
			}
		})
	}
}

// message sends one message of a session over HTTP.
func (w *world) message(url, session, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
		request.Header.Set("Mcp-Protocol-Version", tasksRevision)
	}
	return w.client.Do(request)
}

// A session whose caller waits for the result of a task can be ended all the same.
func TestASessionEndsAlthoughItWaitsForATask(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	url := w.serveHTTP()
	hello, err := w.message(url, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	g.Expect(err).NotTo(HaveOccurred())
	session := hello.Header.Get("Mcp-Session-Id")
	g.Expect(hello.Body.Close()).To(Succeed())
	ready, err := w.message(url, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ready.Body.Close()).To(Succeed())

	w.control(chat.HoldPath, chat.Hold{Point: chat.BeforeApplied})
	raw, err := json.Marshal(bind(arguments{"steps": []any{nudge("one")}}))
	g.Expect(err).NotTo(HaveOccurred())
	started, err := w.message(url, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflow_start","arguments":%s,"task":{}}}`, raw))
	g.Expect(err).NotTo(HaveOccurred())
	id := regexpID.FindString(bodyOf(t, started))
	g.Expect(id).NotTo(BeEmpty())
	w.untilHeld()
	answered := make(chan error, 1)
	go func() {
		r, err := w.message(url, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":%q}}`, id))
		if err == nil {
			err = r.Body.Close()
		}
		answered <- err
	}()
	g.Consistently(answered, wait.Default().Withheld).ShouldNot(Receive(), "it waits")
	end, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	g.Expect(err).NotTo(HaveOccurred())
	end.Header.Set("Mcp-Session-Id", session)
	end.Header.Set("Mcp-Protocol-Version", tasksRevision)
	gone, err := w.client.Do(end)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(gone.StatusCode).To(BeNumerically("<", 300))
	g.Expect(gone.Body.Close()).To(Succeed())
	g.Eventually(answered, wait.Default().Converge).Should(Receive(BeNil()))
	w.control(chat.ReleasePath, struct{}{})
}

// The official client has no Tasks; a session of it must go on as ever.
func TestAClientWithoutTasksIsNotInItsWay(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	session, leave := connected(t, w.serveHTTP(), tasksRevision)
	defer leave()
	tools, err := session.ListTools(t.Context(), &mcp.ListToolsParams{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tools.Tools).To(HaveLen(len(definitions.Definitions())))
	g.Expect(callOf(t, session, "workflow_start", bind(arguments{"steps": []any{read()}})).Operation).To(HavePrefix("wf_"))
}

func TestTheFieldTaskIsMovedAndNothingElse(t *testing.T) {
	g := NewWithT(t)
	for _, same := range []string{
		"", "{", `[{"method":"tools/call","params":{"task":{}}}]`, `{"method":"tools/list","params":{"task":{}}}`,
		`{"method":"tools/call","params":{"arguments":{"task":1}}}`, `{"method":"tools/call","params":{"task":{},"_meta":3}}`,
	} {
		g.Expect(string(taskToMeta([]byte(same)))).To(Equal(same))
	}
	g.Expect(taskToMeta([]byte(`{"id":1,"method":"tools/call","params":{"name":"n","task":{"ttl":1},"_meta":{"a":2}}}`))).
		To(MatchJSON(`{"id":1,"method":"tools/call","params":{"name":"n","_meta":{"a":2,"holdfast/task":{"ttl":1}}}}`))
	g.Expect(taskToMeta([]byte(`{"method":"tools/call","params":{"task":{}}}`))).
		To(MatchJSON(`{"method":"tools/call","params":{"_meta":{"holdfast/task":{}}}}`))
}

func TestEveryStateIsAStatus(t *testing.T) {
	g := NewWithT(t)
	for i, s := range ports.States() {
		g.Expect(definitions.TaskStates()[i].State).To(Equal(s))
		task := definitions.Tasks{}.Task(ports.Operation{ID: "wf_x", State: s, Code: "code"})
		g.Expect(task.Message).To(And(HavePrefix(string(s)+":"), HaveSuffix("(code)")))
		g.Expect(task.Status.Terminal()).To(Equal(s.Settled() && s != ports.NeedsReview))
	}
}

var regexpID = regexp.MustCompile(`wf_[a-z2-7]{26}`)

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
