package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
)

// The actions deny and allow of the built-in target change the policy by this verb.
func TestThePolicyVerb(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "policy.json")
	code, _, errs := holdfast(t, "policy", path, "allow")
	g.Expect([]any{code, errs}).To(Equal([]any{0, ""}))
	code, _, errs = holdfast(t, "policy", path, "deny", "write_mode")
	g.Expect([]any{code, errs}).To(Equal([]any{0, ""}))
	raw, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	var p struct{ Writes string }
	g.Expect(json.Unmarshal(raw, &p)).To(Succeed())
	g.Expect(p.Writes).To(Equal("off"))
	g.Expect(policy.Controls()).To(ConsistOf(target.Controls()), "every control that a target file can name")

	code, _, errs = holdfast(t, "policy", path, "forbid")
	g.Expect(code).To(Equal(2))
	g.Expect(errs).To(ContainSubstring("expected FILE deny CONTROL, with a control of allowlist, category, access, write_mode, confirmation, FILE confirm TOOL, or FILE allow"))
	code, _, errs = holdfast(t, "policy", path, "deny", "luck")
	g.Expect(code).NotTo(BeZero())
	g.Expect(errs).To(ContainSubstring(`there is no control "luck"`))
}

func TestTheWorkflowsProcessesSayWhatTheyLack(t *testing.T) {
	for process, variable := range map[string]string{"workflows": "WORKFLOWS_STORE", "chat": "CHAT_LOG"} {
		t.Setenv(variable, "")
		code, _, errs := holdfast(t, "reference", process)
		g := NewWithT(t)
		g.Expect(code).To(Equal(2))
		g.Expect(errs).To(ContainSubstring(variable + " is not set"))
	}
}
