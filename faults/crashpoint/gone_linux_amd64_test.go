package crashpoint_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// markVariable is carried by everybody whom a test starts.
const markVariable = "CRASHPOINT_TEST_MARK"

// marked are the living processes that carry a mark, with their threads' states.
func marked(mark string) map[int]string {
	found := map[int]string{}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(markVariable+"="+mark)) {
			continue
		}
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, task := range tasks {
			text, err := os.ReadFile(task)
			if err == nil {
				found[pid] += string(text[bytes.LastIndexByte(text, ')')+2])
			}
		}
	}
	return found
}

// mustVanish waits until nobody with the mark lives, in whatever state.
func mustVanish(t *testing.T, mark, killed string) {
	t.Helper()
	var last map[int]string
	err := wait.For(t.Context(), "nobody to be left", wait.Default().Reap, func(context.Context) (bool, error) {
		last = marked(mark)
		return len(last) == 0, nil
	})
	if err != nil {
		t.Errorf("%s: %v; left are %v (by number: states of the threads)", killed, err, last)
	}
}

// kills is how often the tracer and the harness are killed, at different moments.
const kills = 50

// step is how far the start of a target has come, as /proc shows it of the tracer.
type step int

const (
	started  step = iota // the tracer's process is there
	calling              // it has a socket, by which it calls the harness
	forked               // it has a child
	shimmed              // the child is the shim
	seized               // a thread of the shim is traced
	executed             // the child is the target
)

var stepNames = []string{"the tracer was started", "it called", "it forked", "the shim was there", "the shim was seized", "the target was executed"}

func (s step) String() string { return stepNames[s] }

// moment is when somebody is killed: at a step of the start, or behind so many
// counted calls.
type moment struct {
	step    step
	counted int // -1 during the start
}

func (m moment) String() string {
	if m.counted < 0 {
		return "as soon as " + m.step.String()
	}
	return fmt.Sprintf("behind %d counted calls", m.counted)
}

// moments are all of them: each step of the start twice, then more and more calls.
func moments() []moment {
	var all []moment
	for s := started; s <= executed; s++ {
		all = append(all, moment{s, -1}, moment{s, -1})
	}
	for n := 0; len(all) < kills; n += 3 {
		all = append(all, moment{executed, n})
	}
	return all
}

// stepOf is how far a tracer's start has come.
func stepOf(tracer int) step {
	at := started
	for fd := range links(fmt.Sprintf("/proc/%d/fd/*", tracer)) {
		if strings.HasPrefix(fd, "socket:") {
			at = calling
		}
	}
	for _, text := range texts(fmt.Sprintf("/proc/%d/task/*/children", tracer)) {
		child, _, _ := strings.Cut(text, " ")
		if child == "" {
			continue
		}
		at = max(at, forked)
		for _, words := range texts("/proc/" + child + "/cmdline") {
			switch {
			case strings.Contains(words, "\x00trace-shim\x00"):
				at = max(at, shimmed)
			case words != "" && !strings.Contains(words, "\x00tracer\x00"):
				at = max(at, executed)
			}
		}
		for _, status := range texts("/proc/" + child + "/task/*/status") {
			if at == shimmed && !strings.Contains(status, "TracerPid:\t0\n") {
				at = seized
			}
		}
	}
	return at
}

// texts are those files of a pattern that can be read at this moment.
func texts(pattern string) []string {
	var all []string
	paths, _ := filepath.Glob(pattern) // the pattern is a right one
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			all = append(all, string(text))
		}
	}
	return all
}

// links are where the links of a pattern lead.
func links(pattern string) map[string]bool {
	all := map[string]bool{}
	paths, _ := filepath.Glob(pattern)
	for _, path := range paths {
		if to, err := os.Readlink(path); err == nil {
			all[to] = true
		}
	}
	return all
}

// reach looks without a pause, so that the kill comes in the step and not long
// behind it, and returns how far the start had come at the last look.
func reach(t *testing.T, tracer int, want step) step {
	t.Helper()
	ctx := within(t)
	for {
		at := stepOf(tracer)
		if at >= want {
			return at
		}
		if err := ctx.Err(); err != nil {
			t.Fatalf("waiting until %s: %v; by now %s", want, err, at)
		}
	}
}

// tellSteps says how far the starts had come when they were cut short, by what
// was seen just before.
func tellSteps(t *testing.T, seen map[step]int) {
	t.Helper()
	for s := started; s <= executed; s++ {
		t.Logf("%2d times the last that was seen of a start was that %s", seen[s], s)
	}
}

func TestAKilledTracerTakesTheTargetAlong(t *testing.T) {
	r := newRun(t)
	seen := map[step]int{}
	for _, m := range moments() {
		mark := rand.Text()
		b := role(t, r, files(t, 8), crashpoint.Plan{Armed: true}, "endless", markVariable+"="+mark)
		if m.counted < 0 {
			seen[reach(t, b.proc.PID(), m.step)]++
		} else if err := b.trace.Counted(within(t), m.counted); err != nil {
			t.Fatal(err)
		}
		unix.Kill(b.proc.PID(), unix.SIGKILL) // the tracer alone
		<-b.proc.Done()
		mustVanish(t, mark, "the tracer killed "+m.String())
		if _, err := b.trace.Ended(within(t)); !errors.Is(err, crashpoint.ErrLost) {
			t.Errorf("the tracer was killed %s, and the trace says %v", m, err)
		}
	}
	tellSteps(t, seen)
}

func TestAKilledHarnessTakesAllAlong(t *testing.T) {
	newRun(t) // so that what is orphaned comes here
	seen := map[step]int{}
	for _, m := range moments() {
		mark := rand.Text()
		cmd := exec.Command(self(t))
		cmd.Env = append(os.Environ(), roleVariable+"=harness", markVariable+"="+mark,
			"PARENT="+t.TempDir(), "FILES="+files(t, 8), fmt.Sprint("COUNTED=", max(0, m.counted)))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		says := func() string { lines.Scan(); return lines.Text() }
		var tracer int
		if line := says(); line == "" {
			t.Fatal("the harness said nothing")
		} else if _, err := fmt.Sscanf(line, "started %d", &tracer); err != nil {
			t.Fatalf("the harness said %q", line)
		}
		if m.counted < 0 {
			seen[reach(t, tracer, m.step)]++
		} else if line := says(); line != "there" {
			t.Fatalf("the harness said %q", line)
		}
		cmd.Process.Kill()
		cmd.Wait()
		mustVanish(t, mark, "the harness killed "+m.String())
	}
	tellSteps(t, seen)
}

// harness starts a target without an end and waits to be killed.
func harness() {
	must := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	r, err := launch.NewRun(os.Getenv("PARENT"))
	must(err)
	dir := os.Getenv("FILES")
	tr, err := crashpoint.Prepare(r.Folder(), crashpoint.Plan{Armed: true, Naming: crashpoint.Naming{Roots: []string{dir}}})
	must(err)
	binary, err := os.Executable()
	must(err)
	p, err := r.Start(context.Background(), launch.Command{Name: "target", Argv: tr.Argv([]string{binary}), Dir: dir, Stdio: true,
		Env: []string{roleVariable + "=endless", markVariable + "=" + os.Getenv(markVariable)}}, nil, 1)
	must(err)
	fmt.Println("started", p.PID())
	n, err := strconv.Atoi(os.Getenv("COUNTED"))
	must(err)
	must(tr.Counted(context.Background(), n))
	fmt.Println("there")
	for {
		unix.Pause()
	}
}
