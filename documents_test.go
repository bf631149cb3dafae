package holdfast_test

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
)

// The documents say what is true of the code, or a test says which line is not: named_test.go of what
// they name, readme_test.go of what README.md says, verbs_test.go of what runs.

// written are the documents that are written by hand.
var written = []string{"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/findings.md", "docs/init.md", "docs/report.md", "docs/target-file.md"}

// document reads one document, and fails where it is nearly empty.
func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < 500 {
		t.Fatalf("%s has only %d bytes: a document is missing", path, len(text))
	}
	return string(text)
}

// fence is one fenced block with the prose line before it.
type fence struct {
	language, before, text string
	line                   int
}

// fences are the fenced blocks of a document, and prose is the rest of it.
func fences(text string) (blocks []fence, prose string) {
	var rest []string
	var open *fence
	before := ""
	for n, line := range strings.Split(text, "\n") {
		language, fenced := strings.CutPrefix(line, "```")
		switch {
		case fenced && open == nil:
			open = &fence{language: language, before: before, line: n + 1}
		case fenced:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		default:
			rest = append(rest, line)
			if strings.TrimSpace(line) != "" {
				before = line
			}
		}
	}
	return blocks, strings.Join(rest, "\n")
}

// blocks are the fenced blocks of a language.
func blocks(t *testing.T, path, language string) []fence {
	t.Helper()
	all, _ := fences(document(t, path))
	found := slices.DeleteFunc(all, func(f fence) bool { return f.language != language })
	if len(found) == 0 {
		t.Fatalf("%s has no block of %s", path, language)
	}
	return found
}

// table is the rows of the table below a heading, without its head, cell by cell.
func table(t *testing.T, path, heading string) [][]string {
	t.Helper()
	_, after, found := strings.Cut(document(t, path), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", path, heading)
	}
	var rows [][]string
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || (len(rows) > 0 && !strings.HasPrefix(line, "|")) {
			break
		}
		if strings.HasPrefix(line, "|") {
			cells := strings.Split(strings.Trim(line, "|"), " | ")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) < 3 {
		t.Fatalf("%s has no table below %q", path, heading)
	}
	return rows[2:]
}

// first are the first cells of rows, without their backticks.
func first(rows [][]string) []string {
	var out []string
	for _, row := range rows {
		out = append(out, strings.Trim(row[0], "`"))
	}
	return out
}

var (
	named   = regexp.MustCompile(`<a id="([^"]+)">`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// anchors are what a link into a document may name.
func anchors(text string) []string {
	var all []string
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

var inBackticks = regexp.MustCompile("`([^`]+)`")

var command = regexp.MustCompile("(?m)(?:^|`)(?:bin/)?holdfast ((?:[a-z]+)\\b[^`\n]*)")

// commands are the command lines of holdfast in a document: in backticks, and
// at the beginning of a line of a block of sh.
func commands(text string) []string {
	all, prose := fences(text)
	var places []string
	for line := range strings.Lines(prose) {
		places = append(places, inBackticks.FindAllString(line, -1)...)
	}
	for _, f := range all {
		if f.language == "sh" {
			places = append(places, f.text)
		}
	}
	var found []string
	for _, place := range places {
		for _, m := range command.FindAllStringSubmatch(place, -1) {
			line, _, _ := strings.Cut(m[1], "  #")
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// The checks above see what is wrong.
func TestTheReadersOfDocuments(t *testing.T) {
	text := "prose `make x` and `holdfast run --out DIR`\nIn `a.go`:\n\n```go\ncode\n```\n\n```sh\nholdfast list   # all\nbin/holdfast explain WR-06\n```\n"
	all, prose := fences(text)
	if len(all) != 2 || all[0].text != "code\n" || all[0].before != "In `a.go`:" || all[1].language != "sh" || strings.Contains(prose, "code") {
		t.Errorf("fences: got %+v and %q", all, prose)
	}
	if got, want := commands(text), []string{"run --out DIR", "list", "explain WR-06"}; !slices.Equal(got, want) {
		t.Errorf("commands: got %q, expected %q", got, want)
	}
	if got, want := anchors("# Exit codes\n<a id=\"wr-01\"></a>\n### WR-01: A start's ID\n"), []string{"wr-01", "exit-codes", "wr-01-a-starts-id"}; !slices.Equal(got, want) {
		t.Errorf("anchors: got %q, expected %q", got, want)
	}
	var none bytes.Buffer
	for name := range fields(reflect.TypeFor[reports.Gate](), map[string]bool{}) {
		none.WriteString(name + " ")
	}
	for _, want := range []string{"exit_code", "reasons", "code", "text", "without_spec"} {
		if !strings.Contains(none.String(), want) {
			t.Errorf("fields of a gate: %s is not among %s", want, none.String())
		}
	}
}
