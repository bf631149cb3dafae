package parallel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reports/wait"
	"github.com/holdfast-mcp/holdfast/suites/parallel"
)

// The specs of these tests, by what they do in their worker.
const (
	writes  = "writes"  // appends its line and ends
	refuses = "refuses" // appends its line and ends with an error
	meets   = "meets"   // ends when another spec is running at the same time
	dies    = "dies"    // kills its own worker with SIGKILL
	stays   = "stays"   // ends when the run is stopped
	ignores = "ignores" // never ends
)

type job struct {
	Folder string
	Specs  []string // what each spec does
}

func TestMain(m *testing.M) {
	parallel.Main(work)
	// A worker built with the race detector would wait for a second before it leaves.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

// work runs in the workers of these tests.
func work(path string) ([]parallel.Spec, func(), error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var j job
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, nil, err
	}
	var specs []parallel.Spec
	for i, kind := range j.Specs {
		name := fmt.Sprintf("%d-%s", i, kind)
		specs = append(specs, parallel.Spec{Text: kind, Labels: []string{"WR-01", "DU-07/bytes"}, Run: func(ctx context.Context, tell func()) error {
			return j.act(ctx, name, kind, tell)
		}})
	}
	return specs, nil, nil
}

func (j job) act(ctx context.Context, name, kind string, tell func()) error {
	j.line("started", name)
	tell()
	defer tell()
	switch kind {
	case refuses:
		j.line("done", name)
		return errors.New("this one refuses")
	case meets:
		err := wait.For(ctx, "another worker", 10*time.Second, func(context.Context) (bool, error) {
			return len(j.lines("started")) > 1, nil
		})
		if err != nil {
			return err
		}
	case dies:
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case stays:
		<-ctx.Done()
	case ignores:
		select {}
	}
	j.line("done", fmt.Sprintf("%s in %d", name, os.Getpid()))
	return nil
}

func (j job) line(file, text string) {
	f, err := os.OpenFile(filepath.Join(j.Folder, file), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	fmt.Fprintln(f, text)
}

func (j job) lines(file string) []string {
	text, _ := os.ReadFile(filepath.Join(j.Folder, file))
	return strings.Fields(strings.ReplaceAll(string(text), " in ", "@"))
}

func start(t *testing.T, procs int, specs ...string) (job, parallel.Options, *atomic.Int64) {
	t.Helper()
	j := job{Folder: t.TempDir(), Specs: specs}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(j.Folder, "job.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	var nudges atomic.Int64
	return j, parallel.Options{
		Job: path, Folder: j.Folder, Log: filepath.Join(j.Folder, "log"), Procs: procs, Grace: time.Second,
		Nudge: func() { nudges.Add(1) },
	}, &nudges
}

// The canary: two workers, a spec each, both running at once, and both lines arrive.
func TestTwoWorkersRunASpecEach(t *testing.T) {
	g := NewWithT(t)
	j, o, nudges := start(t, 2, meets, meets)
	g.Expect(parallel.Run(t.Context(), nil, o)).To(Succeed())
	done := j.lines("done")
	g.Expect(done).To(HaveLen(2), "lines of the workers; their log: %s", read(o.Log))
	g.Expect(after(done[0])).NotTo(Equal(after(done[1])), "each ran in a process of its own")
	g.Expect(nudges.Load()).To(BeNumerically(">=", 4))
	g.Expect(read(o.Log)).To(ContainSubstring("Ran 2 of 2 Specs"), "Ginkgo's output goes to the log")
}

func after(line string) string { _, pid, _ := strings.Cut(line, "@"); return pid }

func read(path string) string { text, _ := os.ReadFile(path); return string(text) }

func TestOneWorkerRunsAllInOrder(t *testing.T) {
	g := NewWithT(t)
	j, o, _ := start(t, 1, writes, refuses, writes)
	g.Expect(parallel.Run(t.Context(), nil, o)).To(Succeed(), "a spec that fails is no error of the run")
	g.Expect(j.lines("started")).To(Equal([]string{"0-writes", "1-refuses", "2-writes"}))
	g.Expect(j.lines("done")).To(HaveLen(3))
	g.Expect(read(o.Log)).To(ContainSubstring("this one refuses"))
}

func TestAKilledWorkerLosesItsOwnSpecOnly(t *testing.T) {
	g := NewWithT(t)
	j, o, _ := start(t, 2, dies, writes, writes, writes)
	g.Expect(parallel.Run(t.Context(), nil, o)).To(Succeed())
	g.Expect(j.lines("started")).To(ContainElement("0-dies"))
	g.Expect(j.lines("done")).To(HaveLen(3), "the other worker ran the rest; log: %s", read(o.Log))
}

func TestTheRunEndsWhenEveryWorkerIsKilled(t *testing.T) {
	g := NewWithT(t)
	j, o, _ := start(t, 2, dies, dies, writes)
	g.Expect(parallel.Run(t.Context(), nil, o)).To(Succeed())
	g.Expect(j.lines("done")).To(BeEmpty())
}

func TestStopReachesWhatRunsAndSkipsTheRest(t *testing.T) {
	g := NewWithT(t)
	j, o, _ := start(t, 2, stays, stays, writes, writes)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.Nudge = func() {
		if len(j.lines("started")) == 2 {
			stop()
		}
	}
	g.Expect(parallel.Run(ctx, nil, o)).To(Succeed())
	g.Expect(j.lines("started")).To(ConsistOf("0-stays", "1-stays"))
	g.Expect(j.lines("done")).To(HaveLen(2), "they could end in order")
}

func TestAWorkerThatDoesNotStopIsKilled(t *testing.T) {
	for name, now := range map[string]bool{"after the grace": false, "at once when asked": true} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			j, o, _ := start(t, 2, ignores, ignores)
			if now {
				o.Grace = time.Hour
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			kill := make(chan struct{})
			o.Nudge = func() {
				if len(j.lines("started")) == 2 && ctx.Err() == nil {
					stop()
					if now {
						close(kill)
					}
				}
			}
			g.Expect(parallel.Run(ctx, kill, o)).To(Succeed())
			g.Expect(j.lines("done")).To(BeEmpty())
		})
	}
}

func TestAJobThatCannotBeReadEndsTheRun(t *testing.T) {
	g := NewWithT(t)
	_, o, _ := start(t, 2, writes)
	o.Job = filepath.Join(t.TempDir(), "none")
	g.Expect(parallel.Run(t.Context(), nil, o)).To(Succeed())
	g.Expect(read(o.Log)).To(ContainSubstring("no such file"), "the workers say why in the log")
}
