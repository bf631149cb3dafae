package toolspec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
)

func specs(t *testing.T) *Set {
	t.Helper()
	set, err := Specs()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// valid is one good call of every tool, with every argument that it takes.
func valid() map[string]map[string]any {
	return map[string]map[string]any{
		WorkStart:    {"task_key": "t", "title": "T", "note": "n", "idempotency_key": "k"},
		WorkNote:     {"item_id": "i", "text": "x\nä\u0000", "attachment": "a/b.txt", "idempotency_key": "k"},
		WorkStatus:   {"item_id": "i", "status": "doing", "idempotency_key": "k"},
		WorkComplete: {"item_id": "i", "idempotency_key": "k"},
		WorkCancel:   {"item_id": "i", "idempotency_key": "k"},
		WorkGet:      {"item_id": "i"},
	}
}

func raw(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type schema struct {
	Required   []string `json:"required"`
	Properties map[string]struct {
		Type    string `json:"type"`
		Enum    []any  `json:"enum"`
		Max     int    `json:"maxLength"`
		Pattern string `json:"pattern"`
	} `json:"properties"`
}

func TestEveryViolationThatASchemaNamesIsRefused(t *testing.T) {
	g := NewWithT(t)
	set := specs(t)
	g.Expect(set.All()).To(HaveLen(len(valid())))
	for _, spec := range set.All() {
		var in schema
		g.Expect(json.Unmarshal(spec.Input, &in)).To(Succeed())
		with := func(change func(map[string]any)) json.RawMessage {
			a := valid()[spec.Name]
			change(a)
			return raw(t, a)
		}
		g.Expect(set.Check(spec.Name, raw(t, valid()[spec.Name]))).To(BeNil(), spec.Name)
		bad := map[string]json.RawMessage{
			"extra property": with(func(a map[string]any) { a["surprise"] = 1 }),
			"no object":      json.RawMessage(`[]`),
			"no JSON":        json.RawMessage(`{"item_id":`),
			"nothing":        nil,
		}
		for _, name := range in.Required {
			bad["missing "+name] = with(func(a map[string]any) { delete(a, name) })
		}
		for name, p := range in.Properties {
			bad["null "+name] = with(func(a map[string]any) { a[name] = nil })
			bad["number "+name] = with(func(a map[string]any) { a[name] = 7 })
			bad["empty "+name] = with(func(a map[string]any) { a[name] = "" })
			if p.Enum != nil {
				bad["unknown "+name] = with(func(a map[string]any) { a[name] = "cancelled" })
				bad["case of "+name] = with(func(a map[string]any) { a[name] = "Doing" })
			} else {
				g.Expect(p.Max).To(BeNumerically(">", 0), "%s.%s has a bound", spec.Name, name)
				bad["long "+name] = with(func(a map[string]any) { a[name] = strings.Repeat("ä", p.Max+1) })
				g.Expect(set.Check(spec.Name, with(func(a map[string]any) { a[name] = strings.Repeat("ä", p.Max) }))).To(BeNil())
			}
			if p.Pattern != "" {
				for _, control := range []string{"a\x00b", "a\n", "\x7f"} {
					bad[fmt.Sprintf("%s %q", name, control)] = with(func(a map[string]any) { a[name] = control })
				}
			}
		}
		for what, arguments := range bad {
			f := set.Check(spec.Name, arguments)
			g.Expect(f).NotTo(BeNil(), "%s with %s", spec.Name, what)
			g.Expect(f.Class).To(Equal(sidecar.Permanent))
			g.Expect(f.Code).To(Equal(CodeInvalidArguments))
			g.Expect(f.Reason).To(HavePrefix("the arguments of "+spec.Name), what)
			g.Expect(f.Reason).To(HaveSuffix("; nothing was stored"))
		}
	}
	g.Expect(set.Check("work_undo", json.RawMessage(`{}`)).Reason).To(Equal(`there is no tool "work_undo"; nothing was stored`))
}

func TestRefusalsNameThePlaceAndNotTheContent(t *testing.T) {
	g := NewWithT(t)
	f := specs(t).Check(WorkStatus, json.RawMessage(`{"item_id":"i","status":"secret-canary","job_id":"x"}`))
	g.Expect(f.Reason).To(ContainSubstring(`/: missing property 'idempotency_key'`))
	g.Expect(f.Reason).To(ContainSubstring(`/: unknown property "job_id" (this helper speaks contract version 3)`))
	g.Expect(f.Reason).To(ContainSubstring(`/status: value must be one of 'todo', 'doing', 'waiting', 'done'`))
	g.Expect(f.Reason).NotTo(ContainSubstring("canary"))
}

func TestSpecsAreTheSameAtEveryStart(t *testing.T) {
	g := NewWithT(t)
	first, second := specs(t).All(), specs(t).All()
	for i := range first {
		g.Expect(string(first[i].Input)).To(Equal(string(second[i].Input)))
		g.Expect(string(first[i].Output)).To(Equal(string(second[i].Output)))
		g.Expect(first[i].Name).To(Equal(second[i].Name))
	}
	g.Expect(slices.IsSortedFunc(first, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })).To(BeTrue())
}

func TestOutputSchemasOfferEveryWordAndNoOther(t *testing.T) {
	g := NewWithT(t)
	answer := func(state, anchor, class, code string) json.RawMessage {
		return raw(t, map[string]any{
			"item_id": "i", "state": state, "anchor": anchor, "materialized": true, "contract_version": sidecar.ContractVersion,
			"failure": map[string]any{"class": class, "code": code, "reason": "r"},
		})
	}
	for _, spec := range specs(t).All() {
		for _, state := range CommandStates() {
			for _, anchor := range AnchorStates() {
				g.Expect(spec.CheckAnswer(answer(state, string(anchor), "transient", CodeNeverIssued))).To(Succeed())
			}
		}
		for _, code := range Codes() {
			g.Expect(spec.CheckAnswer(answer("queued", "live", "blocked", code))).To(Succeed())
		}
		for _, wrong := range []json.RawMessage{
			answer("pending", "live", "permanent", CodeNeverIssued), answer("queued", "issued", "permanent", CodeNeverIssued),
			answer("queued", "live", "fatal", CodeNeverIssued), answer("queued", "live", "permanent", "oops"),
			json.RawMessage(`{"contract_version":3}`), json.RawMessage(`{"contract_version":3,"item_id":"i"}`), json.RawMessage(`{`),
		} {
			g.Expect(spec.CheckAnswer(wrong)).NotTo(Succeed(), string(wrong))
		}
	}
}

func TestClaimsOfTheTools(t *testing.T) {
	g := NewWithT(t)
	for _, spec := range specs(t).All() {
		g.Expect(spec.Annotations.ReadOnly).To(Equal(spec.Access == Read), spec.Name)
		if !spec.Annotations.ReadOnly {
			g.Expect(string(spec.Input)).To(ContainSubstring("idempotency_key"), "%s claims to be idempotent", spec.Name)
		}
		g.Expect(spec.Annotations.Idempotent).To(BeTrue())
	}
}
