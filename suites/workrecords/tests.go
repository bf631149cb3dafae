package workrecords

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/judge"
)

// Profile is the name under which a target claims these clauses.
const Profile = "work-records"

// Tests are the specs of profile WR, in the contract's order; table says what
// becomes of each pair of contract versions (WR-31).
func Tests(table ...Pair) []suites.Test {
	tests := slices.Concat(identity, crashPoints, order, keys, lifecycle, login, failures, surfaces, inTheBrowser, reuse, replaced, accounts, forward, earlyEnds, provisional, ends, atTheDoor, staging, schemas, noRoom, access, counters, secrets)
	for i := range tests {
		// WR-40 and WR-41 are about a whole run, so they are judged on every history.
		tests[i].Judge = judge.All(tests[i].Judge, judge.OverTheRun)
	}
	// These are about helpers, apps and sidecars of older versions, which keep to less.
	tests = slices.Concat(tests, pairs(table), lifting, locked)
	return suites.Profiled(Profile, tests, notClaimed, missing)
}

func notClaimed(f *target.File) string {
	if f.Profiles.WorkRecords == nil {
		return "the target does not claim the profile work-records"
	}
	return ""
}

// missing says which surface of the profile the target file leaves out. Every
// spec looks at the store by its own route, so without these nothing is judged.
func missing(f *target.File) string {
	for _, probe := range []string{"anchor", "anchors", "intents", "item", "items"} {
		if _, there := f.Profiles.WorkRecords.Probes[probe]; !there {
			return fmt.Sprintf("the target file has no probe %q in profiles.work-records.probes", probe)
		}
	}
	for _, role := range []string{"start", "note", "get"} {
		if _, there := f.Profiles.WorkRecords.Tools[role]; !there {
			return fmt.Sprintf("the target file has no tool %q in profiles.work-records.tools", role)
		}
	}
	return ""
}

// noStore says that a spec needs to know where a store lies.
func noStore(name string) func(*target.File) string {
	return func(f *target.File) string {
		if f.Profiles.WorkRecords != nil && len(f.Profiles.WorkRecords.Stores[name]) == 0 {
			return fmt.Sprintf("the target file does not say in profiles.work-records.stores where the store %q lies", name)
		}
		return ""
	}
}

func noStaging(f *target.File) string {
	if f.Profiles.WorkRecords != nil && f.Profiles.WorkRecords.Staging == "" {
		return "the target file names no staging folder for attachments (profiles.work-records.staging)"
	}
	return ""
}
