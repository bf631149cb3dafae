package world

import (
	"errors"
	"net"
	"syscall"

	"github.com/holdfast-mcp/holdfast/faults"
	"github.com/holdfast-mcp/holdfast/faults/wire"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// away makes the far end of a wire unreachable until it is released: connections
// to it are refused, so that no request leaves.
func (w *World) away(name string, line *wire.Wire) *Trouble {
	fault := w.ledger.Arm(name, "wire "+line.Name()+" · its address")
	all := line.Count(wire.Match{})
	if err := line.Away(true); err != nil {
		Broken("%v", err)
	}
	trouble := w.trouble(func() {
		fault.Reach(history.Observed, map[string]any{"requests that came meanwhile": line.Count(wire.Match{}) - all})
		if err := line.Away(false); err != nil {
			Broken("%v", err)
		}
		fault.Reach(history.Healed, nil)
	}, func() { _ = line.Away(false) })
	fault.Reach(history.Matched, map[string]any{"address": line.Addr()})
	conn, err := net.Dial("tcp", line.Addr())
	if err == nil {
		err = errors.Join(errors.New("a connection was accepted"), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		Inconclusive("what is behind wire %s was to be unreachable, and is not: %v", line.Name(), err)
	}
	fault.Reach(history.Held, nil)
	fault.Prove(faults.Absent, "a connection of the harness's own, which was refused", map[string]any{"told": err.Error()})
	fault.Reach(history.Fired, nil)
	return trouble
}
