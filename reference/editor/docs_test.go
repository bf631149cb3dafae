package editor

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/docpage"
	"github.com/holdfast-mcp/holdfast/reference/editor/definitions"
	"github.com/holdfast-mcp/holdfast/reference/editor/desk"
	"github.com/holdfast-mcp/holdfast/reference/editor/ports"
)

const page = "../../docs/receipts.md"

// generated are the parts of the page that are made of what the code holds.
func generated(t *testing.T) map[string]string {
	return map[string]string{
		"tools":             toolTable(),
		"mutation outcomes": mutationTable(),
		"recheck outcomes":  recheckTable(),
		"diagram":           docpage.Block("mermaid", diagram()),
		"events":            eventTable(),
		"labels":            labelTable(),
		"codes":             codeTable(),
		"configuration":     docpage.Block("text", docpage.Configuration(t)),
	}
}

func toolTable() string {
	var rows [][]string
	for _, spec := range definitions.Definitions() {
		rows = append(rows, []string{"`" + spec.Name + "`", string(spec.Access), spec.Description})
	}
	return docpage.Table([]string{"tool", "access", "what it does"}, rows)
}

// came is what can come of a request.
type came struct {
	what string
	err  error
}

// answers are the causes that both tables tell, in the order of the page.
var answers = []came{
	{"400", &ports.AnswerError{Status: 400}},
	{"401", &ports.AnswerError{Status: 401}},
	{"403", &ports.AnswerError{Status: 403}},
	{"404", &ports.AnswerError{Status: 404}},
	{"409 `revision_conflict`", &ports.AnswerError{Status: 409, Code: "revision_conflict"}},
	{"409 `submitted`", &ports.AnswerError{Status: 409, Code: "submitted"}},
	{"409 `fenced`", &ports.AnswerError{Status: 409, Code: "fenced"}},
	{"422", &ports.AnswerError{Status: 422}},
	{"any other 4xx", &ports.AnswerError{Status: 429}},
	{"5xx", &ports.AnswerError{Status: 503}},
	{"an answer that is no receipt of this command, or a redirect", ports.ErrUnreliable},
	{"a cut", io.ErrUnexpectedEOF},
	{"the deadline", context.DeadlineExceeded},
	{"a cancel", context.Canceled},
	{"no connection", ports.ErrUnsent},
}

// ended says how something ended, as the page does.
func ended(e ports.Ending) string { return fmt.Sprintf("`%s`, `%s`", e.Outcome, e.Code) }

// ofCommands says whether only a command is answered so.
func ofCommands(a came) bool {
	return strings.HasPrefix(a.what, "409") || a.what == "422"
}

func mutationTable() string {
	rows := [][]string{{"2xx with a receipt of this command", "", "`" + string(ports.Confirmed) + "`"}}
	for _, a := range answers {
		read := ended(Classes{}.Mutation(false, a.err))
		if ofCommands(a) {
			read = ""
		}
		rows = append(rows, []string{a.what, read, ended(Classes{}.Mutation(true, a.err))})
	}
	return docpage.Table([]string{"what came", "of the read before the dispatch", "of the mutation itself"}, rows)
}

func recheckTable() string {
	rows := [][]string{{"a receipt of this command", "`" + string(ports.Confirmed) + "`"}}
	for _, a := range answers {
		if !ofCommands(a) && a.what != "400" { // which is any other 4xx here
			rows = append(rows, []string{a.what, ended(Classes{}.Lookup(a.err))})
		}
	}
	rows = append(rows, []string{"404, the caller gives up, and the server fences the command", "`" + string(ports.NotApplied) + "`"})
	return docpage.Table([]string{"what came of the lookup", "outcome and code"}, rows)
}

// node is a position as mermaid can name it.
func node(p desk.Position) string { return strings.ReplaceAll(string(p), ", ", "_") }

// diagram draws the editor's positions, and what leads from one to another.
func diagram() string {
	var steps []docpage.Step
	for _, s := range desk.Steps() {
		steps = append(steps, docpage.Step{From: node(s.From), Event: string(s.Event), To: node(s.To)})
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, p := range desk.Positions() {
		if node(p) != string(p) {
			fmt.Fprintf(&b, "    state %q as %s\n", p, node(p))
		}
	}
	b.WriteString("    [*] --> " + node(desk.Idle) + "\n")
	return b.String() + docpage.Arrows(steps)
}

func eventTable() string {
	var rows [][]string
	for _, r := range desk.EventRules() {
		rows = append(rows, []string{string(r.Event), r.When})
	}
	return docpage.Table([]string{"event", "when"}, rows)
}

func labelTable() string {
	var rows [][]string
	for _, p := range desk.Positions() {
		label := string(desk.LabelOf(p))
		if p == desk.Idle {
			label += "` or `" + string(ports.UnsavedChanges)
		}
		rows = append(rows, []string{string(p), "`" + label + "`"})
	}
	return docpage.Table([]string{"the editor is", "the person sees"}, rows)
}

func codeTable() string {
	var rows [][]string
	for _, m := range ports.Meanings() {
		rows = append(rows, []string{"`" + string(m.Code) + "`", m.Meaning})
	}
	return docpage.Table([]string{"code", "meaning"}, rows)
}

func TestThePageIsCurrent(t *testing.T) { docpage.Hold(t, page, generated(t)) }

// Whoever writes another editor after the page needs every word of it.
func TestThePageNamesEveryWord(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(page)
	g.Expect(err).NotTo(HaveOccurred())
	for _, s := range ports.States() {
		g.Expect(string(raw)).To(ContainSubstring("`" + string(s) + "`"))
	}
	for _, o := range ports.Outcomes() {
		g.Expect(string(raw)).To(ContainSubstring("`" + string(o) + "`"))
	}
	for _, of := range []reflect.Type{reflect.TypeFor[ports.Answer](), reflect.TypeFor[ports.Pointer](), reflect.TypeFor[ports.Attached]()} {
		for f := range of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			g.Expect(string(raw)).To(MatchRegexp("[`\"]"+name+"[`\"]"), "a field of an answer")
		}
	}
}
