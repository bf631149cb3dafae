// Package world is a target that is started and stands behind its wires: what
// a spec acts on.
package world

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// Stop ends a spec early with a verdict. A spec raises it with panic; the
// engine recovers it, and nothing else.
type Stop struct {
	Verdict verdict.Verdict
	Reason  string
}

// Error makes a Stop readable where it is recovered.
func (s Stop) Error() string { return string(s.Verdict) + ": " + s.Reason }

// Inconclusive stops the spec: no judgement is possible.
func Inconclusive(format string, args ...any) {
	panic(Stop{Verdict: verdict.Inconclusive, Reason: fmt.Sprintf(format, args...)})
}

// Inapplicable stops the spec: the target cannot have what it is about, which only
// a started target can tell.
func Inapplicable(format string, args ...any) {
	panic(Stop{Verdict: verdict.NotApplicable, Reason: fmt.Sprintf(format, args...)})
}

// Broken stops the spec: the harness or the machine failed, not the target.
func Broken(format string, args ...any) {
	panic(Stop{Verdict: verdict.Error, Reason: fmt.Sprintf(format, args...)})
}

// Broke stops the spec: the target broke the spec's first clause in a way that
// leaves nothing to go on with.
func Broke(format string, args ...any) {
	panic(Stop{Verdict: verdict.Fail, Reason: fmt.Sprintf(format, args...)})
}
