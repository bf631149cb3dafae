package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

func TestTheDefaultIsAPolicy(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "new", "policy.json")
	_, err := policy.At(path).Current(t.Context())
	g.Expect(err).To(And(MatchError(os.ErrNotExist), MatchError(ContainSubstring("without a policy nothing is permitted"))))
	g.Expect(policy.Begin(path)).To(Succeed())
	p, err := policy.At(path).Current(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p).To(Equal(policy.Default()))
	left, err := os.ReadDir(filepath.Dir(path))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(HaveLen(1))
}

func TestAPolicyThatIsThereIsNotBegunAnew(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "policy.json")
	g.Expect(policy.Begin(path)).To(Succeed())
	g.Expect(policy.Deny(path, "write_mode")).To(Succeed())
	g.Expect(policy.Begin(path)).To(Succeed())
	p, err := policy.At(path).Current(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Writes).To(Equal("off"))
}

func TestWhatIsNoPolicyPermitsNothing(t *testing.T) {
	text := func(edit func(map[string]any)) string {
		raw, _ := json.Marshal(policy.Default())
		var m map[string]any
		_ = json.Unmarshal(raw, &m)
		edit(m)
		raw, _ = json.Marshal(m)
		return string(raw)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":                   {"", "EOF"},
		"torn":                    {`{"guilds":[`, "unexpected EOF"},
		"two":                     {text(func(map[string]any) {}) + "{}", "something follows the policy"},
		"a control that is none":  {text(func(m map[string]any) { m["approvals"] = "off" }), `unknown field "approvals"`},
		"no word on writes":       {text(func(m map[string]any) { delete(m, "writes") }), `writes is "", expected on or off`},
		"another word on writes":  {text(func(m map[string]any) { m["writes"] = "maybe" }), `writes is "maybe", expected on or off`},
		"a time in the past":      {text(func(m map[string]any) { m["confirm_seconds"] = -1 }), "confirm_seconds is -1, expected 0 or more"},
		"a category of all":       {text(func(m map[string]any) { m["categories"] = map[string]any{"open": "all"} }), `category "open" permits "all", expected none, read or write`},
		"an access of all":        {text(func(m map[string]any) { m["profiles"] = map[string]any{"p": []any{"all"}} }), `profile "p" has the access "all", expected read or write`},
		"an approval of its own":  {text(func(m map[string]any) { m["tools"] = map[string]any{"publish": map[string]any{"approval": "off"}} }), `tool "publish" has approval "off", expected required or none`},
		"a claim that is no bool": {text(func(m map[string]any) { m["tools"] = map[string]any{"publish": map[string]any{"idempotent": "yes"}} }), "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policy.Parse("policy.json", []byte(c.text))
			NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(c.want), ContainSubstring("nothing is permitted"))))
		})
	}
}

func TestEachControlCanBeMadeToDeny(t *testing.T) {
	for control, denied := range map[string]func(ports.Policy) bool{
		"allowlist":    func(p ports.Policy) bool { return !p.Allows("guild-1") },
		"category":     func(p ports.Policy) bool { return !p.Permits("open", ports.Read) && !p.Permits("open", ports.Write) },
		"access":       func(p ports.Policy) bool { return !p.Has("writer", ports.Read) && !p.Has("writer", ports.Write) },
		"write_mode":   func(p ports.Policy) bool { return p.Writes == "off" },
		"confirmation": func(p ports.Policy) bool { return p.ConfirmTTL() == 0 },
	} {
		g := NewWithT(t)
		g.Expect(policy.Controls()).To(ContainElement(control))
		g.Expect(denied(policy.Default())).To(BeFalse(), control)
		path := filepath.Join(t.TempDir(), "policy.json")
		g.Expect(policy.Begin(path)).To(Succeed())
		g.Expect(policy.Deny(path, control)).To(Succeed())
		p, err := policy.At(path).Current(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(denied(p)).To(BeTrue(), control)
		g.Expect(policy.Allow(path)).To(Succeed())
		p, err = policy.At(path).Current(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(p).To(Equal(policy.Default()))
	}
	err := policy.Deny("x", "luck")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring(`there is no control "luck"; there are ` + strings.Join(policy.Controls(), ", "))))
}

func TestAToolCanBeMadeToNeedAConfirmation(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "policy.json")
	g.Expect(policy.Begin(path)).To(Succeed())
	g.Expect(policy.Confirm(path, "set_topic")).To(Succeed())
	p, err := policy.At(path).Current(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.NeedsApproval("set_topic")).To(BeTrue())
	g.Expect(p.Tools["set_topic"].Retryable()).To(BeTrue(), "what it declares of repeating it stays")
	g.Expect(policy.Confirm(path, "luck")).To(MatchError(ContainSubstring(`it has no tool "luck"; there are composer_publish, nudge, publish`)))
}

func TestWhatIsNotNamedIsNotPermitted(t *testing.T) {
	g := NewWithT(t)
	var p ports.Policy
	g.Expect(p.Allows("")).To(BeFalse())
	g.Expect(p.Permits("", ports.Read)).To(BeFalse())
	g.Expect(p.Has("", ports.Read)).To(BeFalse())
	g.Expect(p.NeedsApproval("any")).To(BeTrue())
	g.Expect(p.Tools["any"].Retryable()).To(BeFalse())
}
