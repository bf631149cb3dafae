// Package crashpoint finds out what any binary leaves behind when it is killed at
// any of its writes: it records the state-changing system calls of one operation
// (Trace, Record), drops those between which nothing changed (Reduce), lists the
// runs to be made (Enumerate), and says of each run whether it was struck where it
// should have been (Verify).
//
// What this shows is a killed process, not a power loss:
//
//   - SIGKILL keeps the kernel's page cache. What was written is there for the next
//     start although it was never forced to disk, so a missing fsync is not found.
//   - A file that is written through shared memory (mmap) or an io_uring changes
//     without a system call. Both are noticed and told (Record.Blind), not counted.
//   - A target that needs set-user-ID programs, or traces processes itself, does
//     not run under the tracer.
//   - A target that serves the file system on which its own files lie would wait for
//     itself: a call on a file ends before the next one begins.
//   - Processes that outlive the target's first one are killed with it (End.Orphans).
//
// Linux on x86-64 only. Elsewhere everything builds, and Available says why not.
package crashpoint

import (
	"cmp"
	"slices"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint/tracer"
	"github.com/holdfast-mcp/holdfast/faults/crashpoint/trail"
)

// The vocabulary of what is noted down; see package trail.
type (
	Point   = trail.Point
	Kind    = trail.Kind
	Blind   = trail.Blind
	Side    = trail.Side
	Plan    = trail.Plan
	Naming  = trail.Naming
	Address = trail.Address
	Trigger = trail.Trigger
)

// See package trail.
const (
	State  = trail.State
	Ack    = trail.Ack
	Before = trail.Before
	After  = trail.After
	Kill   = trail.Kill
	Hold   = trail.Hold
	Fail   = trail.Fail
)

// ErrUnavailable is why there are no crash points on this machine.
var ErrUnavailable = tracer.ErrUnavailable

// Available says whether targets can be traced here: nil, or ErrUnavailable with
// the reason.
func Available() error { return tracer.Available() }

// Shim plays the tracer, or the shim that becomes the target, if this process was
// started as one, and does not return then. It must be the first call of main, and
// of TestMain where a package's tests trace.
func Shim() { tracer.Become() }

// Record is what was noted down since the tracer was armed.
type Record struct {
	Points []Point `json:"points"`
	Blind  []Blind `json:"blind,omitempty"`
}

// changes are the points that changed something, in order.
func (r Record) changes() []Point {
	var changing []Point
	for _, p := range r.inOrder() {
		if p.Changes() {
			changing = append(changing, p)
		}
	}
	return changing
}

// inOrder: calls are told when they end, which of pipes and sockets is not the
// order in which they began.
func (r Record) inOrder() []Point {
	return slices.SortedFunc(slices.Values(r.Points), func(a, b Point) int { return cmp.Compare(a.N, b.N) })
}

// Unseen are the blind spots that matter: those on files that hold state.
func (r Record) Unseen() []Blind {
	return slices.DeleteFunc(slices.Clone(r.Blind), Blind.Harmless)
}
