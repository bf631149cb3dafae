package sidecar

import (
	"context"
	"errors"
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

func TestOtherContractVersions(t *testing.T) {
	for _, v := range []struct{ stored, message string }{
		{"4", "it has contract version 4, this build supports version 3: start a build that supports it"},
		{"2", "it has contract version 2, this build supports version 3: no migration from it is known; open it once with a build between the two"},
	} {
		t.Run(v.stored, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "sidecar.db")
			s := open(t, path)
			_, err := s.writer.ExecContext(t.Context(), `UPDATE meta SET value = ? WHERE name = 'contract_version'`, v.stored)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.Close()).To(Succeed())
			before, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = OpenStore(t.Context(), path, Options{})
			var version *VersionError
			g.Expect(errors.As(err, &version)).To(BeTrue(), "%v", err)
			g.Expect(err).To(MatchError("open sidecar " + path + ": " + v.message))
			after, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(after).To(Equal(before))
		})
	}
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
