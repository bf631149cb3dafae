package suites

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/suites/clauses"
	"github.com/holdfast-mcp/holdfast/suites/parallel"
)

// Harness is everything that a run is made of. A value of it is put together
// once, by the program, and by tests from parts of their own.
type Harness struct {
	// Version is that of the tool, for reports.
	Version   string
	Catalogue *clauses.Catalogue
	// Tests are all specs there are, in the contract's order.
	Tests   []Test
	Perform Performer
	// Mutants are what `holdfast mutants` proves the harness with.
	Mutants []Mutant
	// Keeping is what keeps a clause in the code of the reference, which is where
	// to look when a spec of it fails there; nil where nothing is known of it.
	Keeping func(clause string) []Place
	// Builtin gives the text of a target that comes with the binary;
	// BuiltinNames lists those there are.
	Builtin      func(name string) ([]byte, bool)
	BuiltinNames func() []string
	// Preflight starts a target, shakes hands and stops it again; an error says
	// that the target file or the target is not fit to be run. nil skips it.
	Preflight func(ctx context.Context, s Setup) error
	// Doctor tries a target out, step by step; nil where there is none.
	Doctor func(ctx context.Context, s Setup) []Step
}

// Place is a declaration in the tree.
type Place struct {
	// Symbol is its name with its package: sidecar.Store.Append.
	Symbol string `json:"symbol"`
	// At is where it stands: reference/sidecar/accept.go:119.
	At string `json:"at"`
}

// Step is one thing that doctor tried.
type Step struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
	// NotNeeded: it is not OK, and nothing that was asked about needs it.
	NotNeeded bool `json:"not_needed,omitempty"`
	// Advice says what to do where it is not OK.
	Advice string `json:"advice,omitempty"`
}

// Main turns this process into a worker of a run if it was started as one, and
// does not return then. A program calls it before anything else.
func (h Harness) Main() { parallel.Main(h.work) }

// UsageError is what the caller did wrong: exit code 2. Its text says what to do.
type UsageError struct{ err error }

// Error is the text for the caller.
func (u UsageError) Error() string { return u.err.Error() }

// Unwrap gives the error behind it.
func (u UsageError) Unwrap() error { return u.err }

// Usage makes an error of the caller's of a text.
func Usage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// asUsage makes an error of the caller's of another error; nil stays nil.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// IsUsage says whether an error is the caller's.
func IsUsage(err error) bool { return errors.As(err, new(UsageError)) }

var specID = regexp.MustCompile(`^[A-Z]{2}-\d{2}/[a-z0-9][a-z0-9-]*$`)

// Check says what is wrong with how the harness was put together. It reads no
// file and starts nothing; a test calls it.
func (h Harness) Check() error {
	var errs []error
	seen := map[string]bool{}
	for _, t := range h.Tests {
		if !specID.MatchString(t.ID) {
			errs = append(errs, fmt.Errorf("spec %q: expected an ID such as WR-06/answer-withheld", t.ID))
		}
		if seen[t.ID] {
			errs = append(errs, fmt.Errorf("spec %s is there twice", t.ID))
		}
		seen[t.ID] = true
		if len(t.Clauses) == 0 || baseOf(t.Clauses[0]) != baseOf(t.ID) {
			errs = append(errs, fmt.Errorf("spec %s: expected its first clause to be %s, it has %v", t.ID, baseOf(t.ID), t.Clauses))
		}
		for _, ref := range t.Clauses {
			if _, ok := h.clause(ref); !ok {
				errs = append(errs, fmt.Errorf("spec %s names the clause %q, which the contract does not have", t.ID, ref))
			}
		}
		if _, ok := h.Catalogue.Profile(t.Profile); !ok {
			errs = append(errs, fmt.Errorf("spec %s is of the profile %q, which the contract does not have", t.ID, t.Profile))
		}
	}
	return errors.Join(append(errs, h.checkMutants()...)...)
}

// test returns the test of an ID.
func (h Harness) test(id string) (Test, bool) {
	i := slices.IndexFunc(h.Tests, func(t Test) bool { return t.ID == id })
	if i < 0 {
		return Test{}, false
	}
	return h.Tests[i], true
}

// baseOf is the clause of a reference to a part (DU-07/bytes) or of a spec's ID.
func baseOf(ref string) string {
	base, _, _ := strings.Cut(ref, "/")
	return base
}

// reference is a clause, or one separately judged part of it, as specs name it.
type reference struct {
	clause clauses.Clause
	level  clauses.Level
	title  string
	source func(revision string) (clauses.Source, bool)
}

// clause looks up a reference such as WR-06 or DU-07/bytes.
func (h Harness) clause(ref string) (reference, bool) {
	base, part, named := strings.Cut(ref, "/")
	c, ok := h.Catalogue.Get(base)
	if !ok {
		return reference{}, false
	}
	if !named {
		return reference{clause: c, level: c.Level, title: c.Title, source: c.Source}, true
	}
	p, ok := c.Part(part)
	return reference{clause: c, level: p.Level, title: c.Title + " (" + p.Name + ")", source: p.Source}, ok
}

// testsOf lists the tests that speak for a clause, parts of it included.
func (h Harness) testsOf(clause string) []Test {
	var of []Test
	for _, t := range h.Tests {
		if slices.ContainsFunc(t.Clauses, func(ref string) bool { return baseOf(ref) == clause }) {
			of = append(of, t)
		}
	}
	return of
}
