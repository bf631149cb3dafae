package suites

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// seedOf derives a spec's seed of the run's seed and the spec's ID, so that a
// spec makes the same choices whatever else runs, and on its control too.
func seedOf(run int64, id string) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", run, id))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// planned makes the entry of a test on a target.
func planned(t Test, f *target.File, role, prefix string, seed int64) reports.PlannedSpec {
	p := reports.PlannedSpec{
		Key: prefix + t.ID, ID: t.ID, Role: role, Target: f.Name, Clauses: t.Clauses, Title: t.Title,
		Profile: t.Profile, Faults: t.Faults, Seed: seedOf(seed, t.ID), Numbers: numbersOf(t, f),
	}
	p.Settled, p.Reason = settled(t, f)
	return p
}

// numbersOf are the numbers of a test on a target: its own, or what the target file
// says of those that it has.
func numbersOf(t Test, f *target.File) reports.Numbers {
	n := t.Numbers
	d := f.Profiles.Durability
	if d == nil {
		return n
	}
	for _, of := range []struct {
		of    *int
		asked int
	}{{&n.Concurrent, d.Concurrent}, {&n.Rounds, d.Rounds}, {&n.Alternations, d.Alternations}} {
		if *of.of > 0 && of.asked > 0 {
			*of.of = of.asked
		}
	}
	return n
}

// settled is the verdict of a test that can be told before anything is started,
// from the target file and from what this machine has, with the reason; empty for
// a test that has to run.
func settled(t Test, f *target.File) (verdict.Verdict, string) {
	if !f.Claims(t.Profile) {
		return verdict.NotApplicable, fmt.Sprintf("the target does not claim the profile %s", t.Profile)
	}
	f = f.For(t.Profile)
	if t.NotFor != nil {
		if why := t.NotFor(f); why != "" {
			return verdict.NotApplicable, why
		}
	}
	if why := notHere(f); why != "" {
		return verdict.NotRun, why
	}
	if needsBrowser(t, f) {
		if _, err := browser.Find(); err != nil {
			return verdict.NotRun, "needs Chromium: " + err.Error()
		}
	}
	if t.Missing != nil {
		if why := t.Missing(f); why != "" {
			return verdict.Inconclusive, why
		}
	}
	return "", ""
}

// needsBrowser says whether a test on a target opens a page in Chromium: by itself, or
// because the helper is one.
func needsBrowser(t Test, f *target.File) bool {
	return t.Browser || anyProcess(f.For(t.Profile), onPage)
}

// planTarget plans the chosen tests on a target and, for every one of them that
// runs, the same on the control target, unless that is nil.
func planTarget(chosen []Test, f, control *target.File, seed int64) []reports.PlannedSpec {
	var plan []reports.PlannedSpec
	var again []Test
	for _, t := range chosen {
		p := planned(t, f, reports.RoleTarget, "", seed)
		plan = append(plan, p)
		if p.Runs() && control != nil {
			again = append(again, t)
		}
	}
	for _, t := range again {
		c := planned(t, control, reports.RoleControl, "control/", seed)
		c.Numbers = numbersOf(t, f) // the control does the same
		plan = append(plan, c)
	}
	return plan
}

// claimedProfiles lists the profiles of the contract that a target claims.
func (h Harness) claimedProfiles(f *target.File) []string {
	claimed := []string{}
	for _, name := range h.Catalogue.Profiles() {
		if f.Claims(name) {
			claimed = append(claimed, name)
		}
	}
	return claimed
}

// withoutSpec lists the clauses of the profiles in question that no test speaks
// for. They count as nothing, and are named so that nobody takes them for held.
func (h Harness) withoutSpec(f *target.File, s reports.Selection) []string {
	profiles := s.Profiles
	if len(profiles) == 0 {
		profiles = h.claimedProfiles(f)
	}
	without := []string{}
	for _, c := range h.Catalogue.All() {
		if slices.Contains(profiles, c.Profile) && len(h.testsOf(c.ID)) == 0 {
			without = append(without, c.ID)
		}
	}
	return without
}
