package world

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// A server may leave its sockets and links that lead nowhere beside its store.
func TestTheStoresAreCopiedAndNothingThatEndsWithAProcess(t *testing.T) {
	g := NewWithT(t)
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	g.Expect(os.Mkdir(from+"/run", 0o750)).To(Succeed())
	g.Expect(os.WriteFile(from+"/run/notes", []byte("kept"), 0o640)).To(Succeed())
	listener, err := net.Listen("unix", from+"/run/s")
	g.Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	g.Expect(os.Symlink(".", from+"/around")).To(Succeed())
	g.Expect(os.Symlink("/nowhere/at/all", from+"/nowhere")).To(Succeed())

	g.Expect(copyTree(to, from)).To(Succeed())
	entries, err := os.ReadDir(to + "/run")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1))
	for name, mode := range map[string]os.FileMode{"run": os.ModeDir | 0o750, "run/notes": 0o640} {
		info, err := os.Lstat(filepath.Join(to, name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode()).To(Equal(mode), name)
	}
	for name, leads := range map[string]string{"around": ".", "nowhere": "/nowhere/at/all"} {
		g.Expect(os.Readlink(filepath.Join(to, name))).To(Equal(leads))
	}
}
