package workflows

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/chat"
	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// audited are the lines of the audit log.
func (w *world) audited() (all []ports.AuditRecord, raw string) {
	w.t.Helper()
	content, err := os.ReadFile(w.path("audit/audit.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(content)))
	for lines.Scan() {
		var r ports.AuditRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			w.t.Fatalf("the audit log holds %q: %v", lines.Text(), err)
		}
		all = append(all, r)
	}
	return all, string(content)
}

// Every control denies a step by what the policy says as the step runs, though the
// operation began when all was allowed (WF-04).
func TestEachControlStopsTheStepThatRunsAfterItChanged(t *testing.T) {
	for control, code := range map[string]ports.Code{
		"allowlist": ports.CodeGuildNotAllowed, "category": ports.CodeCategoryDenied, "access": ports.CodeAccessDenied,
		"write_mode": ports.CodeWritesDisabled, "confirmation": ports.CodeApprovalInvalid,
	} {
		t.Run(control, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			s := w.launch()
			defer s.kill()
			first, second := s.confirmed("publish", post("one")), s.confirmed("publish", post("two"))
			w.control(chat.HoldPath, chat.Hold{Point: chat.AfterApplied})
			o := s.start(step("publish", first), step("publish", second), nudge("three"))
			w.untilHeld()
			g.Expect(policy.Deny(w.path("policy.json"), control)).To(Succeed())
			w.control(chat.ReleasePath, struct{}{})
			end := s.ends(o.Operation)
			g.Expect(end.State).To(Equal("failed"), end.raw)
			g.Expect(end.Code).To(Equal(code))
			g.Expect(end.Steps).To(And(HaveKeyWithValue("done", 1), HaveKeyWithValue("failed", 1), HaveKeyWithValue("pending", 1)))
			g.Expect(w.effects()).To(Equal([]string{"one"}))

			records, _ := w.audited()
			var steps []ports.AuditRecord
			for _, r := range records {
				if r.Via == "step" {
					steps = append(steps, r)
				}
			}
			g.Expect(steps).To(HaveLen(2), "one line for each step that was tried")
			g.Expect(steps[0].Decision).To(Equal("allowed"))
			g.Expect(steps[1].Decision).To(Equal("denied"))
			g.Expect(steps[1].Code).To(Equal(code))
			g.Expect(steps[1].Operation).To(Equal(o.Operation))

			g.Expect(policy.Allow(w.path("policy.json"))).To(Succeed())
			direct := s.call("publish", bind(s.confirmed("publish", post("four"))))
			g.Expect(direct.Ending).To(Equal(ports.Succeeded), direct.raw)
		})
	}
}

func TestAStepThatTheMiddlewareDeniesHasItsCode(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*world, *server)
		step   map[string]any
		code   ports.Code
	}{
		"a schema":              {step: step("nudge", arguments{"channel": "lobby"}), code: ports.CodeInvalidArguments},
		"another guild":         {step: step("nudge", arguments{"channel": "elsewhere", "content": "x"}), code: ports.CodeGuildNotAllowed},
		"no such channel":       {step: step("nudge", arguments{"channel": "nowhere", "content": "x"}), code: ports.CodeGuildNotAllowed},
		"a category to read":    {step: step("nudge", arguments{"channel": "records", "content": "x"}), code: ports.CodeCategoryDenied},
		"no confirmation":       {step: step("publish", post("x")), code: ports.CodeApprovalInvalid},
		"an invented one":       {step: step("publish", arguments{"channel": "lobby", "content": "x", "__confirm": true, "__confirm_hash": "h", "__confirm_id": "cf_aaaaaaaaaaaaaaaaaaaaaaaaaa"}), code: ports.CodeApprovalInvalid},
		"no policy":             {before: func(w *world, _ *server) { _ = os.Remove(w.path("policy.json")) }, step: read(), code: ports.CodePolicyUnreadable},
		"a policy that is none": {before: func(w *world, _ *server) { _ = os.WriteFile(w.path("policy.json"), []byte("{"), 0o600) }, step: read(), code: ports.CodePolicyUnreadable},
		"no audit":              {before: func(w *world, _ *server) { _ = os.Chmod(w.path("audit"), 0o755) }, step: read(), code: ports.CodeAuditUnavailable},
		"the binding":           {step: step("nudge", arguments{"channel": "lobby", "content": "x", "target": "guild-2"}), code: ports.CodeInvalidArguments},
	} {
		t.Run(name, func(t *testing.T) {
			g, w := NewWithT(t), newWorld(t)
			s := w.launch()
			defer s.kill()
			s.call("read_messages", bind(arguments{"channel": "lobby"})) // it is up, and has its policy
			if c.before != nil {
				c.before(w, s)
			}
			end := s.ends(s.start(c.step, nudge("after")).Operation)
			g.Expect(end.State).To(Equal("failed"), end.raw)
			g.Expect(end.Code).To(Equal(c.code))
			g.Expect(w.effects()).To(BeEmpty())
		})
	}
}

// A confirmation works once, for exactly what was previewed (WF-06).
func TestAConfirmationIsForOneWriteOnce(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	confirmed := s.confirmed("publish", post("one"))
	for name, change := range map[string]func(arguments){
		"other content": func(a arguments) { a["content"] = "two" },
		"other channel": func(a arguments) { a["channel"] = "news" },
		"other hash":    func(a arguments) { a["__confirm_hash"] = "0" },
		"other ID":      func(a arguments) { a["__confirm_id"] = "../approvals/" + a["__confirm_id"].(string) },
	} {
		wrong := arguments{}
		for k, v := range confirmed {
			wrong[k] = v
		}
		change(wrong)
		end := s.ends(s.start(step("publish", wrong)).Operation)
		g.Expect(end.Code).To(Equal(ports.CodeApprovalInvalid), name)
	}
	other := arguments{"profile": "other"}
	for k, v := range confirmed {
		other[k] = v
	}
	g.Expect(s.call("publish", bind(other)).Code).To(Equal(ports.CodeApprovalInvalid), "another profile's")

	g.Expect(s.ends(s.start(step("publish", confirmed), step("publish", confirmed)).Operation)).To(
		And(HaveField("State", "failed"), HaveField("Code", ports.CodeApprovalInvalid), HaveField("Steps", HaveKeyWithValue("done", 1))), "used up by the first")
	g.Expect(w.effects()).To(Equal([]string{"one"}))
}

func TestWhatCannotBeAStep(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	many := func(n int) (all []map[string]any) {
		for range n {
			all = append(all, read())
		}
		return all
	}
	for name, c := range map[string]struct {
		steps []map[string]any
		code  ports.Code
	}{
		"none":             {[]map[string]any{}, ports.CodeInvalidArguments},
		"129":              {many(129), ports.CodeInvalidArguments},
		"a pipeline":       {[]map[string]any{read(), step("mcp_pipeline", arguments{"steps": []any{}})}, ports.CodeStepRefused},
		"a start":          {[]map[string]any{step("workflow_start", arguments{})}, ports.CodeStepRefused},
		"a status":         {[]map[string]any{step("workflow_status", arguments{})}, ports.CodeStepRefused},
		"a resume":         {[]map[string]any{step("workflow_resume", arguments{})}, ports.CodeStepRefused},
		"a cancel":         {[]map[string]any{step("workflow_cancel", arguments{})}, ports.CodeStepRefused},
		"no tool":          {[]map[string]any{step("nothing", arguments{})}, ports.CodeStepRefused},
		"another spelling": {[]map[string]any{step("Workflow_Start", arguments{})}, ports.CodeStepRefused},
	} {
		for _, tool := range []string{"workflow_start", "mcp_pipeline"} {
			a := s.call(tool, bind(arguments{"steps": c.steps}))
			g.Expect(a.isError).To(BeTrue(), name)
			g.Expect(a.Code).To(Equal(c.code), "%s of %s", tool, name)
			g.Expect(a.State).To(BeEmpty())
		}
	}
	stored, err := os.ReadDir(w.path("operations"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(stored).To(BeEmpty())
	g.Expect(s.ends(s.start(many(128)...).Operation)).To(And(HaveField("State", "completed"), HaveField("Steps", HaveKeyWithValue("done", 128))))
}

// Nobody else learns that an operation exists: the answers about one that is
// another's and one that never was differ in nothing (WF-03, WF-24).
func TestOnlyItsBindingReachesAnOperation(t *testing.T) {
	g, w := NewWithT(t), newWorld(t)
	s := w.launch()
	defer s.kill()
	id := s.start(read()).Operation
	s.ends(id)
	never := "wf_" + strings.Repeat("a", 26)
	for _, verb := range []string{"workflow_status", "workflow_resume", "workflow_cancel"} {
		for _, a := range []arguments{
			{"operation": id, "profile": "other"}, {"operation": id, "target": "guild-2"}, {"operation": never},
			{"operation": "../operations/" + id}, {"operation": id + ".json"}, {"operation": id + "\x00"}, {"operation": strings.ToUpper(id)}, {"operation": ""},
		} {
			a := s.call(verb, bind(a))
			g.Expect(a.isError).To(BeTrue())
			g.Expect(a).To(And(HaveField("Code", ports.CodeOperationUnknown), HaveField("Operation", ""), HaveField("Target", ""), HaveField("State", "")), a.raw)
		}
	}
	g.Expect(s.about("status", id).State).To(Equal("completed"))
}
