package workflows

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
)

// Profile is the name under which a target claims these clauses.
const Profile = "workflows"

// Tests are the specs of profile WF, in the contract's order.
func Tests() []suites.Test {
	tests := slices.Concat(begins, doubts, inOrder, retries, approvals, controls, lost, refusals, definitions, foreigners, private, damaged, receipts, final, named, canaries, exclusive, cancels, forged, swapped, identity, crashPoints, starters, revisions, room, tasks)
	return suites.Profiled(Profile, tests, notClaimed, missing)
}

func notClaimed(f *target.File) string {
	if f.Profiles.Workflows == nil {
		return "the target does not claim the profile workflows"
	}
	return ""
}

// missing says which surface of the profile the target file leaves out. Every
// spec counts effects by its own route, so without these nothing is judged.
func missing(f *target.File) string {
	w := f.Profiles.Workflows
	for _, probe := range []string{"checkpoint", "effects"} {
		if _, there := w.Probes[probe]; !there {
			return fmt.Sprintf("the target file has no probe %q in profiles.workflows.probes", probe)
		}
	}
	for _, role := range target.WorkflowRoles() {
		if _, there := w.Tools[role]; !there {
			return fmt.Sprintf("the target file has no tool %q in profiles.workflows.tools", role)
		}
	}
	return ""
}

// noKind says that a spec needs steps of kinds.
func noKind(kinds ...string) func(*target.File) string {
	return func(f *target.File) string {
		for _, kind := range kinds {
			if _, there := f.Profiles.Workflows.Steps[kind]; !there {
				return fmt.Sprintf("the target file has no step %q in profiles.workflows.steps", kind)
			}
		}
		return ""
	}
}

// noConfirmation says that a spec needs a write that carries a confirmation.
func noConfirmation(f *target.File) string {
	if write := f.Profiles.Workflows.Steps["write"]; write.Preview == nil || len(write.Preview.Capture) == 0 {
		return "the target file's step write has no preview that captures a confirmation"
	}
	return ""
}

// noFile says that a spec needs a file for the checkpoint of each operation.
func noFile(f *target.File) string {
	if strings.Contains(f.Profiles.Workflows.Probes["checkpoint"].File, "{{operation_id}}") {
		return ""
	}
	return "the target file's probe \"checkpoint\" reads no file of one operation ({{operation_id}}), so that nothing can be done to one"
}

// noStore says that a spec needs to know where the store lies.
func noStore(f *target.File) string {
	if len(f.Profiles.Workflows.Store) > 0 {
		return ""
	}
	return "the target file does not say where the store of operations lies (profiles.workflows.store)"
}
