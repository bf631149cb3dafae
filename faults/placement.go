// Package faults holds what goes wrong, and the proof that it did. A fault is
// placed by position (which call, which occurrence, which phase), never by time.
package faults

import (
	"fmt"
	"sync"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The two proofs. Absence is proven only behind a fence: the writer is dead, or
// its request is known not to have left.
const (
	Committed = "committed"
	Absent    = "absent"
)

// Two more, for faults whose place is no commit: the callee's answer was held on
// the wire (whether it had committed by then is what the spec is about), and the
// process stood still.
const (
	Answered = "answered"
	Stopped  = "stopped"
)

// Placement walks one fault through its stages and records each with its
// evidence. A stage is recorded once; the first record stands.
type Placement struct {
	rec      *history.Recorder
	id       string
	name     string
	position string

	mu      sync.Mutex
	reached map[history.Stage]bool
}

// Ledger numbers the placements of one history.
type Ledger struct {
	rec *history.Recorder
	mu  sync.Mutex
	n   int
}

// NewLedger numbers faults into rec.
func NewLedger(rec *history.Recorder) *Ledger { return &Ledger{rec: rec} }

// Arm starts a placement: name is the kind of fault (answer-lost, kill …),
// position says where it will hit, in words ("helper · start · 1st · answer").
func (l *Ledger) Arm(name, position string) *Placement {
	l.mu.Lock()
	l.n++
	p := &Placement{rec: l.rec, id: fmt.Sprintf("f%d", l.n), name: name, position: position, reached: map[history.Stage]bool{}}
	l.mu.Unlock()
	p.Reach(history.Armed, nil)
	return p
}

// Reach records that the fault came to a stage, with what was seen there.
func (p *Placement) Reach(stage history.Stage, evidence map[string]any) {
	p.record(history.Fault{Stage: stage, Evidence: evidence})
}

// Prove records the proof (Committed or Absent) and the second route that gave it.
func (p *Placement) Prove(proof, by string, evidence map[string]any) {
	p.record(history.Fault{Stage: history.Proven, Proof: proof, By: by, Evidence: evidence})
}

// Name is the kind of fault, Position where it is placed.
func (p *Placement) Name() string     { return p.name }
func (p *Placement) Position() string { return p.position }

// ID is the placement's number in its history.
func (p *Placement) ID() string { return p.id }

func (p *Placement) record(f history.Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reached[f.Stage] {
		return
	}
	p.reached[f.Stage] = true
	f.ID, f.Name, f.Position = p.id, p.name, p.position
	p.rec.Record(history.Event{Kind: history.KindFault, Fault: &f})
}
