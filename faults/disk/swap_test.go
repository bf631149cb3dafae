package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/faults/disk"
)

func TestALinkIsPutInTheirPlaceAndTakenAwayAgain(t *testing.T) {
	for _, folder := range []bool{false, true} {
		g := NewWithT(t)
		dir := t.TempDir()
		path, inside := filepath.Join(dir, "thing"), filepath.Join(dir, "thing")
		if folder {
			g.Expect(os.Mkdir(path, 0o700)).To(Succeed())
			inside = filepath.Join(path, "file")
		}
		g.Expect(os.WriteFile(inside, []byte("mine"), 0o600)).To(Succeed())
		moved, back, err := disk.LinkAway(path, filepath.Join(dir, "elsewhere"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.Readlink(path)).To(Equal(moved))
		g.Expect(os.ReadFile(inside)).To(BeEquivalentTo("mine"), "it is reached through the link")
		g.Expect(back()).To(Succeed())
		info, err := os.Lstat(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(disk.KindOf(info)).To(Equal(map[bool]string{false: "file", true: "folder"}[folder]))
		g.Expect(os.ReadFile(inside)).To(BeEquivalentTo("mine"))
		g.Expect(back()).To(MatchError(ContainSubstring("putting " + path + " back in the place of a link")))
	}
	_, _, err := disk.LinkAway(filepath.Join(t.TempDir(), "none"), t.TempDir())
	NewWithT(t).Expect(err).To(And(MatchError(os.ErrNotExist), MatchError(ContainSubstring("putting a link in the place of"))))
}

func TestAFileIsGivenAwayAndBack(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "file")
	_, err := disk.GiveAway(path)
	g.Expect(err).To(And(MatchError(os.ErrNotExist), MatchError(ContainSubstring("giving "+path+" to another user"))))
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	back, err := disk.GiveAway(path)
	g.Expect(err).NotTo(HaveOccurred())
	uid, _, err := disk.OwnerOf(path)
	g.Expect(uid, err).To(Equal(disk.Nobody))
	g.Expect(back()).To(Succeed())
	uid, _, err = disk.OwnerOf(path)
	g.Expect(uid, err).To(Equal(os.Geteuid()))
}
