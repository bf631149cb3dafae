package versions

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/docpage"
	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

const page = "../../docs/sidecar.md"

// generated are the parts of the page that are made of what the code holds.
func generated() map[string]string {
	return map[string]string{
		"schema 3":        docpage.Block("sql", sidecar.SchemaSQL(3)),
		"schema 2":        docpage.Block("sql", sidecar.SchemaSQL(2)),
		"schema 1":        docpage.Block("sql", sidecar.SchemaSQL(1)),
		"anchor diagram":  docpage.Block("mermaid", anchorDiagram()),
		"anchor table":    anchorTable(),
		"start diagram":   docpage.Block("mermaid", intentDiagram(true)),
		"follow diagram":  docpage.Block("mermaid", intentDiagram(false)),
		"intent table":    intentTable(),
		"events":          eventTable(),
		"pairs":           pairTable(),
		"tools":           toolTable(),
		"runnable":        docpage.Block("sql", "SELECT i.* FROM intents i "+sidecar.RunnableSQL),
		"settable status": "`" + strings.Join(words(sidecar.SettableStatuses()), "`, `") + "`",
	}
}

func words[T ~string](list []T) (all []string) {
	for _, w := range list {
		all = append(all, string(w))
	}
	return all
}

// name is a state as a diagram's word.
func name[T ~string](s T) string {
	switch {
	case s == "":
		return "[*]"
	case string(s) == string(sidecar.Spent):
		return "start_failed"
	}
	return string(s)
}

// arrows draws what changes a state; the events of one arrow stand together.
type arrows struct {
	order []string
	on    map[string][]string
}

func (a *arrows) add(from, to string, e sidecar.Event) {
	if a.on == nil {
		a.on = map[string][]string{}
	}
	arrow := from + " --> " + to
	if _, known := a.on[arrow]; !known {
		a.order = append(a.order, arrow)
	}
	a.on[arrow] = append(a.on[arrow], string(e))
}

func (a *arrows) text() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, arrow := range a.order {
		fmt.Fprintf(&b, "    %s: %s\n", arrow, strings.Join(a.on[arrow], ", "))
	}
	return b.String()
}

func anchorDiagram() string {
	var a arrows
	for _, s := range sidecar.AnchorSteps() {
		if s.Refused == nil && s.From != s.To {
			a.add(name(s.From), name(s.To), s.Event)
		}
	}
	return a.text()
}

func intentDiagram(start bool) string {
	var a arrows
	for _, s := range sidecar.IntentSteps() {
		if s.Start == start && s.Refused == nil && (s.From != s.To || s.From == sidecar.Retrying && s.Event == sidecar.LateAgain) {
			a.add(name(s.From), name(s.To), s.Event)
		}
	}
	return a.text()
}

func step(from, to string, refused error) string {
	switch {
	case refused != nil:
		return "refused: " + refused.Error()
	case from == to:
		return "stays"
	}
	return "**" + to + "**"
}

var events = []sidecar.Event{sidecar.LateAgain, sidecar.BlockedNow, sidecar.FailedOnce, sidecar.AppliedNow, sidecar.FoundThere, sidecar.FoundGone}

func headed(first string) []string {
	head := []string{first}
	for _, e := range events {
		head = append(head, string(e))
	}
	return head
}

func anchorTable() string {
	var rows [][]string
	for _, from := range []sidecar.AnchorState{"", sidecar.Provisional, sidecar.Spent, sidecar.Live, sidecar.Dead} {
		row := []string{name(from)}
		if from == "" {
			row[0] = "(never issued)"
		}
		for _, e := range events {
			cell := "has no start"
			for _, s := range sidecar.AnchorSteps() {
				if s.From == from && s.Event == e {
					cell = step(name(s.From), name(s.To), s.Refused)
				}
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return docpage.Table(headed("anchor"), rows)
}

func intentTable() string {
	var rows [][]string
	for _, start := range []bool{true, false} {
		for _, from := range []sidecar.IntentState{sidecar.Pending, sidecar.Retrying, sidecar.Failed, sidecar.Applied} {
			row := []string{map[bool]string{true: "start, ", false: "follow-up, "}[start] + string(from)}
			for _, e := range events {
				for _, s := range sidecar.IntentSteps() {
					if s.Start == start && s.From == from && s.Event == e {
						row = append(row, step(name(s.From), name(s.To), s.Refused))
					}
				}
			}
			rows = append(rows, row)
		}
	}
	return docpage.Table(headed("intent"), rows)
}

func eventTable() string {
	var rows [][]string
	for _, r := range sidecar.EventRules() {
		rows = append(rows, []string{string(r.Event), r.By, r.Guard, r.Also})
	}
	return docpage.Table([]string{"event", "by", "guard", "in the same transaction"}, rows)
}

func pairTable() string {
	head := []string{"helper", "app", "outcome", "why"}
	var rows [][]string
	for _, p := range Pairs() {
		rows = append(rows, []string{fmt.Sprint(p.Helper), fmt.Sprint(p.App), string(p.Outcome), p.Because})
	}
	return docpage.Table(head, rows)
}

func toolTable() string {
	var rows [][]string
	list := toolspec.Definitions()
	slices.SortFunc(list, func(a, b toolspec.Spec) int { return strings.Compare(a.Name, b.Name) })
	for _, spec := range list {
		var input struct {
			Required   []string
			Properties map[string]struct {
				MaxLength int
				Enum      []string
			}
		}
		if err := json.Unmarshal(spec.Input, &input); err != nil {
			panic(err) // a schema of literals
		}
		var needed, may []string
		for _, field := range slices.Sorted(maps.Keys(input.Properties)) {
			p := input.Properties[field]
			said := "`" + field + "`"
			if p.MaxLength > 0 {
				said += fmt.Sprintf(" (%d)", p.MaxLength)
			}
			if slices.Contains(input.Required, field) {
				needed = append(needed, said)
			} else {
				may = append(may, said)
			}
		}
		var claims []string
		for claim, made := range map[string]bool{"readOnlyHint": spec.Annotations.ReadOnly, "destructiveHint": spec.Annotations.Destructive, "idempotentHint": spec.Annotations.Idempotent} {
			if made {
				claims = append(claims, "`"+claim+"`")
			}
		}
		slices.Sort(claims)
		rows = append(rows, []string{"`" + spec.Name + "`", string(spec.Access), strings.Join(needed, ", "), strings.Join(may, ", "), strings.Join(claims, ", ")})
	}
	return docpage.Table([]string{"tool", "access", "required", "optional", "claims"}, rows)
}

func TestThePageIsCurrent(t *testing.T) { docpage.Hold(t, page, generated()) }

// Whoever writes a helper or an app after the page needs every word of it.
func TestThePageNamesEveryWord(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(page)
	g.Expect(err).NotTo(HaveOccurred())
	text := string(raw)
	all := toolspec.Codes()
	for _, list := range [][]string{toolspec.CommandStates(), words(toolspec.AnchorStates()), Names(),
		{string(sidecar.Transient), string(sidecar.Permanent), string(sidecar.Blocked), string(Agrees), string(Repaired), string(Refused), "Holdfast-Contract-Version"}} {
		all = append(all, list...)
	}
	for _, word := range all {
		g.Expect(strings.Contains(text, "`"+word+"`")).To(BeTrue(), "docs/sidecar.md does not name %s", word)
	}
	for _, spec := range toolspec.Definitions() {
		g.Expect(text).To(ContainSubstring("`" + spec.Name + "`"))
	}
	g.Expect(slices.Compact(slices.Sorted(slices.Values(all)))).To(HaveLen(len(all)))
}
