package reports

import (
	"time"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// PlanSchema names the form of plan.json.
const PlanSchema = "holdfast.plan/1"

// Plan is plan.json: every spec that must run. A spec that is planned and has
// no result is not-run, whatever became of its worker.
type Plan struct {
	Schema    string        `json:"schema"`
	Created   time.Time     `json:"created"`
	Seed      int64         `json:"seed"`
	Contract  Contract      `json:"contract"`
	Selection Selection     `json:"selection"`
	Specs     []PlannedSpec `json:"specs"`
}

// The parts that a planned spec plays in a run.
const (
	RoleTarget  = "target"  // judged
	RoleControl = "control" // the same on the reference
	RoleMutant  = "mutant"  // on something broken on purpose
	RoleRepro   = "repro"   // again, from its schedule
)

// PlannedSpec is one performance of one spec.
type PlannedSpec struct {
	// Key is unique in the plan, and the folder below artifacts/.
	Key     string   `json:"key"`
	ID      string   `json:"id"`
	Role    string   `json:"role"`
	Target  string   `json:"target"`
	Clauses []string `json:"clauses"`
	Title   string   `json:"title"`
	Profile string   `json:"profile"`
	Faults  []string `json:"faults,omitempty"`
	Seed    int64    `json:"seed"`
	// Mutant, Saboteur, Schedule and Point are handed to the performance.
	Mutant   string `json:"mutant,omitempty"`
	Saboteur string `json:"saboteur,omitempty"`
	Schedule string `json:"schedule,omitempty"`
	// Point is the one crash point to be tried, "" for all.
	Point string `json:"point,omitempty"`
	// Numbers are how often it does what shows only sometimes.
	Numbers Numbers `json:"numbers,omitzero"`
	// Settled is the verdict of a spec that is known without running it
	// (not-applicable, inconclusive, not-run), with its reason; empty for one
	// that must run.
	Settled verdict.Verdict `json:"settled,omitempty"`
	Reason  string          `json:"reason,omitempty"`
}

// Runs says whether the spec must be run, because its verdict is not settled.
func (p PlannedSpec) Runs() bool { return p.Settled == "" }

// Result is a result for the planned spec that came from no worker.
func (p PlannedSpec) Result(v verdict.Verdict, reason string) Spec {
	return Spec{
		Key: p.Key, ID: p.ID, Clauses: p.Clauses, Title: p.Title, Target: p.Target,
		Verdict: v, Reason: reason, Findings: []Finding{}, Faults: []Fault{},
	}
}
