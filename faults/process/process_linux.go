package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

const seenBy = "/proc"

// Identify finds a living process.
func Identify(pid int) (Identity, error) {
	state, start, err := stat(pid)
	if err != nil {
		return Identity{}, err
	}
	if state == Gone {
		return Identity{}, fmt.Errorf("there is no living process %d; it ended before the fault could hit it", pid)
	}
	return Identity{PID: pid, Start: start}, nil
}

// State is what the process does now.
func (id Identity) State() (State, error) {
	state, start, err := stat(id.PID)
	if err == nil && start != id.Start {
		return Gone, nil
	}
	return state, err
}

// stat reads state and start time (fields 3 and 22 of proc_pid_stat(5)). The name
// in field 2 may hold blanks and brackets, so the fields are counted behind it.
func stat(pid int) (state State, start string, err error) {
	if pid <= 0 {
		return Gone, "", fmt.Errorf("%d is no process number", pid)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return Gone, "", nil
	}
	if err != nil {
		return Gone, "", fmt.Errorf("looking at process %d: %w", pid, err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return Gone, "", fmt.Errorf("looking at process %d: /proc/%d/stat has %d fields behind the name, expected 20 or more", pid, pid, len(fields))
	}
	switch fields[0] {
	case "Z", "X", "x":
		return Gone, fields[19], nil
	case "T", "t":
		return Still, fields[19], nil
	}
	return Running, fields[19], nil
}
