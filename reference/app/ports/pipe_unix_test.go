//go:build unix

package ports_test

import (
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/app/ports"
)

// A pipe would keep a reader waiting for its writer.
func TestAPipeIsNoAttachment(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	g.Expect(syscall.Mkfifo(filepath.Join(root, "p"), 0o600)).To(Succeed())
	g.Expect(ports.Folder(root).Inspect("p")).To(MatchError(ports.ErrContent))
}
