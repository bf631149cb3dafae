package versions

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/toolspec"
	"github.com/holdfast-mcp/holdfast/reference/versions/two"
)

// Every answer of an older helper keeps to the outputSchema that it declares,
// and has no field that came later.
func TestOldAnswersKeepToTheirSchemas(t *testing.T) {
	for version := 1; version < Current; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			w := newWorld(t)
			h := w.startHelper(version)
			defer h.leave()
			outputs := map[string]toolspec.Spec{}
			var list struct {
				Tools []struct {
					Name                      string
					InputSchema, OutputSchema json.RawMessage
				}
			}
			w.Expect(json.Unmarshal(h.ask("tools/list", `{}`), &list)).To(Succeed())
			w.Expect(list.Tools).To(HaveLen(6))
			var specs []toolspec.Spec
			for _, tool := range list.Tools {
				specs = append(specs, toolspec.Spec{Name: tool.Name, Input: tool.InputSchema, Output: tool.OutputSchema})
			}
			set, err := toolspec.Compile(version, specs)
			w.Expect(err).NotTo(HaveOccurred())
			for _, s := range set.All() {
				outputs[s.Name] = s
			}
			call := func(tool string, a map[string]any) (answer, bool) {
				t.Helper()
				got, isError := h.call(tool, a)
				raw, err := json.Marshal(got)
				w.Expect(err).NotTo(HaveOccurred())
				spec := outputs[tool]
				w.Expect(spec.CheckAnswer(raw)).To(Succeed(), string(raw))
				w.Expect(got["contract_version"]).To(BeEquivalentTo(version))
				w.Expect(got).NotTo(HaveKey("failure"), "classes came with version 3")
				return got, isError
			}
			call("work_start", map[string]any{"task_key": "t", "title": "T", "idempotency_key": "s"})
			stop := w.startApp(version)
			defer stop()
			var item string
			w.Eventually(func() string {
				got, _ := call("work_start", map[string]any{"task_key": "t", "title": "T", "idempotency_key": "s"})
				item = got.text("item_id")
				return got.text("state")
			}).WithTimeout(patience).Should(Equal("applied"))
			for tool, a := range map[string]map[string]any{
				"work_note":     {"item_id": item, "text": "x", "idempotency_key": "n"},
				"work_status":   {"item_id": item, "status": "doing", "idempotency_key": "d"},
				"work_complete": {"item_id": item, "idempotency_key": "c"},
				"work_cancel":   {"item_id": item, "idempotency_key": "x"},
				"work_get":      {"item_id": item},
			} {
				got, isError := call(tool, a)
				w.Expect(isError).To(BeFalse(), "%s: %v", tool, got)
			}
			failed, isError := call("work_note", map[string]any{"item_id": "nobody", "text": "x", "idempotency_key": "y"})
			w.Expect(isError).To(BeTrue())
			w.Expect(failed.text("error")).To(ContainSubstring("never issued"))
		})
	}
}

// A field or a word that came later is refused naming the version that is
// supported, and nothing is stored (WR-31).
func TestANewerFieldOrWordIsRefused(t *testing.T) {
	w := newWorld(t)
	h := w.startHelper(1)
	defer h.leave()
	h.start("task")
	before := w.counted()
	for _, c := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"work_start", map[string]any{"task_key": "t", "title": "T", "note": "first", "idempotency_key": "a"}},
		{"work_note", map[string]any{"item_id": "i", "text": "x", "attachment": "file", "idempotency_key": "b"}},
		{"work_status", map[string]any{"item_id": "i", "status": "waiting", "idempotency_key": "c"}},
	} {
		got, isError := h.call(c.tool, c.arguments)
		w.Expect(isError).To(BeTrue())
		w.Expect(got.text("error")).To(ContainSubstring("this helper speaks contract version 1"), c.tool)
	}
	w.Expect(w.counted()).To(Equal(before))
}

func TestAnUnknownProcessIsRefusedNamingThoseThatThereAre(t *testing.T) {
	g := NewWithT(t)
	err := Run(t.Context(), "helper@9", func(string) string { return "" })
	g.Expect(err).To(MatchError(`the reference has no process "helper@9" of an older contract version; there are app@1, app@2, helper@1, helper@2`))
	var config *ConfigError
	g.Expect(err).To(BeAssignableToTypeOf(config))
	for _, name := range Names() {
		g.Expect(Run(t.Context(), name, func(string) string { return "" })).To(And(BeAssignableToTypeOf(config), MatchError(ContainSubstring("SIDECAR is not set"))), name)
	}
}

func TestToolsOfAnOlderVersionAreTheSameAtEveryStart(t *testing.T) {
	g := NewWithT(t)
	first, err := two.Tools(two.Version)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := two.Tools(two.Version)
	g.Expect(err).NotTo(HaveOccurred())
	for n, s := range first.All() {
		g.Expect(string(s.Output)).To(Equal(string(again.All()[n].Output)))
		g.Expect(string(s.Input)).To(Equal(string(again.All()[n].Input)))
	}
}

// An app that can not use the sidecar says so for as long as it runs.
func TestAnAppOverANewerSidecarSaysItsVersion(t *testing.T) {
	w := newWorld(t)
	h := w.startHelper(Current)
	h.start("task")
	h.leave()
	before := w.counted()
	stop := w.startApp(2)
	defer stop()
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/healthz":        {200, `"ok":false`},
		"/agent/contract": {200, `{"version":2}`},
		"/cards":          {409, "it has contract version 3, this build supports version 2"},
	} {
		status, body, header := w.get(path)
		w.Expect(status).To(Equal(want.status), path)
		w.Expect(body).To(ContainSubstring(want.says), path)
		w.Expect(header.Get("Holdfast-Contract-Version")).To(Equal("2"), path)
	}
	w.Consistently(w.counted).WithTimeout(100 * time.Millisecond).Should(Equal(before))
}
