// Package process is what a fault needs of a process: to kill it or let it stand
// still, and to see by the operating system's own word that it did. The word of
// whoever sent the signal is no proof.
package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// Victim is a process that can be killed.
type Victim interface {
	// Name is the process's name in the target file.
	Name() string
	// PID is the number of the process that leads its group.
	PID() int
	// Kill sends SIGKILL to the whole group and returns when it is reaped.
	Kill(ctx context.Context) error
}

// Pausable is a process that can be made to stand still.
type Pausable interface {
	Victim
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
}

// State is what the operating system says of a process.
type State string

// The states. Gone: no such process, or one that only waits to be reaped, or
// another one under the same number.
const (
	Running State = "running"
	Still   State = "stopped"
	Gone    State = "gone"
)

// Identity tells one process from a later one under the same number.
type Identity struct {
	PID int
	// Start is when it started, in the system's own unit; "" where the system
	// does not tell.
	Start string
}

// ErrLives is in an error of Kill when the victim outlived it.
var ErrLives = errors.New("the process lives on after SIGKILL")

// Kill kills a victim and sees to it that it is gone. The evidence says what was
// killed and who saw it.
func Kill(ctx context.Context, v Victim, limits wait.Limits) (map[string]any, error) {
	id, err := Identify(v.PID())
	if err != nil {
		return nil, fmt.Errorf("killing %s: %w", v.Name(), err)
	}
	if err := v.Kill(ctx); err != nil {
		return nil, fmt.Errorf("killing %s (pid %d): %w", v.Name(), id.PID, err)
	}
	evidence := map[string]any{"process": v.Name(), "pid": id.PID, "signal": "SIGKILL", "seen_by": seenBy}
	err = until(ctx, id, Gone, limits)
	if err != nil {
		return nil, fmt.Errorf("killing %s (pid %d): %w: %w", v.Name(), id.PID, ErrLives, err)
	}
	return evidence, nil
}

// Pause stops a process and sees to it that it stands still.
func Pause(ctx context.Context, p Pausable, limits wait.Limits) (map[string]any, error) {
	id, err := Identify(p.PID())
	if err != nil {
		return nil, fmt.Errorf("pausing %s: %w", p.Name(), err)
	}
	if err := p.Pause(ctx); err != nil {
		return nil, fmt.Errorf("pausing %s (pid %d): %w", p.Name(), id.PID, err)
	}
	if err := until(ctx, id, Still, limits); err != nil {
		return nil, fmt.Errorf("pausing %s (pid %d): %w", p.Name(), id.PID, err)
	}
	return map[string]any{"process": p.Name(), "pid": id.PID, "signal": "SIGSTOP", "seen_by": seenBy}, nil
}

// Resume lets a paused process go on and sees to it that it does.
func Resume(ctx context.Context, p Pausable, limits wait.Limits) error {
	id, err := Identify(p.PID())
	if err != nil {
		return fmt.Errorf("resuming %s: %w", p.Name(), err)
	}
	if err := p.Resume(ctx); err != nil {
		return fmt.Errorf("resuming %s (pid %d): %w", p.Name(), id.PID, err)
	}
	if err := until(ctx, id, Running, limits); err != nil {
		return fmt.Errorf("resuming %s (pid %d): %w", p.Name(), id.PID, err)
	}
	return nil
}

func until(ctx context.Context, id Identity, want State, limits wait.Limits) error {
	last := State("not seen")
	err := wait.For(ctx, fmt.Sprintf("process %d to be %s", id.PID, want), limits.Reap, func(context.Context) (bool, error) {
		now, err := id.State()
		last = now
		return err == nil && now == want, err
	})
	if err != nil {
		return fmt.Errorf("%w; it is %s", err, last)
	}
	return nil
}
