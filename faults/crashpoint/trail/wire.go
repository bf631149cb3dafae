package trail

// Order is one line from the harness to the tracer.
type Order struct {
	// Seq is repeated in the answer.
	Seq int    `json:"seq"`
	Do  string `json:"do"` // one of the Order… words
	// Plan goes with OrderBegin, Trigger with OrderArm.
	Plan    *Plan    `json:"plan,omitempty"`
	Trigger *Trigger `json:"trigger,omitempty"`
}

// What the harness orders.
const (
	OrderBegin   = "begin"
	OrderArm     = "arm"
	OrderDisarm  = "disarm"
	OrderRelease = "release"
	OrderKill    = "kill"
)

// Event is one line from the tracer to the harness.
type Event struct {
	What string `json:"event"` // one of the Event… words
	// Seq is the order that EventAnswer answers; Refused is why it was not carried out.
	Seq     int    `json:"seq,omitempty"`
	Refused string `json:"refused,omitempty"`
	// N is the number of points so far.
	N     int    `json:"n,omitempty"`
	PID   int    `json:"pid,omitempty"`
	Point *Point `json:"point,omitempty"`
	Blind *Blind `json:"blind,omitempty"`
	Side  Side   `json:"side,omitempty"`
	// Code and Signal are how the target ended; Orphans are the processes that
	// outlived it and were killed with it.
	Code    int    `json:"code,omitempty"`
	Signal  string `json:"signal,omitempty"`
	Orphans int    `json:"orphans,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// What the tracer tells.
const (
	EventStarted = "started" // the target's program runs
	EventPoint   = "point"   // a call came to its end, or its process to its own
	EventBlind   = "blind"
	EventAnswer  = "answer"
	EventHeld    = "held"
	EventStruck  = "struck" // the trigger has done its work; after a kill: and nobody lives
	EventEnded   = "ended"
	EventFailed  = "failed" // the target could not be started or traced
)
