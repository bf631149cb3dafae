package trips

import (
	"fmt"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/docpage"
	"github.com/holdfast-mcp/holdfast/reference/trips/api"
	"github.com/holdfast-mcp/holdfast/reference/trips/commands"
	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/sqlite"
)

const docsPage = "../../docs/trips.md"

// generated are the parts of the page that are made of what the code holds.
func generated(t *testing.T) map[string]string {
	return map[string]string{
		"rules":         ruleTable(t),
		"refusals":      refusalTable(),
		"tables":        docpage.Block("sql", sqlite.SchemaSQL),
		"configuration": docpage.Block("text", docpage.Configuration(t)),
	}
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
	return docpage.Table([]string{"rule", "it asks", "it ends a command with"}, rows)
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
	return docpage.Table([]string{"status", "code", "for instance"}, rows)
}

func TestThePageIsCurrent(t *testing.T) { docpage.Hold(t, docsPage, generated(t)) }

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
