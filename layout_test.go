// Package holdfast_test holds the tree to the rules that no compiler knows: who
// may import whom, and what may not be written anywhere.
package holdfast_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/holdfast-mcp/holdfast"

// layers, outermost first: a package imports its own layer and those after it.
var layers = []string{"cmd", "suites", "faults", "fixtures", "reports"}

// source is one parsed Go file of the tree.
type source struct {
	path string // with forward slashes, below the root
	test bool
	file *ast.File
	set  *token.FileSet
}

func (s source) at(pos token.Pos) string {
	return s.path + ":" + strconv.Itoa(s.set.Position(pos).Line)
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "node_modules" || name == "testdata" || name == "vendor" || (strings.HasPrefix(name, ".") && name != ".")) {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{path: filepath.ToSlash(path), test: strings.HasSuffix(name, "_test.go"), file: file, set: set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d Go files were found: the walk looks at the wrong place", len(all))
	}
	return all
}

// mayImport says why a file may not import a package of this module; "" if it may.
func mayImport(path, imported string) string {
	from, to := top(path), top(imported)
	if from == "reference" {
		if to != "reference" {
			return "the reference knows nothing of the harness"
		}
		return ""
	}
	if to == "reference" {
		if strings.HasPrefix(path, "fixtures/mutants/") || from == "cmd" {
			return ""
		}
		return "only cmd and fixtures/mutants import the reference"
	}
	outer, inner := slices.Index(layers, from), slices.Index(layers, to)
	switch {
	case outer < 0 || inner < 0:
		return "both ends of an import are in one of " + strings.Join(layers, ", ") + " or reference"
	case inner < outer:
		return "imports go one way: " + strings.Join(layers, " → ")
	}
	return ""
}

func top(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

func TestMayImport(t *testing.T) {
	for _, c := range []struct {
		path, imported string
		may            bool
	}{
		{"cmd/holdfast/main.go", "suites", true},
		{"cmd/holdfast/reference.go", "reference/helper", true},
		{"suites/run.go", "reports/gate", true},
		{"suites/run.go", "reference/helper", false},
		{"reports/report.go", "fixtures/target", false},
		{"fixtures/probe/probe.go", "faults", false},
		{"faults/kill.go", "fixtures/launch", true},
		{"reference/app/run.go", "reference/sidecar", true},
		{"reference/app/run.go", "reports/wait", false},
		{"fixtures/mutants/mutants.go", "reference/helper", true},
		{"fixtures/launch/run.go", "reference/helper", false},
		{"other/x.go", "reports", false},
	} {
		if got := mayImport(c.path, c.imported); (got == "") != c.may {
			t.Errorf("%s importing %s: got %q, expected may = %v", c.path, c.imported, got, c.may)
		}
	}
}

func TestImportsGoOneWay(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if inside, ours := strings.CutPrefix(imported, module+"/"); ours {
				if why := mayImport(s.path, inside); why != "" {
					t.Errorf("%s imports %s: %s", s.at(spec.Pos()), inside, why)
				}
			}
			if strings.HasPrefix(imported, "github.com/onsi/ginkgo") && top(s.path) != "suites" && top(s.path) != "cmd" {
				t.Errorf("%s imports Ginkgo: only suites and cmd do", s.at(spec.Pos()))
			}
		}
	}
}

// banned is what no file calls, tests included, and why.
var banned = map[string]map[string]string{
	"time":   {"Sleep": "wait for a fact with a deadline (reports/wait)"},
	"ginkgo": {"FlakeAttempts": noRetry, "MustPassRepeatedly": noRetry, "Pending": noPending, "PIt": noPending, "PDescribe": noPending, "XIt": noPending, "XDescribe": noPending},
}

const (
	noRetry   = "nothing is tried again until it passes"
	noPending = "a spec that is there runs"
)

// packages are the import paths behind the names in banned.
var packages = map[string]string{"time": "time", "ginkgo": "github.com/onsi/ginkgo/v2"}

// names maps what a file calls an imported package to its key in banned; "."
// stands for what was imported into the file itself.
func names(f *ast.File) map[string]string {
	called := map[string]string{}
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		for key, full := range packages {
			if path != full {
				continue
			}
			name := key
			if spec.Name != nil {
				name = spec.Name.Name
			}
			called[name] = key
		}
	}
	return called
}

func offences(s source) []string {
	called := names(s.file)
	var found []string
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && pkg.Obj == nil {
				if why := banned[called[pkg.Name]][n.Sel.Name]; why != "" {
					found = append(found, s.at(n.Pos())+": "+pkg.Name+"."+n.Sel.Name+": "+why)
				}
			}
			ast.Inspect(n.X, look) // not what is selected: that is no name of its own
			return false
		case *ast.Ident:
			if why := banned[called["."]][n.Name]; why != "" && n.Obj == nil {
				found = append(found, s.at(n.Pos())+": "+n.Name+": "+why)
			}
		}
		return true
	}
	ast.Inspect(s.file, look)
	for _, pos := range naps(s.file, called) {
		found = append(found, s.at(pos)+": a time is waited for and nothing else: "+banned["time"]["Sleep"])
	}
	// A Describe at package level cannot be put together twice.
	for _, decl := range s.file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			for _, value := range spec.(*ast.ValueSpec).Values {
				if call, ok := value.(*ast.CallExpr); ok && container(call.Fun) {
					found = append(found, s.at(value.Pos())+": a container of specs at package level; register late")
				}
			}
		}
	}
	return found
}

// naps are where a time is waited for and nothing else can end the wait: a sleep
// by another name.
func naps(f *ast.File, called map[string]string) []token.Pos {
	var found []token.Pos
	choices := map[ast.Node]bool{} // the receives among which a select chooses
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt:
			for _, clause := range n.Body.List {
				if comm := clause.(*ast.CommClause).Comm; comm != nil && len(n.Body.List) > 1 {
					choices[received(comm)] = true
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !choices[n] && clock(n.X, called) {
				found = append(found, n.Pos())
			}
		case *ast.RangeStmt:
			if clock(n.X, called) {
				found = append(found, n.X.Pos())
			}
		}
		return true
	})
	return found
}

// received is the receive of a select's case, nil where it sends.
func received(comm ast.Stmt) ast.Expr {
	switch c := comm.(type) {
	case *ast.ExprStmt:
		return ast.Unparen(c.X)
	case *ast.AssignStmt:
		return ast.Unparen(c.Rhs[0])
	}
	return nil
}

// clock says whether an expression is a channel that only the time sends to, made
// on the spot.
func clock(x ast.Expr, called map[string]string) bool {
	x = ast.Unparen(x)
	makers := []string{"After", "Tick"}
	if field, ok := x.(*ast.SelectorExpr); ok && field.Sel.Name == "C" {
		x, makers = ast.Unparen(field.X), []string{"NewTimer", "NewTicker"}
	}
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch fun := call.Fun.(type) {
	case *ast.SelectorExpr:
		pkg, ok := fun.X.(*ast.Ident)
		return ok && pkg.Obj == nil && called[pkg.Name] == "time" && slices.Contains(makers, fun.Sel.Name)
	case *ast.Ident:
		return fun.Obj == nil && called["."] == "time" && slices.Contains(makers, fun.Name)
	}
	return false
}

func container(fun ast.Expr) bool {
	name := ""
	switch f := fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	return name == "Describe" || name == "Context" || name == "When" || name == "DescribeTable"
}

func TestNothingSleepsOrTriesAgain(t *testing.T) {
	for _, s := range sources(t) {
		for _, o := range offences(s) {
			t.Error(o)
		}
	}
}

func TestOffencesAreSeen(t *testing.T) {
	for text, want := range map[string]int{
		`package p; import "time"; func f() { time.Sleep(1) }`:                                                       1,
		`package p; import clock "time"; var nap = clock.Sleep`:                                                      1,
		`package p; import . "github.com/onsi/ginkgo/v2"; var _ = Describe("x", func() {})`:                          1,
		`package p; import "github.com/onsi/ginkgo/v2"; func f() { ginkgo.It("x", ginkgo.Pending) }`:                 1,
		`package p; import . "github.com/onsi/ginkgo/v2"; func f() { It("x", FlakeAttempts(3)) }`:                    1,
		`package p; import . "github.com/onsi/ginkgo/v2"; func f() { It("x", Pending); PIt("y") }`:                   2,
		`package p; import "time"; type c struct{}; func (c) Sleep(int) {}; func f() { c{}.Sleep(1); _ = time.Now }`: 0,

		`package p; import "time"; func f() { <-time.After(1) }`:                                                                   1,
		`package p; import . "time"; func f() { <-(After(1)) }`:                                                                    1,
		`package p; import "time"; func f() { _ = <-time.Tick(1); x := <-time.After(1); _ = x }`:                                   2,
		`package p; import "time"; func f() { <-time.NewTimer(1).C; <-time.NewTicker(1).C }`:                                       2,
		`package p; import clock "time"; func f() { for range clock.Tick(1) { return } }`:                                          1,
		`package p; import "time"; func f() { select { case <-time.After(1): } }`:                                                  1,
		`package p; import "time"; func f(c chan int) { select { case <-c: <-time.After(1); default: } }`:                          1,
		`package p; import "time"; func f(c chan int) { select { case <-c: case <-time.After(1): } }`:                              0,
		`package p; import "time"; func f(c chan int) { select { case <-c: case at := <-time.Tick(1): _ = at } }`:                  0,
		`package p; type t struct{}; func (t) After(int) chan int { return nil }; func f(time t) { <-time.After(1) }`:              0,
		`package p; import "time"; func f(c chan int) { late := time.After(1); for { select { case <-c: case <-late: return } } }`: 0,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "p.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := offences(source{path: "p.go", file: file, set: set}); len(got) != want {
			t.Errorf("%s\ngot %q, expected %d offences", text, got, want)
		}
	}
}

// Limits are told in words of the contract, and folders in words of the product.
var suffix = regexp.MustCompile(`^[A-Za-z]*(Manager|Util|Utils|Common|Helper)$`)

func TestNoNameSaysNothing(t *testing.T) {
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				name := spec.(*ast.TypeSpec).Name.Name
				// Helper by itself is the contract's word for the MCP server.
				if suffix.MatchString(name) && !strings.EqualFold(name, "helper") {
					t.Errorf("%s: type %s: the last word of its name says nothing", s.at(spec.Pos()), name)
				}
			}
		}
	}
}
