package crashpoint_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
)

// tries is how often a kill must be exact, on each side.
const tries = 20

// target is a program that writes records into the files file-0, file-1, … of its
// folder, which are there, and makes no other call that counts.
type target struct {
	argv    []string
	env     []string
	files   int
	records int
}

// exact kills a target before and after different writes, and finds exactly what
// had been written by then.
func exact(t *testing.T, x target) {
	r := newRun(t)
	dir := files(t, x.files)
	b := trace(t, r, dir, crashpoint.Plan{Armed: true}, x.argv, x.env...)
	if end := b.ended(); end.Code != 0 {
		t.Fatalf("left alone it ended with %+v", end)
	}
	if points := b.trace.Record().Points; len(points) != x.records || size(t, dir) != x.records*recordSize {
		t.Fatalf("left alone it made %d counted calls and wrote %d bytes, expected %d calls and %d bytes; the first calls: %+v",
			len(points), size(t, dir), x.records, x.records*recordSize, points[:min(3, len(points))])
	}
	for _, side := range []crashpoint.Side{crashpoint.Before, crashpoint.After} {
		for i := range tries {
			n := 1 + i*(x.records-1)/(tries-1)
			want := n - 1
			if side == crashpoint.After {
				want = n
			}
			dir := files(t, x.files)
			b := trace(t, r, dir, crashpoint.Plan{
				Armed:   true,
				Trigger: &crashpoint.Trigger{At: crashpoint.Address{N: n}, Side: side, Do: crashpoint.Kill},
			}, x.argv, x.env...)
			struck, err := b.trace.Struck(within(t))
			if err != nil {
				t.Fatalf("killing it %s write %d: %v", side, n, err)
			}
			if struck.Point.N != n || struck.Side != side {
				t.Errorf("struck %s point %d, expected %s point %d", struck.Side, struck.Point.N, side, n)
			}
			if got := size(t, dir); got != want*recordSize {
				t.Errorf("killed %s write %d of %d it left %g records, expected %d", side, n, x.records, float64(got)/float64(recordSize), want)
			}
			if end := b.ended(); end.Signal != "SIGKILL" {
				t.Errorf("killed %s write %d it ended with %+v", side, n, end)
			}
		}
	}
}

func TestExactOnBusyThreads(t *testing.T) {
	exact(t, target{argv: []string{self(t)}, env: []string{roleVariable + "=writers"}, files: 8, records: 200})
}

// At any point, killed on either side: the files hold what has a smaller number,
// and nothing was acknowledged that comes later. Of acknowledgements that were let
// go, the trace says of those that came to their end that they did, and they did.
func TestExactAmongAcknowledgements(t *testing.T) {
	r := newRun(t)
	const points = 4 * 10 * 2
	for _, side := range []crashpoint.Side{crashpoint.Before, crashpoint.After} {
		for i := range tries {
			n := 1 + i*(points-1)/(tries-1)
			dir := files(t, 4)
			b := role(t, r, dir, crashpoint.Plan{
				Armed: true, Text: 16,
				Trigger: &crashpoint.Trigger{At: crashpoint.Address{N: n}, Side: side, Do: crashpoint.Kill},
			}, "answers")
			struck, err := b.trace.Struck(within(t))
			if err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(b.out)
			if err != nil {
				t.Fatal(err)
			}
			b.ended()
			written, mayHave, must := 0, map[string]bool{}, []string{}
			for _, p := range b.trace.Record().Points {
				switch {
				case p.N > n || p.N == n && side == crashpoint.Before:
					t.Errorf("killed %s point %d it began point %d", side, n, p.N)
				case p.Kind == crashpoint.State:
					written++
				case p.Done:
					must = append(must, p.Text)
					fallthrough
				default:
					mayHave[p.Text] = true
				}
			}
			if got := size(t, dir); got != written*recordSize {
				t.Errorf("killed %s point %d, a %s, it left %d bytes, expected %d records", side, n, struck.Point.Kind, got, written)
			}
			for line := range strings.Lines(string(said)) {
				if !mayHave[line] {
					t.Errorf("killed %s point %d it acknowledged %q, which comes later", side, n, line)
				}
			}
			for _, line := range must {
				if !strings.Contains(string(said), line) {
					t.Errorf("killed %s point %d it had acknowledged %q, and nobody heard it", side, n, line)
				}
			}
			if struck.Side == crashpoint.After && struck.Point.Kind == crashpoint.Ack && !slices.Contains(must, struck.Point.Text) {
				t.Errorf("killed after the acknowledgement %q it is not noted down", struck.Point.Text)
			}
		}
	}
}

func TestExactOnPython(t *testing.T) {
	// What is found may be a script that looks for the interpreter.
	python, err := exec.Command(needs(t, "python3"), "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Fatal(err)
	}
	exact(t, target{argv: []string{strings.TrimSpace(string(python)), "-c", pythonScript}, files: 4, records: 100})
}

const pythonScript = `
import os, threading
def write(name):
    fd = os.open(name, os.O_WRONLY)
    for _ in range(25):
        os.write(fd, b"record!\n")
threads = [threading.Thread(target=write, args=(f"file-{i}",)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
`

func TestExactOnNode(t *testing.T) {
	node := needs(t, "node")
	exact(t, target{argv: []string{node, "-e", nodeScript}, files: 4, records: 100})
}

// Asynchronous, so that the writes are spread over the thread pool.
const nodeScript = `
const fs = require("fs/promises");
async function write(name) {
  const f = await fs.open(name, "r+");
  for (let i = 0; i < 25; i++) await f.write("record!\n");
  await f.close();
}
Promise.all([0, 1, 2, 3].map(i => write("file-" + i)));
`

func TestExactOnForks(t *testing.T) {
	program := compiled(t, forkingProgram)
	exact(t, target{argv: []string{program}, files: 5, records: 5 * 20})
}

const forkingProgram = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void records(int i) {
	char name[16];
	snprintf(name, sizeof name, "file-%d", i);
	int fd = dup(open(name, O_WRONLY));
	for (int n = 0; n < 20; n++)
		if (write(fd, "record!\n", 8) != 8) _exit(3);
}

// Two parts are forked, two are executed anew after a vfork.
int main(int argc, char **argv) {
	if (argc == 2) { records(atoi(argv[1])); return 0; }
	for (int i = 1; i < 5; i++) {
		char part[4];
		snprintf(part, sizeof part, "%d", i);
		pid_t child = i % 2 ? fork() : vfork();
		if (child != 0) continue;
		if (i % 2) { records(i); _exit(0); }
		execl(argv[0], argv[0], part, (char *)0);
		_exit(5);
	}
	records(0);
	int status;
	while (wait(&status) > 0)
		if (status != 0) return 4;
	return 0;
}
`

// compiled is a C program.
func compiled(t testing.TB, text string) string {
	t.Helper()
	gcc := needs(t, "gcc")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-O1", "-o", program, source, "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("compiling: %v\n%s", err, out)
	}
	return program
}

// strace kills at the first call on one file; its own count is one per thread, so
// it can only say something of programs with one thread, and of first calls.
func TestStraceAgrees(t *testing.T) {
	strace := needs(t, "strace")
	program := compiled(t, `
#include <fcntl.h>
#include <unistd.h>
int main(void) {
	int a = open("file-0", O_WRONLY), b = open("file-1", O_WRONLY);
	for (int i = 0; i < 9; i++) { write(a, "record!\n", 8); if (i >= 4) write(b, "record!\n", 8); }
	return 0;
}`)
	theirs := files(t, 2)
	cmd := exec.Command(strace, "-f", "-o", filepath.Join(t.TempDir(), "strace.out"),
		"-P", filepath.Join(theirs, "file-1"), "-e", "trace=write", "-e", "inject=write:signal=KILL:when=1", program)
	cmd.Dir = theirs
	if err := cmd.Run(); err == nil {
		t.Fatal("strace did not kill it")
	}
	ours := files(t, 2)
	b := trace(t, newRun(t), ours, crashpoint.Plan{Armed: true, Trigger: &crashpoint.Trigger{
		At: crashpoint.Address{Call: "write", Name: "file-1", Occurrence: 1}, Side: crashpoint.Before, Do: crashpoint.Kill,
	}}, []string{program})
	struck, err := b.trace.Struck(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if struck.Point.N != 6 || struck.Point.Index != 6 || struck.Point.Path != "file-1" {
		t.Errorf("struck at %+v, expected the sixth write", struck.Point)
	}
	if a, b := size(t, theirs), size(t, ours); a != b || b != 5*recordSize {
		t.Errorf("strace left %d bytes, the tracer %d, expected %d", a, b, 5*recordSize)
	}
}
