// Package reports writes and reads what a run leaves behind: plan, results,
// report, and what is rendered from it.
package reports

import (
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Spec is the result of one finished spec: one line of results.jsonl, and one
// entry of specs[] in report.json.
type Spec struct {
	// Key names the performance within its plan: the ID for the target itself,
	// with a prefix for the control run and for mutants ("control/WR-06/…").
	Key string `json:"key,omitempty"`
	// ID is stable: clause and scene, "WR-06/answer-withheld".
	ID      string          `json:"id"`
	Clauses []string        `json:"clauses"`
	Title   string          `json:"title"`
	Target  string          `json:"target,omitempty"`
	Verdict verdict.Verdict `json:"verdict"`
	// Expected is the baseline's overlay (known-failing, known-flaky), else empty.
	Expected string `json:"expected,omitempty"`
	// Reason says in one sentence why the verdict is what it is. A pass has one only
	// where it rests on a sample of what could have been tried.
	Reason string `json:"reason,omitempty"`
	// Stopped: it stopped before its end, so that its recording was not judged.
	Stopped    bool      `json:"stopped,omitempty"`
	Attempts   int       `json:"attempts"`
	DurationMS int64     `json:"duration_ms"`
	Findings   []Finding `json:"findings"`
	Faults     []Fault   `json:"faults"`
	// Numbers are how often it did what shows only sometimes (N, rounds).
	Numbers Numbers `json:"numbers,omitzero"`
	// Starts counts the processes of the target that this spec started.
	Starts int `json:"process_starts"`
	// Tried tells, a line each, what a spec that tries many small things has tried.
	Tried []string `json:"tried,omitempty"`
	// Comparisons lay side by side what the surfaces showed, a table a moment.
	Comparisons []Comparison `json:"comparisons,omitempty"`
	// CrashPoints are the runs of a spec that strikes its call at every crash point.
	CrashPoints *CrashPoints `json:"crash_points,omitempty"`
	// Screenshots are the pictures that it took of the target's page, as files in
	// its folder.
	Screenshots []string `json:"screenshots,omitempty"`
	// Artifacts is the spec's folder, relative to the report folder.
	Artifacts string `json:"artifacts,omitempty"`
	// Repro is the command that runs this spec again from its schedule.
	Repro string `json:"repro,omitempty"`
}

// Finding is one contradiction between facts, in words for a person.
type Finding struct {
	Clause string `json:"clause"`
	// Source says whose obligation it is: mcp-must, mcp-should, own-claim, contract.
	Source  string `json:"source,omitempty"`
	Summary string `json:"summary"`
	// Facts are the contradicting facts, one a line.
	Facts []string `json:"facts,omitempty"`
}

// Fault is one placed fault with the time of every stage that it reached.
type Fault struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Position string  `json:"position"`
	Stages   []Stage `json:"stages"`
}

// Stage is one stage of a fault.
type Stage struct {
	Stage    string         `json:"stage"`
	AtMS     float64        `json:"at_ms"` // since the start of the spec's history
	Proof    string         `json:"proof,omitempty"`
	By       string         `json:"by,omitempty"`
	Evidence map[string]any `json:"evidence,omitempty"`
}

// CrashPoints are the runs at the crash points of one call. SIGKILL keeps the page
// cache: they show killed processes, not power loss, and no missing fsync.
type CrashPoints struct {
	Runs        int `json:"runs"`
	Points      int `json:"points"`
	Verified    int `json:"verified"`
	Readdressed int `json:"readdressed"`
	Drifted     int `json:"drifted"`
	// BeforeAck and AfterAck are the runs that count, by what the caller had been
	// told by then.
	BeforeAck int `json:"before_ack"`
	AfterAck  int `json:"after_ack"`
	// NotSeen are the blind spots: writes of the target that no call shows.
	NotSeen []string     `json:"not_seen,omitempty"`
	Tried   []CrashPoint `json:"tried"`
	// Table is the file with the same for a person, in the spec's folder.
	Table string `json:"table"`
}

// CrashPoint is one run.
type CrashPoint struct {
	// Name is what repro takes for it: "17:after", "17:ENOSPC".
	Name         string          `json:"name"`
	Call         string          `json:"call"`
	Path         string          `json:"path"`
	How          string          `json:"how"`
	Standing     string          `json:"standing"`
	Acknowledged bool            `json:"acknowledged"`
	Left         string          `json:"left,omitempty"`
	Verdict      verdict.Verdict `json:"verdict,omitempty"`
}
