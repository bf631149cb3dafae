// Package reference tells where in the reference's code a clause is kept. The
// reference itself is in the folders below.
package reference

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The sources are in the binary, so that a place is told of the code that this
// binary was built of.
//
//go:embed */*.go */*/*.go
var sourceFiles embed.FS

// Place is a declaration of the reference.
type Place struct {
	// Symbol is its name with its package: sidecar.Store.Append.
	Symbol string `json:"symbol"`
	// At is where it stands: reference/sidecar/accept.go:119.
	At string `json:"at"`
}

// Keeping is what keeps a clause: what the table kept names, and where it names
// nothing, the declarations whose comments name the clause.
func Keeping(clause string) []Place {
	code := declared()
	var places []Place
	for _, symbol := range kept[clause] {
		if at, ok := code.at[symbol]; ok {
			places = append(places, Place{symbol, at})
		}
	}
	if len(kept[clause]) == 0 {
		for _, symbol := range code.citing[clause] {
			places = append(places, Place{symbol, code.at[symbol]})
		}
	}
	return places
}

// code is what the sources declare.
type code struct {
	at map[string]string // by symbol
	// citing are the symbols whose comments name a clause, in the order of the files.
	citing map[string][]string
	// twice are symbols that two packages of one name declare.
	twice []string
}

var clauseID = regexp.MustCompile(`\b[A-Z]{2}-\d{2}\b`)

var declared = sync.OnceValue(func() code {
	c := code{at: map[string]string{}, citing: map[string][]string{}}
	set := token.NewFileSet()
	for _, pattern := range []string{"*/*.go", "*/*/*.go"} {
		names, _ := fs.Glob(sourceFiles, pattern) // the pattern is sound
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := sourceFiles.ReadFile(name)
			if err != nil {
				panic("reference: an embedded file cannot be read: " + err.Error())
			}
			file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				panic("reference: the file that this binary was built of does not parse: " + err.Error())
			}
			for _, d := range declarations(file) {
				c.add(set, file, d)
			}
		}
	}
	return c
})

// declaration is one named thing, with all that is said of it.
type declaration struct {
	name     string
	node     ast.Node
	from, to token.Pos
}

func declarations(file *ast.File) (all []declaration) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all = append(all, declaration{receiver(d) + d.Name.Name, d, start(d.Doc, d), d.End()})
		case *ast.GenDecl:
			from := start(d.Doc, d)
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					all = append(all, declaration{s.Name.Name, s, from, s.End()})
				case *ast.ValueSpec:
					all = append(all, declaration{s.Names[0].Name, s, from, s.End()})
				}
				from = s.End()
			}
		}
	}
	return all
}

func start(doc *ast.CommentGroup, n ast.Node) token.Pos {
	if doc != nil {
		return doc.Pos()
	}
	return n.Pos()
}

// receiver is "T." of a method of T or *T.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

func (c *code) add(set *token.FileSet, file *ast.File, d declaration) {
	symbol := file.Name.Name + "." + d.name
	if _, ok := c.at[symbol]; ok {
		c.twice = append(c.twice, symbol)
		return
	}
	p := set.Position(d.node.Pos())
	c.at[symbol] = fmt.Sprintf("%s:%d", path.Join("reference", p.Filename), p.Line)
	for _, comment := range file.Comments {
		if comment.Pos() < d.from || comment.Pos() > d.to {
			continue
		}
		for _, id := range clauseID.FindAllString(comment.Text(), -1) {
			if !slices.Contains(c.citing[id], symbol) {
				c.citing[id] = append(c.citing[id], symbol)
			}
		}
	}
}
