package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/faults/disk"
)

func TestAFileIsDamagedInItsPlace(t *testing.T) {
	for how, want := range map[disk.Damage]string{disk.HalfCut: "abc", disk.OneByte: "abcedf", disk.Emptied: "", disk.AnothersContent: "xyz"} {
		g := NewWithT(t)
		file, another := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "another")
		g.Expect(os.WriteFile(file, []byte("abcddf"), 0o640)).To(Succeed())
		g.Expect(os.WriteFile(another, []byte("xyz"), 0o600)).To(Succeed())
		before, err := os.Stat(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(how.Do(file, another)).To(Succeed())
		g.Expect(os.ReadFile(file)).To(BeEquivalentTo(want), string(how))
		after, err := os.Stat(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.SameFile(before, after)).To(BeTrue(), string(how))
		g.Expect(after.Mode()).To(Equal(before.Mode()), string(how))
		g.Expect(disk.KindOf(after)).To(Equal("file"))
	}
}

func TestWhatCannotBeDamagedIsTold(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(disk.HalfCut.Do(file, "")).To(And(MatchError(ContainSubstring("damaging a file (cut in half)")), MatchError(os.ErrNotExist)))
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	g.Expect(disk.HalfCut.Do(file, "")).To(MatchError(ContainSubstring("it is empty already; expected some content")))
	g.Expect(os.WriteFile(file, []byte("x"), 0o600)).To(Succeed())
	g.Expect(disk.AnothersContent.Do(file, file+".none")).To(MatchError(os.ErrNotExist))
	g.Expect(disk.Damage("odd").Do(file, "")).To(MatchError(ContainSubstring(`there is no damage "odd"`)))
}
