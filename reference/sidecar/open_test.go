package sidecar

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestEveryPathIsTakenLiterally(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	for _, name := range []string{"a?mode=memory.db", "b%20c.db", "d#e.db", "f g&h.db"} {
		path := filepath.Join(dir, name)
		s, err := OpenStore(t.Context(), path, Options{})
		g.Expect(err).NotTo(HaveOccurred())
		must[Opened](t)(s.OpenWork(t.Context(), start("i", "t", "k")))
		g.Expect(s.Close()).To(Succeed())
		info, err := os.Stat(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		g.Expect(info.Size()).To(BeNumerically(">", 0))
	}
	list, err := os.ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list).To(HaveLen(4), "nothing but the sidecars is left behind")
}

func TestWhatOpenRefuses(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	_, err := OpenStore(t.Context(), "", Options{})
	g.Expect(err).To(MatchError("open sidecar: no path given; name a file in an existing folder"))
	_, err = OpenStore(t.Context(), filepath.Join(dir, "nowhere", "s.db"), Options{})
	g.Expect(errors.Is(err, os.ErrNotExist)).To(BeTrue(), "%v", err)
}

func TestADamagedOrForeignFileIsNeverTakenForAnEmptyOne(t *testing.T) {
	half := func(t *testing.T, path string) {
		s := open(t, path)
		for n := range 200 {
			id := string(rune('a'+n%26)) + strings.Repeat("x", n)
			must[Opened](t)(s.OpenWork(t.Context(), start(id, id, id)))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()/2); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]func(*testing.T, string){
		"half cut": half,
		"text": func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 500)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"another database": func(t *testing.T, path string) {
			s := open(t, path)
			if _, err := s.writer.ExecContext(t.Context(), `DROP TABLE meta`); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, damage := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "sidecar.db")
			damage(t, path)
			before, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = OpenStore(t.Context(), path, Options{})
			g.Expect(err).To(MatchError(ErrUnreadable))
			g.Expect(err.Error()).To(ContainSubstring(path))
			after, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(after).To(Equal(before))
		})
	}
}

// contents are the bytes of a sidecar's files.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, suffix := range []string{"", "-wal"} {
		if b, err := os.ReadFile(path + suffix); err == nil {
			all[suffix] = string(b)
		}
	}
	return all
}

func copied(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "sidecar.db")
	for suffix, bytes := range contents(t, path) {
		if err := os.WriteFile(to+suffix, []byte(bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestANewerSidecarIsRefusedNamingBothAndLeftAsItIs(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("its owner was killed: %t", killed), func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "sidecar.db")
			s := open(t, path)
			must[Opened](t)(s.OpenWork(t.Context(), start("a", "task", "k")))
			_, err := s.writer.ExecContext(t.Context(), `UPDATE meta SET value = '4' WHERE name = 'contract_version'`)
			g.Expect(err).NotTo(HaveOccurred())
			if killed {
				path = copied(t, path) // with the WAL that a kill leaves
				g.Expect(contents(t, path)["-wal"]).NotTo(BeEmpty())
			} else {
				g.Expect(s.Close()).To(Succeed())
			}
			before := contents(t, path)
			_, err = OpenStore(t.Context(), path, Options{})
			var version *VersionError
			g.Expect(errors.As(err, &version)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError("use sidecar " + path + ": it has contract version 4, this build supports version 3: start a build that supports it"))
			g.Expect(maps.Equal(contents(t, path), before)).To(BeTrue(), "the files were changed")
		})
	}
}

func TestAVersionThatIsNoneIsUnreadable(t *testing.T) {
	for _, stored := range []string{"0", "three", ""} {
		g := NewWithT(t)
		path := filepath.Join(t.TempDir(), "sidecar.db")
		s := open(t, path)
		_, err := s.writer.ExecContext(t.Context(), `UPDATE meta SET value = ? WHERE name = 'contract_version'`, stored)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = OpenStore(t.Context(), path, Options{})
		g.Expect(err).To(And(MatchError(ErrUnreadable), MatchError(ContainSubstring(fmt.Sprintf("%q, expected a number from 1", stored)))))
	}
}

// A newer process lifts the file of one that goes on running: what that one
// writes then is refused, and not stored in tables that it does not know.
func TestASidecarThatWasLiftedMeanwhileIsRefused(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "sidecar.db")
	s := open(t, path)
	other := open(t, path)
	_, err := other.writer.ExecContext(t.Context(), `UPDATE meta SET value = '4' WHERE name = 'contract_version'`)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = s.OpenWork(t.Context(), start("a", "task", "k"))
	var version *VersionError
	g.Expect(errors.As(err, &version)).To(BeTrue(), "%v", err)
	g.Expect(*version).To(Equal(VersionError{Path: path, Found: 4, Supported: 3}))
	_, err = other.writer.ExecContext(t.Context(), `ALTER TABLE intents RENAME COLUMN failure_class TO class`)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = s.IntentsOf(t.Context(), "a")
	g.Expect(errors.As(err, &version)).To(BeTrue(), "%v", err)
	g.Expect(must[int](t)(s.Contract(t.Context()))).To(Equal(4))
	g.Expect(must[Numbers](t)(s.Numbers(t.Context()))).To(Equal(Numbers{}), "nothing was stored")
}

func TestAnotherWritersLockIsBusyWithNothingStored(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "sidecar.db")
	holder := open(t, path)
	s, err := OpenStore(t.Context(), path, Options{Busy: 50 * time.Millisecond})
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(s.Close()).To(Succeed()) }()

	held, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- holder.write(context.WithoutCancel(t.Context()), "hold", func(ctx context.Context, _ conn) error {
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	_, err = s.OpenWork(t.Context(), start("a", "task", "k1"))
	g.Expect(err).To(MatchError(ErrBusy))
	g.Expect(err.Error()).To(ContainSubstring("nothing was stored, try again"))
	g.Expect(must[Numbers](t)(s.Numbers(t.Context()))).To(Equal(Numbers{}), "readers are not held up")

	patient := open(t, path) // waits 20 s, but not for a caller that has left
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() {
		_, err := patient.OpenWork(ctx, start("b", "task", "k2"))
		waiting <- err
	}()
	cancel()
	g.Expect(<-waiting).To(MatchError(context.Canceled))
	close(release)
	g.Expect(<-done).To(Succeed())
	must[Opened](t)(s.OpenWork(t.Context(), start("a", "task", "k1")))
}

func TestNoRoomIsATransientErrorWithNothingStored(t *testing.T) {
	g := NewWithT(t)
	s := fresh(t)
	ctx := t.Context()
	must[Opened](t)(s.OpenWork(ctx, start("a", "task", "k1")))
	_, err := s.writer.ExecContext(ctx, `PRAGMA max_page_count = 1`) // clamps to the present size
	g.Expect(err).NotTo(HaveOccurred())
	big := note("a", "n1")
	big.Payload = []byte(`{"text":"` + strings.Repeat("x", 100_000) + `"}`)
	_, err = s.Append(ctx, big)
	g.Expect(err).To(MatchError(ErrStorage))
	g.Expect(err.Error()).To(ContainSubstring("nothing was stored"))
	g.Expect(must[[]Intent](t)(s.IntentsOf(ctx, "a"))).To(HaveLen(1))
	_, err = s.writer.ExecContext(ctx, `PRAGMA max_page_count = 100000`)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(must[Appended](t)(s.Append(ctx, big)).Replayed).To(BeFalse())
}

func TestAKilledFirstStartLeavesAFileThatSaysWhatItIs(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "sidecar.db")
	open(t, path) // still open: its WAL is there
	alone, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	copied := filepath.Join(t.TempDir(), "copy.db") // without the WAL
	g.Expect(os.WriteFile(copied, alone, 0o600)).To(Succeed())
	s := open(t, copied)
	g.Expect(must[Numbers](t)(s.Numbers(t.Context()))).To(Equal(Numbers{}))
	g.Expect(string(alone)).To(ContainSubstring("CREATE TABLE anchors"))
}
