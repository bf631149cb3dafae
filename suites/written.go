package suites

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The source of the specs and their judges is in the binary, so that explain can
// show a spec as it is written and say where it stands. Their tests are not: an
// embed has no word for all but some, so the patterns are those of the names that
// do not end with _test.go.
//
//go:embed workrecords/*[^t].go receipts/*[^t].go workflows/*[^t].go durability/*[^t].go
//go:embed judge/*[^t].go judge/*[^s]t.go judge/*[^t]est.go
var sourceFiles embed.FS

// Written is a spec as it is written.
type Written struct {
	// At is where it stands: suites/workrecords/keys.go:18.
	At string `json:"at"`
	// Call makes the spec, where one function makes several; else empty.
	Call string `json:"call,omitempty"`
	// Drive and Judge are the code of what it drives and of how it is judged.
	Drive string `json:"drive"`
	Judge string `json:"judge"`
	// Rules are the rules that it is judged by, and where they stand.
	Rules []WrittenRule `json:"rules"`
}

// WrittenRule is one rule of package judge.
type WrittenRule struct {
	Name string `json:"name"`
	At   string `json:"at"`
}

// written is every spec as it is written, by its ID. The files are those that
// this binary was built of, so they parse; a test looks for every spec.
var written = sync.OnceValue(func() map[string]Written {
	all := map[string]Written{}
	rules, err := readSource("judge")
	if err != nil {
		return all
	}
	for _, folder := range []string{"workrecords", "receipts", "workflows", "durability"} {
		if s, err := readSource(folder); err == nil {
			s.specs(all, rules.declared())
		}
	}
	return all
})

// source is the parsed files of one package.
type source struct {
	set   *token.FileSet
	files []*ast.File
	texts map[string][]byte
}

func readSource(folder string) (source, error) {
	s := source{set: token.NewFileSet(), texts: map[string][]byte{}}
	names, err := fs.Glob(sourceFiles, folder+"/*.go")
	for _, name := range names {
		if err != nil {
			continue
		}
		var file *ast.File
		if s.texts[name], err = sourceFiles.ReadFile(name); err == nil {
			file, err = parser.ParseFile(s.set, name, s.texts[name], parser.SkipObjectResolution)
		}
		s.files = append(s.files, file)
	}
	return s, err
}

func (s source) at(n ast.Node) string {
	p := s.set.Position(n.Pos())
	return fmt.Sprintf("%s:%d", path.Join("suites", p.Filename), p.Line)
}

// text is the code of a node, without the indentation of where it stands.
func (s source) text(n ast.Node) string {
	from, to := s.set.Position(n.Pos()), s.set.Position(n.End())
	text := s.texts[from.Filename]
	line := text[from.Offset-(from.Column-1) : from.Offset]
	indent := line[:len(line)-len(strings.TrimLeft(string(line), "\t"))]
	return strings.ReplaceAll(string(text[from.Offset:to.Offset]), "\n"+string(indent), "\n")
}

// declared is where the functions and variables of the package stand.
func (s source) declared() map[string]string {
	at := map[string]string{}
	for _, file := range s.files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					at[d.Name.Name] = s.at(d)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						at[v.Names[0].Name] = s.at(v)
					}
				}
			}
		}
	}
	return at
}

// specs finds every value with an ID and a Drive: one that stands by itself, and
// those that a function makes, one a call of it.
func (s source) specs(into map[string]Written, rules map[string]string) {
	for _, file := range s.files {
		for _, d := range file.Decls {
			f, isFunc := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				parts := specParts(n)
				switch {
				case parts == nil:
				case isFunc:
					for _, call := range s.callsOf(f.Name.Name) {
						if id, ok := textOf(parts["ID"], arguments(f, call)); ok {
							w := s.written(call, parts, rules)
							w.Call = s.text(call)
							into[id] = w
						}
					}
				default:
					if id, ok := textOf(parts["ID"], nil); ok {
						into[id] = s.written(n, parts, rules)
					}
				}
				return true
			})
		}
	}
}

func (s source) written(at ast.Node, parts map[string]ast.Expr, rules map[string]string) Written {
	w := Written{At: s.at(at), Drive: s.text(parts["Drive"]), Judge: s.text(parts["Judge"]), Rules: []WrittenRule{}}
	nodes := []ast.Node{parts["Judge"]}
	if call, ok := at.(*ast.CallExpr); ok {
		nodes = append(nodes, call) // which may hand the rule over
	}
	for _, n := range nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			if name := ruleName(n); name != "" && rules[name] != "" && name != "All" {
				w.Rules = append(w.Rules, WrittenRule{Name: name, At: rules[name]})
			}
			return true
		})
	}
	return w
}

// ruleName is R of judge.R.
func ruleName(n ast.Node) string {
	selector, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if pkg, ok := selector.X.(*ast.Ident); !ok || pkg.Name != "judge" {
		return ""
	}
	return selector.Sel.Name
}

// specParts are the fields of a spec, nil for what is none.
func specParts(n ast.Node) map[string]ast.Expr {
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	parts := map[string]ast.Expr{}
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok {
				parts[key.Name] = pair.Value
			}
		}
	}
	if parts["ID"] == nil || parts["Drive"] == nil || parts["Judge"] == nil {
		return nil
	}
	return parts
}

func (s source) callsOf(name string) (calls []*ast.CallExpr) {
	for _, file := range s.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if called, ok := call.Fun.(*ast.Ident); ok && called.Name == name {
					calls = append(calls, call)
				}
			}
			return true
		})
	}
	return calls
}

// arguments are the texts that a call hands to a function, by parameter.
func arguments(f *ast.FuncDecl, call *ast.CallExpr) map[string]string {
	var names []string
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	given := map[string]string{}
	for i, a := range call.Args[:min(len(call.Args), len(names))] {
		if text, ok := textOf(a, nil); ok {
			given[names[i]] = text
		}
	}
	return given
}

// textOf is the text that an expression of literals and parameters makes.
func textOf(e ast.Expr, given map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, ok := given[e.Name]
		return text, ok
	case *ast.BinaryExpr:
		left, ok1 := textOf(e.X, given)
		right, ok2 := textOf(e.Y, given)
		return left + right, ok1 && ok2 && e.Op == token.ADD
	}
	return "", false
}

// rulesOf are the rules that specs are judged by, each once.
func rulesOf(specs []ExplainedSpec) []WrittenRule {
	var all []WrittenRule
	for _, s := range specs {
		if s.Written == nil {
			continue
		}
		for _, r := range s.Written.Rules {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}
