package suites

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/targets"
)

func TestABuiltInGoesBeforeAFolderOfItsName(t *testing.T) {
	g := NewWithT(t)
	t.Chdir(t.TempDir())
	g.Expect(os.Mkdir("reference", 0o700)).To(Succeed())
	h := Harness{Builtin: targets.Read, BuiltinNames: targets.Names}

	l, err := h.Load("reference")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(l.Path).To(BeEmpty(), "the built-in has no path")

	_, err = h.Load("./reference")
	g.Expect(err).To(MatchError(ContainSubstring("this is a folder")))
}
