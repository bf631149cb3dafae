package workflows

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// serveHTTP runs a server over HTTP in this process.
func (w *world) serveHTTP() string {
	w.t.Helper()
	env := w.env()
	env["WORKFLOWS_TRANSPORT"], env["PORT"] = "http", "0"
	cfg, err := FromEnv(func(name string) string { return env[name] })
	if err != nil {
		w.t.Fatal(err)
	}
	cfg.Stderr = &strings.Builder{}
	serving := make(chan string, 1)
	cfg.Serving = func(url string) { serving <- url }
	p, err := DefaultPorts(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, cfg, p) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	return <-serving
}

// connected is a session at a revision; end ends it.
func connected(t *testing.T, url, revision string) (session *mcp.ClientSession, end func()) {
	t.Helper()
	web := &http.Client{Transport: &http.Transport{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: web}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	return session, func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		web.CloseIdleConnections()
	}
}

func callOf(t *testing.T, session *mcp.ClientSession, tool string, a arguments) said {
	t.Helper()
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	out := said{raw: string(raw), isError: r.IsError}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

var revisions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// Over HTTP an operation goes on after whoever started it has gone (WF-30), at
// every revision, with sessions and without (WF-32).
func TestAnOperationGoesOnWithoutItsStarter(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			url := w.serveHTTP()
			w.control(chat.HoldPath, chat.Hold{Point: chat.BeforeApplied})
			starter, leave := connected(t, url, revision)
			o := callOf(t, starter, "workflow_start", bind(arguments{"steps": []any{nudge("one"), nudge("two")}}))
			w.untilHeld()
			leave()
			w.control(chat.ReleasePath, struct{}{})
			other, leave := connected(t, url, revision)
			defer leave()
			var last said
			w.until("the end", func() bool {
				last = callOf(t, other, "workflow_status", bind(arguments{"operation": o.Operation}))
				return last.State != "running"
			})
			g.Expect(last.State).To(Equal("completed"), last.raw)
			g.Expect(w.effects()).To(Equal([]string{"one", "two"}))
			for _, verb := range []string{"resume", "cancel"} {
				g.Expect(callOf(t, other, "workflow_"+verb, bind(arguments{"operation": o.Operation})).State).To(Equal("completed"))
			}
		})
	}
}

func TestEveryRevisionOnStdio(t *testing.T) {
	for _, revision := range append([]string{"2024-11-05", "2025-03-26"}, revisions[:2]...) {
		t.Run(revision, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			s := w.launchAt(revision)
			defer s.kill()
			o := s.start(read())
			g.Expect(s.ends(o.Operation).State).To(Equal("completed"))
			g.Expect(s.about("resume", o.Operation).State).To(Equal("completed"))
			g.Expect(s.about("cancel", o.Operation).State).To(Equal("completed"))
		})
	}
}

// What the tools answer is what their outputSchema says, also when they refuse.
func TestAnswersMatchTheirSchemas(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	tools, _, err := definitions.Compile()
	g.Expect(err).NotTo(HaveOccurred())
	check := func(tool string, a arguments) said {
		t.Helper()
		out := s.call(tool, bind(a))
		var m struct {
			Result struct {
				StructuredContent json.RawMessage `json:"structuredContent"`
			}
		}
		g.Expect(json.Unmarshal([]byte(out.raw), &m)).To(Succeed())
		for _, spec := range tools.All() {
			if spec.Name == tool {
				g.Expect(spec.CheckAnswer(m.Result.StructuredContent)).To(Succeed(), out.raw)
				return out
			}
		}
		t.Fatalf("there is no tool %s", tool)
		return out
	}
	preview := check("publish", post("one"))
	g.Expect(check("publish", arguments{"channel": "lobby", "content": "one", "__confirm": true, "__confirm_hash": preview.Hash, "__confirm_id": preview.ID}).isError).To(BeFalse())
	check("publish", arguments{"channel": "lobby", "content": "one", "__confirm": true, "__confirm_hash": preview.Hash, "__confirm_id": preview.ID})
	check("publish", arguments{"channel": 7})
	check("read_messages", arguments{"channel": "lobby", "limit": 1})
	check("set_topic", arguments{"channel": "lobby", "topic": "t"})
	check("nudge", arguments{"channel": "lobby", "content": "n"})
	check("update_message", arguments{"channel": "lobby", "message": chat.Welcome, "content": "n"})
	check("composer_publish", arguments{"channel": "lobby", "parts": []string{"a"}})
	g.Expect(check("mcp_pipeline", arguments{"steps": []any{read(), nudge("x")}})).To(HaveField("Done", 2))
	g.Expect(check("mcp_pipeline", arguments{"steps": []any{read(), step("publish", post("x")), read()}})).To(And(HaveField("Done", 1), HaveField("Code", ports.CodeApprovalInvalid)))
	check("mcp_pipeline", arguments{})
	o := check("workflow_start", arguments{"steps": []any{read()}})
	s.ends(o.Operation)
	for _, verb := range []string{"workflow_status", "workflow_resume", "workflow_cancel"} {
		check(verb, arguments{"operation": o.Operation})
		check(verb, arguments{"operation": "wf_none"})
		check(verb, arguments{})
	}
	check("workflow_start", arguments{"steps": "none"})
}

// What somebody says in arguments, gets in results, or holds as a token is in the
// store and in the outside world, and nowhere else (WF-23).
func TestNothingOfTheContentLeaksOut(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	const canary = "canary7f3a9c"
	s := w.launch()
	var said []string
	hear := func(tool string, a arguments) {
		out := s.call(tool, bind(a))
		if tool != "read_messages" {
			said = append(said, out.raw)
		}
	}
	id := s.start(step("publish", s.confirmed("publish", post(canary))), read(), step("nudge", arguments{"channel": canary, "content": canary})).Operation
	g.Expect(s.ends(id).State).To(Equal("failed"))
	w.control(chat.RefusePath, chat.Refusal{Status: 400, Which: chat.Which{Kind: chat.Nudge}})
	hear("nudge", arguments{"channel": "lobby", "content": canary})
	hear("nudge", arguments{"channel": "lobby", "content": canary, canary: canary})
	hear("publish", arguments{"channel": "lobby", "content": canary, "__confirm": true, "__confirm_hash": canary, "__confirm_id": canary})
	hear("publish", post(canary))
	hear("workflow_start", arguments{"steps": []any{step(canary, arguments{canary: canary})}, canary: canary})
	hear("mcp_pipeline", arguments{"steps": []any{step("nudge", arguments{canary: canary})}})
	for _, verb := range []string{"status", "resume", "cancel"} {
		hear("workflow_"+verb, arguments{"operation": id})
		hear("workflow_"+verb, arguments{"operation": canary, "profile": canary})
	}
	s.leave()
	_, audit := w.audited()
	said = append(said, audit, s.logs.String())
	for _, text := range said {
		g.Expect(text).NotTo(ContainSubstring(canary))
		g.Expect(text).NotTo(ContainSubstring("tok_chat_for_this_test"))
	}
	stored, err := os.ReadFile(filepath.Join(w.path("operations"), id+".json"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(stored)).To(ContainSubstring(canary), "it was there to be told")
	g.Expect(strings.Join(w.effects(), " ")).To(ContainSubstring(canary))
}

// Reading the status of one operation does not read the others.
func TestStatusDoesNotReadTheWholeStore(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	id := s.start(read()).Operation
	s.ends(id)
	for _, name := range []string{"wf_" + strings.Repeat("a", 26) + ".json", "wf_" + strings.Repeat("b", 26) + ".json"} {
		g.Expect(os.Mkdir(filepath.Join(w.path("operations"), name), 0o700)).To(Succeed()) // who reads it fails
	}
	g.Expect(s.about("status", id).State).To(Equal("completed"))
}
