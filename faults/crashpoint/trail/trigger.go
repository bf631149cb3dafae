package trail

import (
	"fmt"
	"slices"
	"strings"
)

// Side says on which side of a call something happens.
type Side string

const (
	// Before: the call is about to begin; it never will if the process is killed.
	Before Side = "before"
	// After: the call has come to its end, and the process has not seen it yet.
	After Side = "after"
)

// Do is what happens at a point.
type Do string

const (
	// Kill sends SIGKILL to every process of the target.
	Kill Do = "kill"
	// Hold lets no counted call begin until the harness says Release or kills.
	Hold Do = "hold"
	// Fail returns an error instead of executing the call.
	Fail Do = "fail"
)

// Address names a point: by its number, or, with N = 0, by call, name and
// occurrence, which stays the same where threads interleave in another way.
type Address struct {
	N          int    `json:"n,omitempty"`
	Call       string `json:"call,omitempty"`
	Name       string `json:"name,omitempty"` // by pattern
	Occurrence int    `json:"occurrence,omitempty"`
}

// Names says whether the address is that of p.
func (a Address) Names(p Point) bool {
	if a.N > 0 {
		return a.N == p.N
	}
	return a.Call == p.Call && a.Name == p.Name && a.Occurrence == p.Occurrence
}

func (a Address) String() string {
	if a.N > 0 {
		return fmt.Sprintf("point %d", a.N)
	}
	return fmt.Sprintf("%s of %s, occurrence %d", a.Call, a.Name, a.Occurrence)
}

// Trigger is what is to happen, and where.
type Trigger struct {
	At   Address `json:"at"`
	Side Side    `json:"side"`
	Do   Do      `json:"do"`
	// Error is the name of the error of Fail ("ENOSPC").
	Error string `json:"error,omitempty"`
	// Stays: every later call that can return the error does so as well, as on a
	// disk that is full from then on.
	Stays bool `json:"stays,omitempty"`
}

// Check says what is wrong with a trigger.
func (t Trigger) Check() error {
	switch {
	case t.At.N <= 0 && (t.At.Call == "" || t.At.Occurrence <= 0):
		return fmt.Errorf("a trigger needs a point: a number from 1, or call, name and occurrence; got %+v", t.At)
	case t.Do == Fail && !slices.Contains(Errors(), t.Error):
		return fmt.Errorf("a trigger cannot return the error %q; it can return %s", t.Error, strings.Join(Errors(), ", "))
	case t.Do != Fail && t.Do != Kill && t.Do != Hold:
		return fmt.Errorf("a trigger cannot do %q; it can %s, %s or %s", t.Do, Kill, Hold, Fail)
	case t.Do != Fail && t.Side != Before && t.Side != After:
		return fmt.Errorf("a trigger has no side %q; it has %s or %s", t.Side, Before, After)
	}
	return nil
}

// Plan is what the harness tells the tracer before the target starts.
type Plan struct {
	Naming
	// Text is how many bytes of an acknowledgement are noted down.
	Text int `json:"text,omitempty"`
	// NoRings: io_uring_setup is answered by ENOSYS, as where it is switched off,
	// so that a target which can do without shows its calls.
	NoRings bool `json:"no_rings,omitempty"`
	// Armed: calls are counted from the target's first one on, instead of from Arm on.
	Armed bool `json:"armed,omitempty"`
	// Trigger is what happens then; nil only notes down.
	Trigger *Trigger `json:"trigger,omitempty"`
}
