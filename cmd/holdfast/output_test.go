package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports"
)

// deaf is a pipe whose reader has left.
func deaf(t *testing.T) *os.File {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	t.Cleanup(func() { writer.Close() })
	return writer
}

// process is holdfast as a process of its own, with a private TMPDIR.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	return cmd
}

func tmpdir(cmd *exec.Cmd) string { return cmd.Env[len(cmd.Env)-1][len("TMPDIR="):] }

// holdfast run … 2>&1 | head -2
func TestARunOutlivesWhoReadsIt(t *testing.T) {
	g := NewWithT(t)
	out := filepath.Join(t.TempDir(), "report")
	cmd := process(t, "run", "reference", "--select", "DU-21", "--out", out)
	cmd.Stdout, cmd.Stderr = deaf(t), deaf(t)
	g.Expect(cmd.Run()).To(Succeed())
	r, err := reports.Read(out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Gate.ExitCode).To(Equal(0))
	g.Expect(os.ReadDir(tmpdir(cmd))).To(BeEmpty(), "no scratch folder is left")
	g.Expect(filepath.Join(out, reports.LockFile)).NotTo(BeAnExistingFile())
}

func TestAReaderThatLeavesIsNoError(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"schema"}, {"--help"}, {"version"}} {
		cmd := process(t, args...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = deaf(t), &errs
		NewWithT(t).Expect(cmd.Run()).To(Succeed(), "%v", args)
		NewWithT(t).Expect(errs.String()).To(BeEmpty())
	}
}

func TestWhatCannotBeWrittenIsToldAndEndsWith3(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	report := t.TempDir()
	NewWithT(t).Expect(reports.Write(report, reports.ReportFile, reports.Report{Schema: reports.ReportSchema})).To(Succeed())
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"explain", "DU-01"}, {"version"}, {"--help"}, {"--version"}, {"report", report}, {"mutants", "--list"}} {
		g := NewWithT(t)
		var errs bytes.Buffer
		code := execute(harness(), args, full, &errs)
		g.Expect(code).To(Equal(3), "%v", args)
		g.Expect(errs.String()).To(And(HavePrefix("holdfast: what was asked for could not be written to stdout"), ContainSubstring(syscall.ENOSPC.Error())))
		g.Expect(bytes.Count(errs.Bytes(), []byte("\n"))).To(Equal(1), errs.String())
	}
	g := NewWithT(t)
	code := execute(harness(), []string{"list", "--nothing"}, full, &bytes.Buffer{})
	g.Expect(code).To(Equal(2), "nothing was to be written")
}
