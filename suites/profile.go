package suites

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// Profiled makes the specs of one profile of what its files list, in the order of
// their primary clauses: notFor and missing are asked before each spec's own.
func Profiled(profile string, tests []Test, notFor, missing func(*target.File) string) []Test {
	for i := range tests {
		t := &tests[i]
		t.Profile = profile
		t.NotFor = First(notFor, t.NotFor)
		t.Missing = First(missing, t.Missing)
	}
	slices.SortStableFunc(tests, func(a, b Test) int { return cmp.Compare(a.Clauses[0], b.Clauses[0]) })
	return tests
}

// First asks questions about a target in turn and gives the first answer that is
// not empty; a nil question is passed over.
func First(questions ...func(*target.File) string) func(*target.File) string {
	return func(f *target.File) string {
		for _, ask := range questions {
			if ask == nil {
				continue
			}
			if why := ask(f); why != "" {
				return why
			}
		}
		return ""
	}
}

// NoAction says that a spec needs what a person, or whoever runs the server, does.
func NoAction(names ...string) func(*target.File) string {
	return func(f *target.File) string {
		for _, name := range names {
			if _, there := f.Actions[name]; !there {
				return fmt.Sprintf("the target file has no action %q", name)
			}
		}
		return ""
	}
}
