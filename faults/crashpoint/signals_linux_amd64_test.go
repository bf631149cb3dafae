package crashpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

func TestExitIsPassedOn(t *testing.T) {
	r := newRun(t)
	for _, code := range []int{0, 3, 127} {
		b := role(t, r, files(t, 0), crashpoint.Plan{}, "exit", fmt.Sprint("CODE=", code))
		if end := b.ended(); end.Code != code || end.Signal != "" {
			t.Errorf("it left with %d, and ended with %+v", code, end)
		}
		if got, signal := b.proc.Exit(); got != code || signal != "" {
			t.Errorf("it left with %d, and the tracer with %d %s", code, got, signal)
		}
	}
	for _, signal := range []syscall.Signal{unix.SIGKILL, unix.SIGSEGV, unix.SIGTERM} {
		b := role(t, r, files(t, 0), crashpoint.Plan{}, "sit")
		pid, err := b.trace.Started(within(t))
		if err != nil {
			t.Fatal(err)
		}
		// The Go program that plays the target dies of SIGSEGV with exit code 2.
		unix.Kill(pid, signal)
		end := b.ended()
		code, name := b.proc.Exit()
		if code != end.Code || name != end.Signal || signal != unix.SIGSEGV && name != unix.SignalName(signal) {
			t.Errorf("%v ended the target with %+v and the tracer with %d %s", signal, end, code, name)
		}
	}
}

func TestTermReachesTheTargetOnce(t *testing.T) {
	b := role(t, newRun(t), files(t, 0), crashpoint.Plan{}, "term")
	if line := b.line(); line != "ready" {
		t.Fatalf("it said %q", line)
	}
	// As launch sends it: to the whole group, tracer and target alike.
	unix.Kill(-b.proc.PID(), unix.SIGTERM)
	if line := b.line(); line != "heard terminated" {
		t.Errorf("it said %q", line)
	}
	if end := b.ended(); end.Code != 7 {
		t.Errorf("it ended with %+v", end)
	}
}

func TestStreamsAndTheEndOfInput(t *testing.T) {
	cat := needs(t, "cat")
	b := trace(t, newRun(t), files(t, 0), crashpoint.Plan{Armed: true, Text: 4}, []string{cat})
	b.say("over and out")
	if line := b.line(); line != "over and out" {
		t.Errorf("cat said %q", line)
	}
	b.proc.Stdin.Close()
	if rest, err := io.ReadAll(b.out); err != nil || len(rest) > 0 {
		t.Errorf("and then %q, %v", rest, err)
	}
	if end := b.ended(); end.Code != 0 {
		t.Errorf("it ended with %+v", end)
	}
	points := b.trace.Record().Points
	if len(points) != 1 || points[0].Kind != crashpoint.Ack || points[0].Path != "stdout" || points[0].Text != "over" || points[0].Result != 13 {
		t.Errorf("it was seen to make %+v", points)
	}
}

func TestAStopLastsUntilItIsContinued(t *testing.T) {
	b := role(t, newRun(t), files(t, 0), crashpoint.Plan{}, "stop")
	pid, err := strconv.Atoi(b.line())
	if err != nil {
		t.Fatal(err)
	}
	err = wait.For(t.Context(), "the target to stop", wait.Default().Reap, func(context.Context) (bool, error) {
		return still(pid), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The tracer answers, and the target is still stopped: it was not let go by it.
	b.arm(nil)
	if !still(pid) {
		t.Error("the target goes on although nobody continued it")
	}
	unix.Kill(pid, unix.SIGCONT)
	if line := b.line(); line != "goes on" {
		t.Errorf("it said %q", line)
	}
	b.ended()
}

// still: every thread of the process stands.
func still(pid int) bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue
		}
		if state := text[strings.LastIndexByte(string(text), ')')+2]; state != 'T' && state != 't' {
			return false
		}
	}
	return len(tasks) > 0
}

// A write that waits for room in a pipe is broken off by signals and made again by
// the kernel: it is one call.
func TestACallThatIsMadeAgainIsCountedOnce(t *testing.T) {
	dir := files(t, 1)
	program := compiled(t, `
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static int times;
static void heard(int s) {
	(void)s;
	if (++times == 3) { int fd = open("file-0", O_WRONLY); if (write(fd, "record!\n", 8)) close(fd); }
}
int main(void) {
	static char full[65536];
	struct sigaction a = { .sa_handler = heard, .sa_flags = SA_RESTART };
	struct itimerval soon = { { 0, 20000 }, { 0, 20000 } };
	sigaction(SIGALRM, &a, 0);
	memset(full, 'x', sizeof full);
	if (fcntl(1, F_SETPIPE_SZ, 65536) < 0 || write(1, full, sizeof full) != sizeof full) return 3;
	setitimer(ITIMER_REAL, &soon, 0);
	if (write(1, "the end", 7) != 7) return 4;
	return 0;
}`)
	b := trace(t, newRun(t), dir, crashpoint.Plan{Armed: true}, []string{program})
	err := wait.For(t.Context(), "the third signal", wait.Default().Ready, func(context.Context) (bool, error) {
		return size(t, dir) == recordSize, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(b.out); err != nil || len(text) != 65536+7 {
		t.Errorf("read %d bytes, %v", len(text), err)
	}
	if end := b.ended(); end.Code != 0 {
		t.Errorf("it ended with %+v", end)
	}
	points := b.trace.Record().Points
	if len(points) != 3 || points[1].Result != 7 || points[2].Path != "file-0" {
		t.Errorf("it was seen to make %+v", points)
	}
}

func TestOrphansEndWithTheTarget(t *testing.T) {
	b := role(t, newRun(t), files(t, 0), crashpoint.Plan{}, "orphan")
	if end := b.ended(); end.Code != 0 || end.Orphans == 0 {
		t.Errorf("it ended with %+v", end)
	}
	if left, err := b.proc.Leftovers(); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestWhatCannotStartIsSaid(t *testing.T) {
	r := newRun(t)
	b := trace(t, r, files(t, 0), crashpoint.Plan{}, []string{"no-such-command"})
	if _, err := b.trace.Started(within(t)); err == nil || !strings.Contains(err.Error(), `there is no command "no-such-command"`) {
		t.Errorf("starting what is not there: %v", err)
	}
	<-b.proc.Done()
	if code, _ := b.proc.Exit(); code != 127 {
		t.Errorf("it ended with code %d, expected 127", code)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	b = trace(t, r, files(t, 0), crashpoint.Plan{}, []string{text})
	if _, err := b.trace.Started(within(t)); err == nil || !strings.Contains(err.Error(), "exec format error") {
		t.Errorf("starting a text: %v", err)
	}
	<-b.proc.Done()
}

func TestATracerThatIsKilledIsLost(t *testing.T) {
	b := role(t, newRun(t), files(t, 0), crashpoint.Plan{}, "sit")
	if _, err := b.trace.Started(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := b.proc.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.trace.Ended(within(t)); !errors.Is(err, crashpoint.ErrLost) {
		t.Errorf("waiting for its end: %v", err)
	}
	if err := b.trace.Arm(within(t), nil); !errors.Is(err, crashpoint.ErrLost) {
		t.Errorf("arming it: %v", err)
	}
}
