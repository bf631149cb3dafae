package trips

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/trips/api"
	"github.com/holdfast-mcp/holdfast/reference/trips/commands"
	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/sqlite"
)

var updatePage = flag.Bool("update", false, "write the generated parts of docs/trips.md anew")

const docsPage = "../../docs/trips.md"

// generated are the parts of the page that are made of what the code holds.
func generated(t *testing.T) map[string]string {
	return map[string]string{
		"rules":         ruleTable(t),
		"refusals":      refusalTable(),
		"tables":        block("sql", sqlite.SchemaSQL),
		"configuration": block("text", configuration(t)),
	}
}

func block(language, text string) string {
	return "```" + language + "\n" + strings.TrimRight(text, "\n") + "\n```"
}

func table(head []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// questions are what the rules ask, and what they end a command with.
var questions = map[string][2]string{
	"complete": {"Are `expectedRevision` and `commandId` there?", "400 `invalid`"},
	"access":   {"Is there such a draft, and is it the caller's?", "404 `not_found`"},
	"identity": {"Was this command applied before? Then it is answered with its stored result, and nothing else is asked. Was its ID used for another content?", "200, or 422 `command_reused`"},
	"fence":    {"Was it declared not applied?", "409 `fenced`"},
	"revision": {"Is the draft at the revision that it expects?", "409 `revision_conflict`"},
	"status":   {"Is the draft still open?", "409 `submitted`"},
}

func ruleTable(t *testing.T) string {
	var rows [][]string
	for _, r := range commands.Rules(commands.Owners{}) {
		asked, there := questions[r.Name]
		if !there {
			t.Errorf("nothing says what the rule %q asks", r.Name)
		}
		rows = append(rows, []string{r.Name, asked[0], asked[1]})
	}
	if len(rows) != len(questions) {
		t.Errorf("there are %d rules and %d questions", len(rows), len(questions))
	}
	return table([]string{"rule", "it asks", "it ends a command with"}, rows)
}

// tellable is one error of each kind.
var tellable = []error{
	ports.Invalid("what is wrong, in words"), ports.ErrSignInRefused, ports.ErrSignedOut, ports.ErrNoDraft, ports.ErrNoReceipt,
	&ports.ConflictError{Expected: 2, Current: 3}, ports.ErrSubmitted, ports.ErrFenced, ports.ErrReused, ports.ErrStore,
}

func refusalTable() string {
	var rows [][]string
	for _, err := range tellable {
		r := api.Refusals{}.Of(err)
		rows = append(rows, []string{fmt.Sprint(r.Status), "`" + r.Code + "`", r.Reason})
	}
	return table([]string{"status", "code", "for instance"}, rows)
}

// configuration is what the comment of FromEnv says.
func configuration(t *testing.T) string {
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Name.Name == "FromEnv" {
			_, list, _ := strings.Cut(f.Doc.Text(), ":\n\n")
			return strings.ReplaceAll(strings.TrimPrefix(list, "\t"), "\n\t", "\n")
		}
	}
	t.Fatal("config.go has no FromEnv")
	return ""
}

var part = regexp.MustCompile(`(?s)<!-- begin ([a-z0-9 ]+) -->\n.*?<!-- end -->`)

func TestThePageIsCurrent(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(docsPage)
	g.Expect(err).NotTo(HaveOccurred())
	parts := generated(t)
	var there []string
	fresh := part.ReplaceAllStringFunc(string(raw), func(old string) string {
		name := part.FindStringSubmatch(old)[1]
		there = append(there, name)
		text, known := parts[name]
		if !known {
			t.Errorf("docs/trips.md has a generated part %q that nothing makes", name)
			return old
		}
		return "<!-- begin " + name + " -->\n" + text + "\n<!-- end -->"
	})
	for name := range parts {
		g.Expect(there).To(ContainElement(name), "docs/trips.md lacks a generated part")
	}
	if *updatePage {
		g.Expect(os.WriteFile(docsPage, []byte(fresh), 0o644)).To(Succeed())
		return
	}
	if fresh != string(raw) {
		t.Error("docs/trips.md does not say what the code does; run: go test ./reference/trips -run TestThePageIsCurrent -update")
	}
}

// Each request that the tests send is one that the page tells of.
func TestThePageNamesEveryRequest(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(docsPage)
	g.Expect(err).NotTo(HaveOccurred())
	asWritten := strings.NewReplacer("trip-1", "{draft}", "c1", "{command}", "c2", "{command}")
	for _, r := range everyRoute {
		g.Expect(string(raw)).To(ContainSubstring("`" + r.method + " " + asWritten.Replace(r.path) + "`"))
	}
	for _, field := range ports.Fields() {
		g.Expect(string(raw)).To(ContainSubstring("`" + field + "`"))
	}
}
