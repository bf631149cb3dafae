//go:build unix && !linux

package process

import (
	"errors"
	"fmt"
	"syscall"
)

const seenBy = "signal 0"

// Identify finds a living process.
func Identify(pid int) (Identity, error) {
	id := Identity{PID: pid}
	state, err := id.State()
	if err == nil && state == Gone {
		err = fmt.Errorf("there is no living process %d; it ended before the fault could hit it", pid)
	}
	return id, err
}

// State is what the process does now. Without /proc nobody says whether it
// stands still, so that a pause cannot be proven here.
func (id Identity) State() (State, error) {
	if id.PID <= 0 {
		return Gone, fmt.Errorf("%d is no process number", id.PID)
	}
	err := syscall.Kill(id.PID, 0)
	if errors.Is(err, syscall.ESRCH) {
		return Gone, nil
	}
	if err != nil {
		return Gone, fmt.Errorf("looking at process %d: %w", id.PID, err)
	}
	return Running, nil
}
