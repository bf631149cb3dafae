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

// moment is how many calls are counted before the kill; under 0 it comes while the
// tracer, the shim and the target are being started.
func moment(i int) int { return (i - 10) * 3 }

func TestAKilledTracerTakesTheTargetAlong(t *testing.T) {
	r := newRun(t)
	for i := range kills {
		mark := rand.Text()
		b := role(t, r, files(t, 8), crashpoint.Plan{Armed: true}, "endless", markVariable+"="+mark)
		if n := moment(i); n >= 0 {
			if err := b.trace.Counted(within(t), n); err != nil {
				t.Fatal(err)
			}
		} else {
			spin(10 + n)
		}
		unix.Kill(b.proc.PID(), unix.SIGKILL) // the tracer alone
		<-b.proc.Done()
		mustVanish(t, mark, fmt.Sprintf("the tracer killed at moment %d", moment(i)))
		if _, err := b.trace.Ended(within(t)); !errors.Is(err, crashpoint.ErrLost) {
			t.Errorf("the tracer is killed, and the trace says %v", err)
		}
	}
}

// spin lets some time go by that no clock is needed for: any moment of a start is
// as good as another.
func spin(steps int) {
	for range steps {
		filepath.Glob("/proc/[0-9]*/stat")
	}
}

func TestAKilledHarnessTakesAllAlong(t *testing.T) {
	newRun(t) // so that what is orphaned comes here
	for i := range kills {
		mark := rand.Text()
		cmd := exec.Command(self(t))
		cmd.Env = append(os.Environ(), roleVariable+"=harness", markVariable+"="+mark,
			"PARENT="+t.TempDir(), "FILES="+files(t, 8), fmt.Sprint("MOMENT=", max(0, moment(i))))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		wants := []string{"started", "there"}
		if moment(i) < 0 {
			wants = wants[:1]
		}
		for _, want := range wants {
			if !lines.Scan() || lines.Text() != want {
				t.Fatalf("the harness said %q", lines.Text())
			}
		}
		if n := moment(i); n < 0 {
			spin(10 + n)
		}
		cmd.Process.Kill()
		cmd.Wait()
		mustVanish(t, mark, fmt.Sprintf("the harness killed at moment %d", moment(i)))
	}
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
	_, err = r.Start(context.Background(), launch.Command{Name: "target", Argv: tr.Argv([]string{binary}), Dir: dir, Stdio: true,
		Env: []string{roleVariable + "=endless", markVariable + "=" + os.Getenv(markVariable)}}, nil, 1)
	must(err)
	fmt.Println("started")
	n, err := strconv.Atoi(os.Getenv("MOMENT"))
	must(err)
	must(tr.Counted(context.Background(), n))
	fmt.Println("there")
	for {
		unix.Pause()
	}
}
