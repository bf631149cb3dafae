//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// started is holdfast as a process of its own, with its own temporary folder.
type started struct {
	*exec.Cmd
	out, errs bytes.Buffer
}

func start(t *testing.T, tmp string, args ...string) *started {
	t.Helper()
	self, err := os.Executable()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	s := &started{Cmd: exec.Command(self, args...)}
	s.Stdout, s.Stderr = &s.out, &s.errs
	s.Env = append(os.Environ(), "TMPDIR="+tmp)
	NewWithT(t).Expect(s.Start()).To(Succeed())
	t.Cleanup(func() {
		if s.ProcessState == nil {
			s.Process.Kill()
			s.Wait() // it was killed, or it has ended meanwhile
		}
	})
	return s
}

// ofRun are the living processes that carry the mark of a run, with their
// command lines.
func ofRun(id string) map[int]string {
	found := map[int]string{}
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is a right one
	for _, path := range environs {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte("HOLDFAST_RUN="+id+"\x00")) {
			continue // it has ended, or is another's
		}
		pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
		words, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		found[pid] = strings.ReplaceAll(string(words), "\x00", " ")
	}
	return found
}

// folders are those of runs in a temporary folder.
func folders(t *testing.T, tmp string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(tmp, "holdfast-*"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return all
}

// until waits for a fact; said tells what there was instead.
func until(t *testing.T, what string, fact func() bool, said func() string) {
	t.Helper()
	err := wait.For(t.Context(), what, wait.Default().Ready, func(context.Context) (bool, error) { return fact(), nil })
	if err != nil {
		t.Fatalf("%v\n%s", err, said())
	}
}

// midway starts a run and waits until a worker, an app and a traced helper of it
// are alive at once. It returns the run's name.
func midway(t *testing.T, tmp, out string) (*started, string) {
	t.Helper()
	run := start(t, tmp, "run", "reference", "--no-control", "--procs", "2", "--select", "DU-03/*,WR-04/*", "--out", out)
	id := ""
	t.Cleanup(func() {
		for pid := range ofRun(id) {
			unix.Kill(pid, unix.SIGKILL) // only where this test has failed
		}
	})
	until(t, "the run's folder", func() bool {
		for _, folder := range folders(t, tmp) {
			id = strings.TrimPrefix(filepath.Base(folder), "holdfast-")
		}
		return id != ""
	}, run.errs.String)
	parts := []string{" reference app ", " reference helper ", " tracer " + tmp}
	until(t, "an app and a traced helper of the run", func() bool {
		all := ""
		for _, words := range ofRun(id) {
			all += words + "\n"
		}
		for _, part := range parts {
			if !strings.Contains(all, part) {
				return false
			}
		}
		return true
	}, func() string { return fmt.Sprint(ofRun(id)) })
	return run, id
}

// A run that is killed in the middle, with all that it has started, leaves nothing
// once holdfast has been started again: no process, no folder, and no report that
// the next one could not replace.
func TestAKilledRunIsGoneWithTheNextStart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the reference")
	}
	g := NewWithT(t)
	tmp, out := t.TempDir(), filepath.Join(t.TempDir(), "report")
	killed, id := midway(t, tmp, out)
	g.Expect(killed.Process.Kill()).To(Succeed()) // the parent alone
	g.Expect(killed.Wait()).To(MatchError(ContainSubstring("killed")))
	g.Expect(folders(t, tmp)).To(HaveLen(1), "nobody has tidied up yet, else this proves nothing")

	next := start(t, tmp, "run", "reference", "--no-control", "--select", "WR-01/*", "--out", out)
	until(t, "nothing of the killed run to be left", func() bool {
		_, err := os.Stat(filepath.Join(tmp, "holdfast-"+id))
		return os.IsNotExist(err) && len(ofRun(id)) == 0
	}, func() string { return fmt.Sprint("left are ", folders(t, tmp), ofRun(id)) })
	g.Expect(next.Wait()).To(Succeed(), "%s%s", &next.out, &next.errs)
	g.Expect(next.errs.String()).To(ContainSubstring("ended what an earlier, killed run had left in " + filepath.Join(tmp, "holdfast-"+id)))
	g.Expect(folders(t, tmp)).To(BeEmpty(), "the next run leaves nothing either")
}
