package process_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-mcp/holdfast/faults/process"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// sleeper is a real process that does nothing.
type sleeper struct {
	cmd    *exec.Cmd
	reaped chan struct{}
	harm   bool // whether signals are really sent
}

func start(t *testing.T) *sleeper {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &sleeper{cmd: cmd, reaped: make(chan struct{}), harm: true}
	go func() { defer close(s.reaped); cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill(); <-s.reaped })
	return s
}

func (s *sleeper) Name() string { return "sleeper" }
func (s *sleeper) PID() int     { return s.cmd.Process.Pid }
func (s *sleeper) send(sig os.Signal) error {
	if !s.harm {
		return nil
	}
	return s.cmd.Process.Signal(sig)
}
func (s *sleeper) Kill(context.Context) error   { return s.send(syscall.SIGKILL) }
func (s *sleeper) Pause(context.Context) error  { return s.send(syscall.SIGSTOP) }
func (s *sleeper) Resume(context.Context) error { return s.send(syscall.SIGCONT) }

func TestPauseResumeKillAreSeen(t *testing.T) {
	s := start(t)
	id, err := process.Identify(s.PID())
	if err != nil {
		t.Fatal(err)
	}
	want := func(state process.State) {
		t.Helper()
		if got, err := id.State(); err != nil || got != state {
			t.Errorf("the process is %s (%v), expected %s", got, err, state)
		}
	}
	want(process.Running)
	evidence, err := process.Pause(t.Context(), s, wait.Default())
	if err != nil || evidence["pid"] != s.PID() || evidence["process"] != "sleeper" || evidence["seen_by"] != "/proc" {
		t.Errorf("pausing gave %v, %v", evidence, err)
	}
	want(process.Still)
	if err := process.Resume(t.Context(), s, wait.Default()); err != nil {
		t.Error(err)
	}
	want(process.Running)
	if evidence, err = process.Kill(t.Context(), s, wait.Default()); err != nil || evidence["signal"] != "SIGKILL" {
		t.Errorf("killing gave %v, %v", evidence, err)
	}
	want(process.Gone)
	<-s.reaped
	want(process.Gone)
	if _, err := process.Kill(t.Context(), s, wait.Default()); err == nil || !strings.Contains(err.Error(), "it ended before the fault could hit it") {
		t.Errorf("killing the dead: %v", err)
	}
}

func TestWhatDoesNothingIsNotBelieved(t *testing.T) {
	s := start(t)
	s.harm = false
	limits := wait.Default()
	limits.Reap = 50 * time.Millisecond
	if _, err := process.Kill(t.Context(), s, limits); !errors.Is(err, process.ErrLives) || !strings.Contains(err.Error(), "killing sleeper (pid ") || !strings.Contains(err.Error(), "it is running") {
		t.Errorf("a kill that does nothing: %v", err)
	}
	if _, err := process.Pause(t.Context(), s, limits); err == nil || !strings.Contains(err.Error(), "it is running") {
		t.Errorf("a pause that does nothing: %v", err)
	}
	s.harm = true
	if _, err := process.Pause(t.Context(), s, wait.Default()); err != nil {
		t.Fatal(err)
	}
	s.harm = false
	if err := process.Resume(t.Context(), s, limits); err == nil || !strings.Contains(err.Error(), "it is stopped") {
		t.Errorf("a resume that does nothing: %v", err)
	}
}

func TestALaterProcessUnderTheSameNumberIsAnother(t *testing.T) {
	s := start(t)
	id, err := process.Identify(s.PID())
	if err != nil {
		t.Fatal(err)
	}
	id.Start = "1"
	if state, err := id.State(); err != nil || state != process.Gone {
		t.Errorf("a process with another start time is %s (%v), expected gone", state, err)
	}
	if _, err := process.Identify(0); err == nil {
		t.Error("0 was taken for a process")
	}
}
