package reports

import (
	"time"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// ReportSchema names the form of report.json. It changes when a reader of the
// old form would misread the new one; fields may be added under the same name.
const ReportSchema = "holdfast.report/1"

// Report is report.json: the only source of every renderer.
type Report struct {
	Schema      string      `json:"schema"`
	Tool        Tool        `json:"tool"`
	Target      Target      `json:"target"`
	Contract    Contract    `json:"contract"`
	Environment Environment `json:"environment"`
	// Seed fixes every choice of the run; each spec has its own, made of this
	// one and the spec's ID.
	Seed      int64     `json:"seed"`
	Selection Selection `json:"selection"`
	Started   time.Time `json:"started"`
	Ended     time.Time `json:"ended"`
	Counts    Counts    `json:"counts"`
	// Clauses holds every clause of the selection that has a spec, in contract order.
	Clauses []Clause `json:"clauses"`
	Specs   []Spec   `json:"specs"`
	// Control is the same specs on the reference; nil when it was not asked for
	// or the target is the reference.
	Control  *Control  `json:"control,omitempty"`
	Baseline *Baseline `json:"baseline,omitempty"`
	Gate     Gate      `json:"gate"`
}

// Tool is the harness that wrote the report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Target is what was put under test.
type Target struct {
	Name string `json:"name"`
	// Version is what the target says of itself, empty where its file does not ask.
	Version string `json:"version,omitempty"`
	// SHA256 is that of the program that was started for the helper, in hex;
	// empty when it could not be read.
	SHA256 string `json:"sha256,omitempty"`
	// Command starts the helper, as the target file has it: templates unexpanded,
	// so that no secret is in it.
	Command []string `json:"command,omitempty"`
	// File is the path of the target file, empty for a built-in; Digest is the
	// SHA-256 of its text, in hex.
	File     string   `json:"file,omitempty"`
	Digest   string   `json:"digest"`
	Revision string   `json:"revision,omitempty"` // the MCP revision that it is asked for
	Profiles []string `json:"profiles"`           // the profiles that it claims
}

// Contract is the clause set that the target was held to.
type Contract struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Environment is the machine of the run, as far as it may explain a verdict.
type Environment struct {
	OS        string `json:"os"`
	Arch      string `json:"arch"`
	Kernel    string `json:"kernel,omitempty"`
	CPUs      int    `json:"cpus"`
	Procs     int    `json:"procs"` // workers
	TimeScale string `json:"time_scale,omitempty"`
	// Kill says what a kill of this run is, and is not.
	Kill string `json:"kill"`
}

// Selection is what was asked for.
type Selection struct {
	Profiles []string `json:"profiles,omitempty"`
	Select   []string `json:"select,omitempty"`
	Skip     []string `json:"skip,omitempty"`
	// Level is the lowest level that gates: must, or should.
	Level string `json:"level"`
}

// Counts are the numbers behind the closing line.
type Counts struct {
	Clauses map[verdict.Verdict]int `json:"clauses"`
	Specs   map[verdict.Verdict]int `json:"specs"`
	// ProcessStarts are the starts of the target's processes, control run included.
	ProcessStarts int `json:"process_starts"`
}

// Clause is what the run says of one clause, or of one separately judged part
// of a clause ("DU-07/bytes").
type Clause struct {
	ID      string `json:"id"`
	Level   string `json:"level"`
	Title   string `json:"title"`
	Profile string `json:"profile"`
	// Source is whose obligation it is at the revision of the run.
	Source string `json:"source"`
	// Verdict is the worst of its specs; Reason is that of the worst.
	Verdict verdict.Verdict `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
	// Specs are the IDs of the specs that speak for it.
	Specs []string `json:"specs"`
}

// Control is the control run: the same specs on the reference, in the same
// environment (design rule 6).
type Control struct {
	Target string `json:"target"`
	Specs  []Spec `json:"specs"`
	// Changed are the specs whose failure is put down to the environment, because
	// the reference failed them as well.
	Changed []string `json:"changed,omitempty"`
}

// Baseline is how the list of known failures met this run.
type Baseline struct {
	File    string          `json:"file"`
	Entries []BaselineEntry `json:"entries"`
}

// BaselineEntry is one known failure and what became of it.
type BaselineEntry struct {
	Spec   string `json:"spec,omitempty"`
	Clause string `json:"clause,omitempty"`
	Expect string `json:"expect"`
	Reason string `json:"reason"`
	Issue  string `json:"issue,omitempty"`
	// Expires is the last day on which the entry excuses anything, YYYY-MM-DD.
	Expires string `json:"expires,omitempty"`
	// State is one of applies, stale, expired, unused.
	State string `json:"state"`
	// Why explains a state other than applies.
	Why string `json:"why,omitempty"`
}

// The states of a baseline's entry.
const (
	BaselineApplies = "applies" // it excused a failure, or may (known-flaky)
	BaselineStale   = "stale"   // nothing failed that it could excuse, or it names nothing
	BaselineExpired = "expired" // its day has passed; it excuses nothing
	BaselineUnused  = "unused"  // what it names was not judged in this run
)

// Gate is the decision of the run.
type Gate struct {
	// Verdict is the gate's word for the exit code: passed, failed, …
	Verdict  string `json:"verdict"`
	ExitCode int    `json:"exit_code"`
	// Reasons say why, the one that decided first.
	Reasons []Reason `json:"reasons"`
	// Checked are the clauses that were judged (pass or fail), Required those
	// that had to be, WithoutSpec those that no spec speaks for.
	Checked     []string `json:"checked"`
	Required    []string `json:"required"`
	WithoutSpec []string `json:"without_spec"`
}

// Reason is one reason of a gate with the exit code that it asks for.
type Reason struct {
	Code int    `json:"code"`
	Text string `json:"text"`
}
