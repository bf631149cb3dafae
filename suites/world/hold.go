package world

import (
	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Hold holds every request of a kind, or every answer to one, on a wire.
type Hold struct {
	*Trouble
	w     *World
	what  string // in words: "an outside request with the text …"
	match wire.Match
	line  wire.Line
	gate  wire.Gate
	fault *faults.Placement
	proof faults.Proof // of what a held answer has committed; none where it commits nothing

	came, passed int // before it began
}

// hold holds what fits on a wire from now on, until it is released.
func (w *World) hold(name string, line wire.Line, match wire.Match, what string, proof faults.Proof) *Hold {
	h := &Hold{w: w, what: what, match: match, line: line, proof: proof, came: line.Count(match), passed: line.Passed(match)}
	h.fault = w.ledger.Arm(name, "wire "+line.Name()+" · every "+match.Phase()+" that is "+what)
	h.gate = line.Gate(match)
	h.Trouble = w.trouble(func() {
		passed := h.through()
		h.fault.Reach(history.Observed, map[string]any{"waiting": h.gate.Waiting(), "passed": passed})
		h.gate.Open()
		h.fault.Reach(history.Healed, map[string]any{"gate": "open"})
		h.heldAll(passed)
	}, h.gate.Open)
	return h
}

// through is how many of them were let through since it began.
func (h *Hold) through() int { return h.line.Passed(h.match) - h.passed }

// Await waits until such a message is held; without one there is nothing to judge.
func (h *Hold) Await() {
	w := h.w
	if !w.Await(h.what, func() bool { return h.gate.Waiting() > 0 }) {
		Inconclusive("%s did not come within %v, so that nothing could be held", h.what, w.config.Limits.Converge)
	}
	h.fault.Reach(history.Matched, map[string]any{"came": h.line.Count(h.match) - h.came})
	h.fault.Reach(history.Held, map[string]any{"waiting": h.gate.Waiting()})
	h.heldAll(h.through())
	h.prove()
	h.fault.Reach(history.Fired, map[string]any{"waiting": h.gate.Waiting()})
}

// heldAll ends the spec where some passed that were to be held.
func (h *Hold) heldAll(passed int) {
	if passed != 0 {
		Inconclusive("of what is %s %d passed although all were to be held", h.what, passed)
	}
}

// prove proves by the wire that a held request has not left, and by a probe that
// what a held answer tells of is committed.
func (h *Hold) prove() {
	switch {
	case !h.match.Answer:
		h.fault.Prove(faults.Absent, "the wire, where the request is held and has not left", map[string]any{"passed": h.through()})
		return
	case h.proof.Shows == nil:
		h.fault.Prove(faults.Answered, "the wire, where the answer is held", map[string]any{"waiting": h.gate.Waiting()})
		return
	}
	evidence, shown, err := h.proof.Shows(h.w.ctx, wire.Message{})
	if err != nil || !shown {
		Inconclusive("what is %s is held, and its effect is not seen: %v (%v)", h.what, evidence, err)
	}
	h.fault.Prove(faults.Committed, h.proof.By, evidence)
}
