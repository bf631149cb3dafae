package durability

import (
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// withoutRead are the clauses and specs that look at nothing that a server keeps: what
// its tools say and refuse, what comes from stdout, how it ends, and its sessions.
var withoutRead = []string{"DU-08/refused", "DU-08/form", "DU-09", "DU-13", "DU-14/killed", "DU-14/garbage-fed", "DU-16", "DU-19"}

func readless(id string) bool {
	return slices.ContainsFunc(withoutRead, func(of string) bool { return id == of || strings.HasPrefix(id, of+"/") })
}

// keptAnd is why a spec that reads back is not for a target: nothing of it can be read,
// or what the spec says itself (nil: nothing).
func keptAnd(more func(*target.File) string) func(*target.File) string {
	return func(f *target.File) string {
		if keepsNothing(f) {
			return "the target file says that no call shows what another one wrote (profiles.durability.keeps), so that nothing can be read back"
		}
		if more == nil {
			return ""
		}
		return more(f)
	}
}

func keepsNothing(f *target.File) bool {
	return f.Profiles.Durability != nil && f.Profiles.Durability.Keeps == target.KeepsNothing
}
