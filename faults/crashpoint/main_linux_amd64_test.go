package crashpoint_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// roleVariable makes this test binary play a target.
const roleVariable = "CRASHPOINT_TEST_ROLE"

// What the writers write: records of this size, this many in all.
const (
	recordText = "record!\n"
	recordSize = len(recordText)
)

var roles = map[string]func(){
	// 8 busy threads, each with its own file: 25 records each.
	"writers": func() { writers(8, 25) },
	// 4 threads, 10 records each, and each one is acknowledged.
	"answers": func() { answering(4, 10) },
	// The same as writers, without an end.
	"endless": func() { writers(8, 1<<40) },
	// One thread: a whole store, written by temporary file and rename, for every
	// line of its input, which it echoes.
	"store": store,
	// What ends it is asked for by its arguments.
	"exit": func() { n, _ := strconv.Atoi(os.Getenv("CODE")); os.Exit(n) },
	"term": func() {
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, syscall.SIGTERM)
		fmt.Println("ready")
		fmt.Println("heard", <-heard)
		os.Exit(7)
	},
	// Stops itself, and says when it goes on.
	"stop": func() {
		fmt.Println(os.Getpid())
		unix.Kill(os.Getpid(), unix.SIGSTOP)
		fmt.Println("goes on")
	},
	"getpid": func() {
		for range 500_000 {
			unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
		}
	},
	"mapper": mapper,
	// Leaves a child behind.
	"orphan": func() {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=sit")
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	},
	"sit": func() {
		for {
			unix.Pause()
		}
	},
	"harness": harness,
}

func writers(threads, records int) {
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			fd, err := unix.Open(fmt.Sprintf("file-%d", i), unix.O_WRONLY, 0)
			for n := 0; n < records && err == nil; n++ {
				_, err = unix.Write(fd, []byte(recordText))
			}
			if err != nil {
				panic(err)
			}
		})
	}
	all.Wait()
}

// answering says after each record on stdout which one it was.
func answering(threads, records int) {
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			fd, err := unix.Open(fmt.Sprintf("file-%d", i), unix.O_WRONLY, 0)
			for n := 0; n < records && err == nil; n++ {
				if _, err = unix.Write(fd, []byte(recordText)); err == nil {
					_, err = unix.Write(1, fmt.Appendf(nil, "%d.%d\n", i, n))
				}
			}
			if err != nil {
				panic(err)
			}
		})
	}
	all.Wait()
}

func store() {
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	var all string
	for lines.Scan() {
		all += lines.Text() + "\n"
		f, err := os.CreateTemp(".", "store.json.")
		if err == nil {
			_, err = f.WriteString(all)
		}
		if err == nil {
			err = f.Sync()
		}
		if err == nil {
			f.Close()
			err = os.Rename(f.Name(), "store.json")
		}
		if err != nil {
			fmt.Println("refused:", err)
			continue
		}
		fmt.Println("stored", lines.Text())
	}
}

func mapper() {
	fd, err := unix.Open("file-0", unix.O_RDWR, 0)
	if err == nil {
		err = unix.Ftruncate(fd, 4096)
	}
	var memory []byte
	if err == nil {
		memory, err = unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		panic(err)
	}
	copy(memory, "by memory")
	unix.Msync(memory, unix.MS_SYNC)
	var params [120]byte
	_, _, errno := unix.RawSyscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	fmt.Println("io_uring:", errno == unix.ENOSYS)
}

func TestMain(m *testing.M) {
	crashpoint.Shim()
	if play, ok := roles[os.Getenv(roleVariable)]; ok {
		play()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// bench is a run with one traced target.
type bench struct {
	t     testing.TB
	run   *launch.Run
	trace *crashpoint.Trace
	proc  *launch.Process
	out   *bufio.Reader
	dir   string
}

// files makes n empty files in a fresh folder.
func files(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// newRun is a run that starts targets, so it is none of the short tests.
func newRun(t testing.TB) *launch.Run {
	t.Helper()
	noShort(t)
	r, err := launch.NewRun(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func noShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a target")
	}
}

// trace starts a command in dir under the tracer.
func trace(t testing.TB, r *launch.Run, dir string, plan crashpoint.Plan, argv []string, env ...string) *bench {
	t.Helper()
	if plan.Roots == nil {
		plan.Roots = []string{dir}
	}
	tr, err := crashpoint.Prepare(t.TempDir(), plan)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, run: r, trace: tr, dir: dir}
	b.read(tr.Argv(argv), env...)
	tr.Watch(b.proc.Done())
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// read starts a command and makes its stdout readable by lines.
func (b *bench) read(argv []string, env ...string) *bench {
	b.t.Helper()
	b.proc = b.start(argv, env...)
	b.out = bufio.NewReader(b.proc.Stdout)
	return b
}

func (b *bench) start(argv []string, env ...string) *launch.Process {
	b.t.Helper()
	private, err := launch.Private(b.t.TempDir(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	private = append(private, "TMPDIR="+b.dir)
	p, err := b.run.Start(b.t.Context(), launch.Command{Name: "target", Argv: argv, Dir: b.dir, Env: append(private, env...), Stdio: true}, nil, 1)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// role traces this binary in a role.
func role(t testing.TB, r *launch.Run, dir string, plan crashpoint.Plan, name string, env ...string) *bench {
	t.Helper()
	return trace(t, r, dir, plan, []string{self(t)}, append(env, roleVariable+"="+name)...)
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// within bounds a wait of a test.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), wait.Default().Spec)
	t.Cleanup(cancel)
	return ctx
}

func (b *bench) line() string {
	b.t.Helper()
	line, err := b.out.ReadString('\n')
	if err != nil {
		b.t.Fatalf("reading the target's stdout: %v (%q)", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

func (b *bench) say(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.proc.Stdin, line+"\n"); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) arm(trigger *crashpoint.Trigger) {
	b.t.Helper()
	if err := b.trace.Arm(within(b.t), trigger); err != nil {
		b.t.Fatal(err)
	}
}

// ended waits for the end of target and tracer.
func (b *bench) ended() crashpoint.End {
	b.t.Helper()
	end, err := b.trace.Ended(within(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	<-b.proc.Done()
	return end
}

// size is how many bytes are in the files of the target's folder.
func size(t testing.TB, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().IsRegular() {
			total += int(info.Size())
		}
	}
	return total
}

// needs skips by name what a missing tool keeps from being tested, except in CI.
func needs(t testing.TB, tool string) string {
	t.Helper()
	noShort(t)
	path, err := exec.LookPath(tool)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed, and CI must not pass without it", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
	return path
}
