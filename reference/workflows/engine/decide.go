package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reference/workflows/definitions"
	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// What is decided here is decided by the checkpoint and one new fact alone: no
// clock, no store, no process.

// become is what event e makes of an operation and of its step i.
func become(o ports.Operation, i int, e Event, code ports.Code) ports.Operation {
	o = o.Clone()
	s := &o.Steps[i]
	o.State, s.State = after(o.State, e), stepAfter(s.State, e)
	o.Code, s.Code = code, code
	return o
}

// goingOut is the checkpoint before step i leaves.
func goingOut(o ports.Operation, i int, declared ports.Declared) ports.Operation {
	o = become(o, i, GoesOut, "")
	s := &o.Steps[i]
	s.Attempts++
	if s.Sent == nil {
		s.Sent = &declared
	}
	return o
}

// circumstances are what else counts as the outcome of a step comes.
type circumstances struct {
	declared ports.Declared // by the policy of now
	again    bool           // an earlier attempt is in doubt
	asked    bool           // a cancel is wanted
	stopping bool           // the server leaves
}

// concluded is the checkpoint after step i, which was in_flight, came to an
// outcome; false if nothing is known that is better than what is stored.
func concluded(o ports.Operation, i int, out ports.Outcome, c circumstances) (ports.Operation, bool) {
	switch out.Ending {
	case ports.Succeeded:
		e := StepDone
		if i == len(o.Steps)-1 {
			e = LastDone
		}
		return withResult(become(o, i, e, ""), i, out.Result), true
	case ports.Incomplete:
		return withResult(become(o, i, StepDoubted, out.Code), i, out.Result), true
	case ports.Doubted:
		return doubted(o, i, out.Code, c)
	case ports.Unsent:
		return unsent(o, i, out.Code, c)
	}
	if c.again {
		return become(o, i, StepDoubted, out.Code), true // a no to the second attempt says nothing about the first
	}
	return become(o, i, StepNotDone, out.Code), true
}

func doubted(o ports.Operation, i int, code ports.Code, c circumstances) (ports.Operation, bool) {
	switch {
	case c.asked:
		return cancelled(o), true
	case c.stopping:
		return o, false // in_flight is stored, and the next resume decides
	case retryable(o.Steps[i], c.declared):
		return become(o, i, RetryableDoubt, code), true
	}
	return become(o, i, StepDoubted, code), true
}

func unsent(o ports.Operation, i int, code ports.Code, c circumstances) (ports.Operation, bool) {
	switch {
	case c.again && c.asked:
		return cancelled(o), true
	case c.again:
		return become(o, i, RetryableDoubt, code), true
	case c.asked || c.stopping:
		return become(o, i, NeverLeft, ""), true
	}
	return become(o, i, StepNotDone, code), true
}

// retryable says whether a step in doubt may go out again: both claims were made
// as it went out, so that it carried its key, and both are made now (WF-16, WF-17).
func retryable(s ports.Step, now ports.Declared) bool {
	return s.Sent != nil && s.Sent.Retryable() && now.Retryable()
}

// cancelled is what a cancel makes of an operation whose next step is not running
// any more. A write in doubt stays one, whatever it declares (WF-21).
func cancelled(o ports.Operation) ports.Operation {
	i := o.Next()
	if !o.Steps[i].State.Doubtful() {
		o.State, o.Code = after(o.State, CancelledClean), ""
		return o
	}
	if definitions.AccessOf(o.Steps[i].Tool) == ports.Read {
		return become(o, i, CancelledClean, "")
	}
	return become(o, i, CancelledDoubt, ports.CodeOutcomeUnknown)
}

// resumed is what a resume makes of an operation that nobody runs; false if it
// is not to run.
func resumed(o ports.Operation, now ports.Declared) (ports.Operation, bool) {
	i := o.Next()
	if o.Steps[i].State.Doubtful() && !retryable(o.Steps[i], now) {
		return become(o, i, ResumedInDoubt, ports.CodeOutcomeUnknown), false
	}
	o.State, o.Code = after(o.State, Resumed), ""
	return o, true
}

// orphaned is what is to be said of an operation that nobody runs.
func orphaned(o ports.Operation) ports.Operation {
	if o.State == ports.Running {
		o.State = after(o.State, HolderGone)
	}
	return o
}

// longest is how much of a result is kept; of a longer one the digest says enough.
const longest = 16 << 10

func withResult(o ports.Operation, i int, result json.RawMessage) ports.Operation {
	sum := sha256.Sum256(result)
	o.Steps[i].ResultSHA256 = hex.EncodeToString(sum[:])
	if len(result) <= longest {
		o.Steps[i].Result = result
	}
	return o
}
