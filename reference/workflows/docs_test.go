package workflows

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/docpage"
	"github.com/holdfast-mcp/holdfast/reference/workflows/chain"
	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/engine"
	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

const page = "../../docs/workflows.md"

// generated are the parts of the page that are made of what the code holds.
func generated(t *testing.T) map[string]string {
	first, err := json.MarshalIndent(policy.Default(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"tools":             toolTable(),
		"controls":          controlTable(),
		"policy":            docpage.Block("json", string(first)),
		"operation diagram": docpage.Block("mermaid", operationDiagram()),
		"step diagram":      docpage.Block("mermaid", stepDiagram()),
		"events":            eventTable(),
		"task states":       taskTable(),
		"codes":             codeTable(),
		"configuration":     docpage.Block("text", docpage.Configuration(t)),
	}
}

func toolTable() string {
	var rows [][]string
	for _, spec := range definitions.Definitions() {
		rows = append(rows, []string{"`" + spec.Name + "`", string(spec.Access), spec.Description})
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return docpage.Table([]string{"tool", "access", "what it does"}, rows)
}

// denials are the codes of the controls, in their order.
var denials = []ports.Code{
	ports.CodeInvalidArguments, ports.CodeGuildNotAllowed, ports.CodeCategoryDenied,
	ports.CodeAccessDenied, ports.CodeWritesDisabled, ports.CodeApprovalInvalid,
}

func controlTable() string {
	var rows [][]string
	for i, c := range chain.Controls(nil, nil) {
		rows = append(rows, []string{c.Name(), "`" + string(denials[i]) + "`"})
	}
	return docpage.Table([]string{"control", "denies with"}, rows)
}

func operationDiagram() string {
	var all []docpage.Step
	for _, s := range engine.OperationSteps() {
		if s.From == "" || !s.From.Settled() {
			all = append(all, docpage.Step{From: string(s.From), Event: string(s.Event), To: string(s.To)})
		}
	}
	return "stateDiagram-v2\n" + docpage.Arrows(all)
}

func stepDiagram() string {
	all := []docpage.Step{{Event: string(engine.Started), To: string(ports.Pending)}}
	for _, s := range engine.StepSteps() {
		all = append(all, docpage.Step{From: string(s.From), Event: string(s.Event), To: string(s.To)})
	}
	return "stateDiagram-v2\n" + docpage.Arrows(all)
}

func eventTable() string {
	var rows [][]string
	for _, r := range engine.EventRules() {
		rows = append(rows, []string{string(r.Event), r.When})
	}
	return docpage.Table([]string{"event", "when"}, rows)
}

func taskTable() string {
	var rows [][]string
	for _, line := range definitions.TaskStates() {
		rows = append(rows, []string{"`" + string(line.State) + "`", "`" + string(line.Status) + "`", "`" + line.Why + "`"})
	}
	return docpage.Table([]string{"operation", "task", "its message"}, rows)
}

func codeTable() string {
	var rows [][]string
	for _, m := range ports.Meanings() {
		rows = append(rows, []string{"`" + string(m.Code) + "`", m.Meaning})
	}
	return docpage.Table([]string{"code", "meaning"}, rows)
}

func TestThePageIsCurrent(t *testing.T) { docpage.Hold(t, page, generated(t)) }

// Whoever writes another server after the page needs every word of it.
func TestThePageNamesEveryWord(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(page)
	g.Expect(err).NotTo(HaveOccurred())
	for _, s := range ports.States() {
		g.Expect(string(raw)).To(ContainSubstring(string(s)))
	}
	for _, s := range ports.StepStates() {
		g.Expect(string(raw)).To(ContainSubstring(string(s)))
	}
	for _, tag := range append(tags[ports.Operation](), append(tags[ports.Step](), tags[ports.Declared]()...)...) {
		g.Expect(string(raw)).To(ContainSubstring("`"+tag+"`"), "a field of the checkpoint")
	}
	for _, tag := range tags[ports.AuditRecord]() {
		if !strings.HasSuffix(tag, "_sha256") {
			g.Expect(string(raw)).To(ContainSubstring("`"+tag+"`"), "a field of the audit log")
		}
	}
}

// tags are the JSON names of a struct's own fields.
func tags[T any]() (all []string) {
	for f := range reflect.TypeFor[T]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			all = append(all, name)
		}
	}
	return all
}
