package world

import (
	"maps"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// Act is one call that a caller may make, and what shows its commit by another
// route than its answer.
type Act struct {
	// Role is the profile's word for the call: start, note, get, write, read …
	Role string
	// Params are the spec's own values; the target file's templates use them.
	Params map[string]string
	// Tool overrides the target file's tool of that role.
	Tool *target.Tool
	// Proof says where the commit shows; a fault that needs proof has to have one.
	Proof Proof
}

// Proof is a look that shows whether an act has been committed.
type Proof struct {
	Probe  string
	Params map[string]string
	// Shows picks the row that the act has made; nil takes any.
	Shows func(row map[string]any) bool
	// Rows says of all rows together that it is committed. It goes before Shows.
	Rows func(rows []map[string]any) bool
}

// row is a row that shows the commit, nil if there is none.
func (p Proof) row(rows []map[string]any) map[string]any {
	for _, row := range rows {
		if p.Rows != nil && p.Rows(rows) || p.Rows == nil && (p.Shows == nil || p.Shows(row)) {
			return row
		}
	}
	return nil
}

// With is the same act with one more parameter.
func (a Act) With(name, value string) Act {
	params := maps.Clone(a.Params)
	if params == nil {
		params = map[string]string{}
	}
	params[name] = value
	a.Params = params
	return a
}

// At is the same act, marked for the judges as made at a moment.
func (a Act) At(moment string) Act { return a.With("moment", moment) }
