package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func opened(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() ports.Database {
		path := filepath.Join(t.TempDir(), "a folder", "trips ?#%.db")
		return func() ports.Database { return opened(t, path) }
	})
}

func TestTheFileIsItsUsersAlone(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "new", "trips.db")
	s := opened(t, path)
	g.Expect(s.Plant(context.Background(), []ports.Draft{{Draft: "d", Owner: "ann", Revision: 1, Status: ports.Open}})).To(Succeed())
	for _, suffix := range []string{"", "-wal", "-shm"} {
		about, err := os.Stat(path + suffix)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(about.Mode().Perm()).To(Equal(os.FileMode(0o600)), path+suffix)
	}
}

func TestACommitIsDurableBeforeItIsAnswered(t *testing.T) {
	g := NewWithT(t)
	s := opened(t, filepath.Join(t.TempDir(), "trips.db"))
	for _, db := range []*sql.DB{s.writer, s.reader} {
		var synchronous, foreign int
		var mode string
		g.Expect(db.QueryRow(`PRAGMA synchronous`).Scan(&synchronous)).To(Succeed())
		g.Expect(db.QueryRow(`PRAGMA foreign_keys`).Scan(&foreign)).To(Succeed())
		g.Expect(db.QueryRow(`PRAGMA journal_mode`).Scan(&mode)).To(Succeed())
		g.Expect([]any{synchronous, foreign, mode}).To(Equal([]any{2, 1, "wal"}), "2 is FULL")
	}
}

func TestAFileOfAnotherKindStaysAsItIs(t *testing.T) {
	foreign := func(statement string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		says string
	}{
		{"newer", foreign(`PRAGMA user_version = 9`), "schema version 9, this server reads 1"},
		{"something else", foreign(`CREATE TABLE drafts (x)`), "name a file that is new, or one of a trips server"},
		{"no database", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("not a database, however long one reads it"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "file is not a database"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "trips.db")
			c.make(t, path)
			_, err := Open(context.Background(), path)
			g.Expect(err).To(MatchError(And(ContainSubstring("open the trips at "+path), ContainSubstring(c.says))))
		})
	}
}

func TestWithoutRoomNothingIsStored(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	s := opened(t, filepath.Join(t.TempDir(), "trips.db"))
	d := ports.Draft{Draft: "d", Owner: "ann", Revision: 1, Status: ports.Open}
	g.Expect(s.Plant(ctx, []ports.Draft{d})).To(Succeed())
	big := ports.Receipt{CommandID: "c", Draft: "d", Owner: "ann", Kind: ports.Update, From: 1, To: 2, Result: make([]byte, 1<<20)}
	moved := d
	moved.Revision = 2
	apply := func(ctx context.Context, tx ports.Tx) error {
		return errors.Join(tx.SaveDraft(ctx, moved), tx.StoreReceipt(ctx, big))
	}

	var pages int
	g.Expect(s.writer.QueryRow(`PRAGMA page_count`).Scan(&pages)).To(Succeed())
	limit := func(n int) {
		_, err := s.writer.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, n))
		g.Expect(err).NotTo(HaveOccurred())
	}
	limit(pages + 10)
	err := s.Change(ctx, apply)
	g.Expect(err).To(MatchError(ports.ErrStore))
	g.Expect(err).To(MatchError(ContainSubstring("make room and try again")))
	g.Expect(s.Draft(ctx, "d")).To(Equal(d))

	limit(pages + 1000)
	g.Expect(s.Change(ctx, apply)).To(Succeed(), "it goes on once there is room")
	g.Expect(s.Draft(ctx, "d")).To(Equal(moved))
}

func TestWhoWaitsForAnotherWriterCanLeave(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "trips.db")
	holder, waiter := opened(t, path), opened(t, path)
	g.Expect(holder.Change(context.Background(), func(context.Context, ports.Tx) error {
		ctx, leave := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer leave()
		ran := false
		err := waiter.Change(ctx, func(context.Context, ports.Tx) error { ran = true; return nil })
		g.Expect(err).To(MatchError(ports.ErrStore))
		g.Expect(ran).To(BeFalse())
		return nil
	})).To(Succeed())
	g.Expect(waiter.Plant(context.Background(), []ports.Draft{{Draft: "d", Owner: "ann", Revision: 1, Status: ports.Open}})).To(Succeed(), "nothing is left open")
}
