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

	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// A server that waits for its input keeps a timer due (wait.Pulse): a runtime that
// stops the world for one would otherwise answer a call only when the next one comes.
func TestEveryProcessHasAPulse(t *testing.T) {
	g := NewWithT(t)
	server := exec.Command(os.Args[0], "reference", "helper")
	server.Env = append(os.Environ(), "SIDECAR="+t.TempDir()+"/sidecar.db", "APP_URL=http://127.0.0.1:9")
	var said bytes.Buffer
	server.Stderr = &said
	in, err := server.StdinPipe()
	g.Expect(err).NotTo(HaveOccurred())
	out, err := server.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(server.Start()).To(Succeed())
	t.Cleanup(func() { server.Process.Kill() }) // it has ended already where nothing failed
	_, err = in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = out.Read(make([]byte, 1)) // it serves
	g.Expect(err).NotTo(HaveOccurred())
	// It has nothing to do now, and wakes all the same.
	before := switches(g, server.Process.Pid)
	g.Expect(wait.For(t.Context(), "the server wakes by itself", wait.Default().Ready, func(context.Context) (bool, error) {
		return switches(g, server.Process.Pid) >= before+20, nil
	})).To(Succeed())
	g.Expect(in.Close()).To(Succeed())
	g.Expect(server.Wait()).To(Succeed(), said.String())
}

// switches counts how often the threads of a process have gone to sleep.
func switches(g Gomega, pid int) int {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	g.Expect(err).NotTo(HaveOccurred())
	sum := 0
	for _, path := range threads {
		status, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		_, count, found := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		g.Expect(found).To(BeTrue(), string(status))
		count, _, _ = strings.Cut(count, "\n")
		n, err := strconv.Atoi(strings.TrimSpace(count))
		g.Expect(err).NotTo(HaveOccurred())
		sum += n
	}
	return sum
}
