package world

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// CancelsHeld makes a call and cancels it while its request is held before the
// helper, or its answer behind the proven commit; then what is held goes on, and the
// call comes to its end.
func (c *Caller) CancelsHeld(act Act, answer bool) history.Operation {
	match, proof := c.match(act), faults.Proof{}
	if match.Answer = answer; answer {
		proof = c.w.proof(act)
	}
	held := c.w.hold("call-held", c.theLine(), match, fmt.Sprintf("a call of %s", match.Tool), proof)
	flight := c.Cancellable(act)
	held.Await()
	if err := flight.Cancel(c.w.ctx); err != nil {
		Inconclusive("the call %s of %s could not be cancelled: %v", flight.op.Invoked.ID, flight.op.Invoked.Tool, err)
	}
	c.w.Mark("cancelled", map[string]any{"call": flight.op.Invoked.ID})
	held.Release()
	return flight.Wait()
}
