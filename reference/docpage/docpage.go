// Package docpage holds the pages of docs/ that tell of the reference to its code:
// the parts of a page that a table or a diagram of the code makes are written by a
// test, and are compared by it. Tests alone import it.
package docpage

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts of the page anew")

// part is one generated part of a page, from its name to its end.
var part = regexp.MustCompile(`(?s)<!-- begin ([a-z0-9 ]+) -->\n.*?<!-- end -->`)

// Block is a text in the page, set as it is, with the language for those who colour it.
func Block(language, text string) string {
	return "```" + language + "\n" + strings.TrimRight(text, "\n") + "\n```"
}

// Table is a table of the page: its head, and a line for each row.
func Table(head []string, rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	return strings.TrimRight(b.String(), "\n")
}

// Step is what leads from one state of a diagram to another; From is "" where it begins.
type Step struct{ From, Event, To string }

// Arrows are the lines of a state diagram, in the language of mermaid: one arrow between
// two states, with all that leads along it, in the order of the steps.
func Arrows(steps []Step) string {
	var order []string
	labels := map[string][]string{}
	for _, s := range steps {
		arrow := cmp.Or(s.From, "[*]") + " --> " + s.To
		if _, drawn := labels[arrow]; !drawn {
			order = append(order, arrow)
		}
		labels[arrow] = append(labels[arrow], s.Event)
	}
	var b strings.Builder
	for _, arrow := range order {
		fmt.Fprintf(&b, "    %s: %s\n", arrow, strings.Join(labels[arrow], ", "))
	}
	return b.String()
}

// Configuration is the list of variables in the comment of FromEnv, in config.go of
// the package that is tested.
func Configuration(t testing.TB) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "config.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "FromEnv" {
			_, list, _ := strings.Cut(f.Doc.Text(), ":\n\n")
			return strings.ReplaceAll(strings.TrimPrefix(list, "\t"), "\n\t", "\n")
		}
	}
	t.Fatal("config.go has no FromEnv")
	return ""
}

// Hold compares the generated parts of a page, each between its marks, with what the
// code makes of them now. Run with -update it writes them instead. A part of the page
// that nothing makes is an error, and so is one that the page lacks.
func Hold(t testing.TB, page string, parts map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	name := "docs/" + filepath.Base(page)
	there := map[string]bool{}
	fresh := part.ReplaceAllStringFunc(string(raw), func(old string) string {
		what := part.FindStringSubmatch(old)[1]
		there[what] = true
		text, known := parts[what]
		if !known {
			t.Errorf("%s has a generated part %q that nothing makes", name, what)
			return old
		}
		return "<!-- begin " + what + " -->\n" + text + "\n<!-- end -->"
	})
	for what := range parts {
		if !there[what] {
			t.Errorf("%s lacks the generated part %q", name, what)
		}
	}
	switch {
	case fresh == string(raw):
	case *update:
		if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not say what the code does; run: go test -run %s -update, in the folder of this test", name, t.Name())
	}
}
