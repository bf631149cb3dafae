//go:build unix

package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

func opened(t *testing.T) Folder {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "folder"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// Whatever the umask is, what is private is 0700 and 0600 (WF-09).
func TestModesDoNotDependOnTheUmask(t *testing.T) {
	for _, umask := range []int{0o000, 0o022, 0o777} {
		g := NewWithT(t)
		path := filepath.Join(t.TempDir(), "folder")
		before := syscall.Umask(umask)
		f, err := Open(path)
		if err == nil {
			err = f.Replace("replaced", []byte("x"))
		}
		var made, appended *os.File
		if err == nil {
			made, err = f.Make("made", nil)
		}
		if err == nil {
			appended, err = f.Append("appended")
		}
		syscall.Umask(before)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(errors.Join(made.Close(), appended.Close())).To(Succeed())
		g.Expect(mode(t, path)).To(Equal(fs.FileMode(0o700)), "umask %#o", umask)
		for _, name := range []string{"replaced", "made", "appended"} {
			g.Expect(mode(t, filepath.Join(path, name))).To(Equal(fs.FileMode(0o600)), "%s with umask %#o", name, umask)
		}
	}
}

func TestAFolderOfThisUsersIsTightened(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "folder")
	g.Expect(os.Mkdir(path, 0o755)).To(Succeed())
	f, err := Open(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(mode(t, path)).To(Equal(fs.FileMode(0o700)))
	g.Expect(os.Chmod(path, 0o755)).To(Succeed())
	_, err = f.Read("x")
	g.Expect(err).To(MatchError(ports.ErrNotPrivate), "but not one that somebody opened since")
}

// swap puts something else in the place of a file (WF-28).
var swaps = map[string]func(t *testing.T, path string) error{
	"a link to a file": func(_ *testing.T, path string) error {
		return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path))
	},
	"a link to nothing": func(_ *testing.T, path string) error {
		return errors.Join(os.Remove(path), os.Symlink(path+".none", path))
	},
	"a folder": func(_ *testing.T, path string) error {
		return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
	},
	"a pipe": func(_ *testing.T, path string) error {
		return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600))
	},
	"another user's file": func(t *testing.T, path string) error {
		if os.Geteuid() != 0 {
			t.Skip("only root can give files away")
		}
		return os.Chown(path, 65534, 65534)
	},
}

func TestWhatWasSwappedIsRefused(t *testing.T) {
	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), opened(t)
			g.Expect(f.Replace("x", []byte("mine"))).To(Succeed())
			path := filepath.Join(f.Path(), "x")
			g.Expect(swap(t, path)).To(Succeed())
			_, err := f.Read("x")
			g.Expect(err).To(MatchError(ports.ErrNotPrivate))
			g.Expect(err).To(MatchError(ContainSubstring("move it away")), "it says what to do")
			_, err = f.Edit("x")
			g.Expect(err).To(MatchError(ports.ErrNotPrivate))
			_, err = f.Append("x")
			g.Expect(err).To(MatchError(ports.ErrNotPrivate))
			g.Expect(f.Replace("x", []byte("other"))).To(MatchError(ports.ErrNotPrivate))
			if raw, err := os.ReadFile(path + ".old"); err == nil {
				g.Expect(string(raw)).To(Equal("mine"), "what the link leads to is as it was")
			}
			_, err = os.Lstat(path + ".none")
			g.Expect(err).To(MatchError(fs.ErrNotExist), "nothing was made where the link leads to")
		})
	}
}

func TestMoreThatIsNotPrivate(t *testing.T) {
	g, f := NewWithT(t), opened(t)
	path := filepath.Join(f.Path(), "x")
	g.Expect(f.Replace("x", nil)).To(Succeed())
	g.Expect(os.Chmod(path, 0o644)).To(Succeed())
	_, err := f.Read("x")
	g.Expect(err).To(MatchError(ports.ErrNotPrivate), "others can read it")
	g.Expect(os.Chmod(path, 0o600)).To(Succeed())
	g.Expect(os.Link(path, filepath.Join(t.TempDir(), "y"))).To(Succeed())
	_, err = f.Read("x")
	g.Expect(err).To(MatchError(ports.ErrNotPrivate), "it is known elsewhere too")
}

func TestASwappedFolderIsRefused(t *testing.T) {
	for name, swap := range map[string]func(path string) error{
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path))
		},
		"a file": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
		"another user's": func(path string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give folders away")
			}
			return os.Chown(path, 65534, 65534)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), opened(t)
			g.Expect(f.Replace("x", nil)).To(Succeed())
			g.Expect(swap(f.Path())).To(Succeed())
			_, err := f.Read("x")
			g.Expect(err).To(MatchError(ports.ErrNotPrivate))
			g.Expect(f.Replace("x", nil)).To(MatchError(ports.ErrNotPrivate))
			_, err = f.Make("y", nil)
			g.Expect(err).To(MatchError(ports.ErrNotPrivate))
			_, err = f.Remove("x")
			g.Expect(err).To(MatchError(ports.ErrNotPrivate))
			_, err = Open(f.Path())
			g.Expect(err).To(MatchError(ports.ErrNotPrivate), "nor is it taken at the next start")
		})
	}
}

func TestWhatIsThereAndWhatIsNot(t *testing.T) {
	g, f := NewWithT(t), opened(t)
	_, err := f.Read("x")
	g.Expect(err).To(MatchError(ErrNotThere))
	_, err = f.Edit("x")
	g.Expect(err).To(MatchError(ErrNotThere))
	has, err := f.Has("x")
	g.Expect([]any{has, err}).To(Equal([]any{false, nil}))
	removed, err := f.Remove("x")
	g.Expect([]any{removed, err}).To(Equal([]any{false, nil}))
	file, err := f.Make("x", []byte("one"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(file.Close()).To(Succeed())
	_, err = f.Make("x", nil)
	g.Expect(err).To(MatchError(ErrThere))
	has, err = f.Has("x")
	g.Expect([]any{has, err}).To(Equal([]any{true, nil}))
	g.Expect(f.Replace("x", []byte("two"))).To(Succeed())
	raw, err := f.Read("x")
	g.Expect([]any{string(raw), err}).To(Equal([]any{"two", nil}))
	removed, err = f.Remove("x")
	g.Expect([]any{removed, err}).To(Equal([]any{true, nil}))
}

// A kill between the write and the rename leaves one file behind, and the next
// write takes its place.
func TestWhatAKillLeavesDoesNotPileUp(t *testing.T) {
	g, f := NewWithT(t), opened(t)
	g.Expect(os.WriteFile(filepath.Join(f.Path(), ".x.new"), []byte("half"), 0o600)).To(Succeed())
	g.Expect(f.Replace("x", []byte("whole"))).To(Succeed())
	left, err := os.ReadDir(f.Path())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(HaveLen(1))
}
