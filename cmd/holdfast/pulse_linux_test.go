package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

// A server that waits for its input keeps a timer due (wait.Pulse): a runtime that
// stops the world for one would otherwise answer a call only when the next one comes.
func TestEveryProcessHasAPulse(t *testing.T) {
	g := NewWithT(t)
	server := exec.Command(os.Args[0], "reference", "helper")
	server.Env = append(os.Environ(), "SIDECAR="+t.TempDir()+"/sidecar.db", "APP_URL=http://127.0.0.1:9", "GOTRACEBACK=all")
	var said bytes.Buffer
	server.Stderr = &said
	in, err := server.StdinPipe()
	g.Expect(err).NotTo(HaveOccurred())
	out, err := server.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(server.Start()).To(Succeed())
	_, err = in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = out.Read(make([]byte, 1)) // it serves
	g.Expect(err).NotTo(HaveOccurred(), said.String())
	g.Expect(server.Process.Signal(syscall.SIGQUIT)).To(Succeed())
	g.Expect(server.Wait()).To(HaveOccurred(), "SIGQUIT ends it")
	g.Expect(said.String()).To(ContainSubstring("wait.pulse("), "a dump of its goroutines")
}
