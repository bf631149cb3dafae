package receipts

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
)

// Profile is the name under which a target claims these clauses.
const Profile = "receipts"

// Tests are the specs of profile RC, in the contract's order.
func Tests() []suites.Test {
	tests := slices.Concat(lost, unknowns, dispatching, strangers, killed,
		typing, unresolved, generations, flagship, neighbours,
		complete, together, replayed, stale, disclosed, fenced,
		bounded, released)
	return suites.Profiled(Profile, tests, notClaimed, missing)
}

func notClaimed(f *target.File) string {
	if f.Profiles.Receipts == nil {
		return "the target does not claim the profile receipts"
	}
	return ""
}

// missing says which surface of the profile the target file leaves out. Every spec
// compares the answer with the store, the editor and the wire, so without these
// nothing is judged.
func missing(f *target.File) string {
	for _, probe := range []string{"draft", "receipts"} {
		if _, there := f.Profiles.Receipts.Probes[probe]; !there {
			return fmt.Sprintf("the target file has no probe %q in profiles.receipts.probes", probe)
		}
	}
	return ""
}

// noRole says that a spec needs tools of roles.
func noRole(roles ...string) func(*target.File) string {
	return func(f *target.File) string {
		for _, role := range roles {
			if _, there := f.Profiles.Receipts.Tools[role]; !there {
				return fmt.Sprintf("the target file has no tool %q in profiles.receipts.tools", role)
			}
		}
		return ""
	}
}

// noDraft says that a spec needs drafts beside the editor's own.
func noDraft(names ...string) func(*target.File) string {
	return func(f *target.File) string {
		for _, name := range names {
			if f.Profiles.Receipts.Drafts[name] == "" {
				return fmt.Sprintf("the target file has no draft %q in profiles.receipts.drafts", name)
			}
		}
		return ""
	}
}

// noServer says that a spec needs requests past the editor.
func noServer(names ...string) func(*target.File) string {
	return func(f *target.File) string {
		for _, name := range names {
			if _, there := f.Profiles.Receipts.Server[name]; !there {
				return fmt.Sprintf("the target file has no request %q in profiles.receipts.server", name)
			}
		}
		return ""
	}
}
