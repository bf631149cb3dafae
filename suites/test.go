// Package suites plans and runs what is promised: a Test is one value with its
// metadata beside its code, a profile is a list of them, and the parent process
// owns the verdict.
package suites

import (
	"context"

	"github.com/holdfast-mcp/holdfast/fixtures/launch/browser"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/suites/judge"
	"github.com/holdfast-mcp/holdfast/suites/world"
)

// Test is one spec: what it drives, and how its history is judged.
type Test struct {
	// ID is stable: the primary clause and the scene, "WR-06/answer-withheld".
	ID string
	// Clauses that the spec speaks for; the first is its primary one.
	Clauses []string
	Title   string
	Profile string
	// Faults are the kinds of fault that it places (answer-lost, kill …).
	Faults []string
	// Numbers are how often it does what shows only sometimes, unless the target file
	// says otherwise; what it does not do is 0 and stays so.
	Numbers reports.Numbers
	// NotFor says why the spec cannot apply to a target, "" when it does. It
	// reads the target file only and starts nothing.
	NotFor func(*target.File) string
	// Missing says which surface a target that claims the profile lacks, so
	// that the spec is inconclusive on it, "" when nothing is missing.
	Missing func(*target.File) string
	// Browser says that it opens the target's page in Chromium; without one on this
	// machine it is not-run.
	Browser bool
	// Drive acts on a started world. It judges nothing.
	Drive func(*world.World)
	// Judge rules over the recorded history.
	Judge judge.Rule
}

// Setup is what one performance of a Test needs besides the Test.
type Setup struct {
	Target *target.File
	// Version is that of holdfast, for targets that ask.
	Version string
	// Seed fixes every choice that the spec makes.
	Seed int64
	// Folder takes the spec's artefacts (history.jsonl, schedule.yaml, logs).
	Folder string
	// Scratch is the run's folder for private stores; removed after the run.
	Scratch string
	// Mutant names a defect of the reference, Saboteur one of the harness; both
	// empty in a real run.
	Mutant, Saboteur string
	// Schedule is the path of a schedule.yaml to be replayed, "" for none.
	Schedule string
	// Numbers are those of the plan; none takes the test's, as the target file has them.
	Numbers reports.Numbers
	// Point is the one crash point to be tried ("17:after"), "" for all of them.
	Point string
	// Browser lends the windows in which pages are opened; nil for a browser of the
	// spec's own.
	Browser *browser.Lender
	// Keep leaves Scratch's content for a person.
	Keep bool
}

// Performer runs one test and returns its result; Perform is the real one.
type Performer func(ctx context.Context, t Test, s Setup) reports.Spec
