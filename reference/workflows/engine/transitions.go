package engine

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Event is something that befalls an operation or one of its steps.
type Event string

// The events.
const (
	Started        Event = "started"
	GoesOut        Event = "goes out"         // a step's request may leave from now on
	StepDone       Event = "step done"        // and another follows
	LastDone       Event = "last step done"   // and none follows
	StepNotDone    Event = "step not done"    // denied, refused, or definitely not sent
	StepDoubted    Event = "step in doubt"    // sent, and the answer was lost; or a receipt that is not complete
	RetryableDoubt Event = "retryable doubt"  // the same, of a step that declares both claims
	NeverLeft      Event = "never left"       // aborted before a request could leave
	Stopped        Event = "stopped"          // the server leaves, or has no room for a checkpoint
	HolderGone     Event = "holder gone"      // the process that ran it has died; nothing is written
	Resumed        Event = "resumed"          // explicitly, with nothing in doubt that may not be retried
	ResumedInDoubt Event = "resumed in doubt" // explicitly, with a step in doubt that may not be retried
	CancelledClean Event = "cancelled"        // with no write in doubt
	CancelledDoubt Event = "cancelled in doubt"
)

// OperationStep is one cell of the operations' table.
type OperationStep struct {
	From  ports.State // "" before the start
	Event Event
	To    ports.State
}

// OperationSteps is the whole table. An event that is not in it cannot befall an
// operation in that state. What is settled stays as it is, whatever is asked
// (WF-27); needs_review is settled too.
func OperationSteps() []OperationStep {
	all := []OperationStep{
		{"", Started, ports.Running},
		{ports.Running, GoesOut, ports.Running},
		{ports.Running, StepDone, ports.Running},
		{ports.Running, NeverLeft, ports.Running},
		{ports.Running, LastDone, ports.Completed},
		{ports.Running, StepNotDone, ports.Failed},
		{ports.Running, StepDoubted, ports.NeedsReview},
		{ports.Running, RetryableDoubt, ports.Interrupted},
		{ports.Running, Stopped, ports.Interrupted},
		{ports.Running, HolderGone, ports.Interrupted},
		{ports.Running, CancelledClean, ports.Cancelled},
		{ports.Running, CancelledDoubt, ports.NeedsReview},
		{ports.Interrupted, Resumed, ports.Running},
		{ports.Interrupted, ResumedInDoubt, ports.NeedsReview},
		{ports.Interrupted, CancelledClean, ports.Cancelled},
		{ports.Interrupted, CancelledDoubt, ports.NeedsReview},
	}
	for _, s := range ports.States() {
		if s.Settled() {
			for _, e := range []Event{Resumed, ResumedInDoubt, CancelledClean, CancelledDoubt} {
				all = append(all, OperationStep{s, e, s})
			}
		}
	}
	return all
}

// StepStep is one cell of the steps' table.
type StepStep struct {
	From  ports.StepState
	Event Event
	To    ports.StepState
}

// StepSteps is the whole table of steps. A step that goes out a second time was in
// doubt, so only success takes it out of doubt again.
func StepSteps() []StepStep {
	return []StepStep{
		{ports.Pending, GoesOut, ports.InFlight},
		{ports.InFlight, StepDone, ports.Done},
		{ports.InFlight, LastDone, ports.Done},
		{ports.InFlight, StepNotDone, ports.StepFail},
		{ports.InFlight, StepDoubted, ports.Unknown},
		{ports.InFlight, RetryableDoubt, ports.Unknown},
		{ports.InFlight, NeverLeft, ports.Pending},
		{ports.InFlight, GoesOut, ports.InFlight}, // again, after its holder died
		{ports.InFlight, ResumedInDoubt, ports.Unknown},
		{ports.InFlight, CancelledClean, ports.Unknown}, // of a step that only reads
		{ports.InFlight, CancelledDoubt, ports.Unknown},
		{ports.Unknown, GoesOut, ports.InFlight}, // again
		{ports.Unknown, ResumedInDoubt, ports.Unknown},
		{ports.Unknown, CancelledClean, ports.Unknown},
		{ports.Unknown, CancelledDoubt, ports.Unknown},
	}
}

// EventRule says when an event comes.
type EventRule struct {
	Event Event
	When  string
}

// EventRules is one rule an event.
func EventRules() []EventRule {
	return []EventRule{
		{Started, "a start was admitted; its checkpoint is stored before its answer"},
		{GoesOut, "the checkpoint with the step in_flight is stored; only then the middleware is entered"},
		{StepDone, "the tool succeeded, and a step follows; its result is stored before that"},
		{LastDone, "the tool succeeded, and no step follows"},
		{StepNotDone, "the middleware denied it, the chat service refused it, or no request left; and no earlier attempt is in doubt"},
		{StepDoubted, "a request left and no answer came, and the step does not declare both claims; or the receipt is partial or unverified; or another attempt at a step in doubt was denied or refused"},
		{RetryableDoubt, "a request left and no answer came, and the step declares both claims; or another attempt at such a step could not leave"},
		{NeverLeft, "a cancel or the end of the server aborted the step before a request left"},
		{Stopped, "the server leaves between two steps; or there is no room for the checkpoint of a step that is to go out"},
		{HolderGone, "the stored state is running and nobody holds the lock: status shows interrupted and writes nothing"},
		{Resumed, "workflow_resume, under the lock; a step in doubt declared both claims as it went out and declares them now"},
		{ResumedInDoubt, "workflow_resume, under the lock; a step is in doubt and does not declare both claims"},
		{CancelledClean, "workflow_cancel; no write is in doubt"},
		{CancelledDoubt, "workflow_cancel; a write is in doubt, whatever it declares"},
	}
}

// after is the table of operations, read. A cell that is missing is a programming
// error of this package, and better a stop than a state that means something else.
func after(from ports.State, e Event) ports.State {
	for _, s := range OperationSteps() {
		if s.From == from && s.Event == e {
			return s.To
		}
	}
	panic(fmt.Sprintf("operation %q cannot be %q", from, e))
}

// stepAfter is the table of steps, read.
func stepAfter(from ports.StepState, e Event) ports.StepState {
	for _, s := range StepSteps() {
		if s.From == from && s.Event == e {
			return s.To
		}
	}
	panic(fmt.Sprintf("step %q cannot be %q", from, e))
}
