package library_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/holdfast-mcp/holdfast/reference/app/library"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type opened struct {
	*library.Library
	path string
}

func open(t *testing.T) opened {
	t.Helper()
	path := filepath.Join(t.TempDir(), "library.db")
	l, err := library.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened{l, path}
}

func grant(account string) library.Grant {
	key := make([]byte, 32)
	rand.Read(key)
	return library.Grant{Account: account, Key: key}
}

func mark(itemID string, seq int64) library.Mark { return library.Mark{ItemID: itemID, Seq: seq} }

func TestAnItemIsReadAsItWasWritten(t *testing.T) {
	g := NewWithT(t)
	l, a := open(t), grant("a")
	ctx := t.Context()
	g.Expect(l.Create(ctx, a, mark("i1", 1), library.Draft{Title: "Märchen ☂", Status: "doing"})).To(Succeed())
	g.Expect(l.Update(ctx, a, mark("i1", 2), library.Change{Note: &library.Note{Text: "first"}})).To(Succeed())
	g.Expect(l.Update(ctx, a, mark("i1", 3), library.Change{Note: &library.Note{Text: "", Attachment: &library.Attachment{Name: "n.txt", Content: []byte{0, 1}}}, Status: "done"})).To(Succeed())
	item, err := l.Item(ctx, a, "i1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(item).To(Equal(library.Item{
		ID: "i1", Owner: "a", Title: "Märchen ☂", Statuses: []string{"done"}, Revision: 3,
		Notes: []library.Note{{Text: "first", Seq: 2}, {Attachment: &library.Attachment{Name: "n.txt", Content: []byte{0, 1}}, Seq: 3}},
	}))
	items, err := l.Items(ctx, a)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(items).To(Equal([]library.Item{item}))
}

func TestAMarkIsAppliedOnce(t *testing.T) {
	g := NewWithT(t)
	l, a := open(t), grant("a")
	ctx := t.Context()
	for range 3 {
		g.Expect(l.Create(ctx, a, mark("i1", 1), library.Draft{Title: "t", Status: "doing"})).To(Succeed())
		g.Expect(l.Update(ctx, a, mark("i1", 2), library.Change{Note: &library.Note{Text: "n"}})).To(Succeed())
	}
	item, err := l.Item(ctx, a, "i1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(item.Notes).To(HaveLen(1))
	g.Expect(item.Revision).To(BeEquivalentTo(2))
	done, err := l.Done(ctx, mark("i1", 2))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done).To(BeTrue())
	done, err = l.Done(ctx, mark("i1", 3))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(done).To(BeFalse())
}

func TestWhatIsRefusedWritesNothing(t *testing.T) {
	changed := grant("a")
	changed.Holds = func() bool { return false }
	tests := []struct {
		name string
		do   func(context.Context, opened, library.Grant) error
		want error
	}{
		{"create one that is there", func(ctx context.Context, l opened, a library.Grant) error {
			return l.Create(ctx, a, mark("there", 9), library.Draft{Title: "t", Status: "todo"})
		}, library.ErrExists},
		{"create one that another account has", func(ctx context.Context, l opened, _ library.Grant) error {
			return l.Create(ctx, grant("b"), mark("there", 9), library.Draft{Title: "t", Status: "todo"})
		}, library.ErrForeign},
		{"create after the account changed", func(ctx context.Context, l opened, _ library.Grant) error {
			return l.Create(ctx, changed, mark("new", 9), library.Draft{Title: "t", Status: "todo"})
		}, library.ErrAccountChanged},
		{"update one that is not there", func(ctx context.Context, l opened, a library.Grant) error {
			return l.Update(ctx, a, mark("new", 9), library.Change{Status: "done"})
		}, library.ErrNoItem},
		{"update another account's", func(ctx context.Context, l opened, _ library.Grant) error {
			return l.Update(ctx, grant("b"), mark("there", 9), library.Change{Status: "done"})
		}, library.ErrForeign},
		{"update after the account changed", func(ctx context.Context, l opened, _ library.Grant) error {
			return l.Update(ctx, changed, mark("there", 9), library.Change{Status: "done"})
		}, library.ErrAccountChanged},
		{"delete one that is not there", func(ctx context.Context, l opened, a library.Grant) error {
			return l.Delete(ctx, a, "new")
		}, library.ErrNoItem},
		{"delete another account's", func(ctx context.Context, l opened, _ library.Grant) error {
			return l.Delete(ctx, grant("b"), "there")
		}, library.ErrForeign},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			l, a := open(t), grant("a")
			ctx := t.Context()
			g.Expect(l.Create(ctx, a, mark("there", 1), library.Draft{Title: "t", Status: "doing"})).To(Succeed())
			before, err := l.Log(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(tt.do(ctx, l, a)).To(MatchError(tt.want))
			after, err := l.Log(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(after).To(Equal(before))
			item, err := l.Item(ctx, a, "there")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(item.Statuses).To(Equal([]string{"doing"}))
			for _, id := range []string{"there", "new"} {
				done, err := l.Done(ctx, mark(id, 9))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(done).To(BeFalse(), "the mark of a refused write must not be kept")
			}
		})
	}
}

func TestEveryWriteLeavesOneEnvelopeAndOneEvent(t *testing.T) {
	g := NewWithT(t)
	l, a := open(t), grant("a")
	ctx := t.Context()
	g.Expect(l.Create(ctx, a, mark("i1", 1), library.Draft{Title: "t", Status: "doing"})).To(Succeed())
	g.Expect(l.Update(ctx, a, mark("i1", 2), library.Change{Note: &library.Note{Text: "n"}, Status: "done"})).To(Succeed())
	g.Expect(l.Delete(ctx, a, "i1")).To(Succeed())
	log, err := l.Log(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.Writes).To(Equal([]library.Entry{
		{Seq: 1, ItemID: "i1", Revision: 1, Operation: library.Created},
		{Seq: 2, ItemID: "i1", Revision: 2, Operation: library.Updated},
		{Seq: 3, ItemID: "i1", Revision: 3, Operation: library.Deleted},
	}))
	g.Expect(log.Envelopes).To(Equal(log.Writes))
	g.Expect(log.Events).To(Equal(log.Writes))
}

// What writes past the repository is seen by the database's own triggers.
func TestAWritePastTheRepositoryIsWitnessed(t *testing.T) {
	tests := []struct {
		name, statement string
		want            library.Entry
	}{
		{"an item", "INSERT INTO items (item_id, owner, title, revision) VALUES ('i2', 'a', x'00', 1)", library.Entry{ItemID: "i2", Revision: 1, Operation: library.Created}},
		{"a note", "INSERT INTO notes (item_id, revision, seq, text) VALUES ('i1', 7, 0, x'00')", library.Entry{ItemID: "i1", Revision: 7, Operation: library.Updated}},
		{"a changed note", "UPDATE notes SET text = x'00' WHERE item_id = 'i1'", library.Entry{ItemID: "i1", Revision: 0, Operation: library.Updated}},
		{"a removed note", "DELETE FROM notes WHERE item_id = 'i1'", library.Entry{ItemID: "i1", Revision: 0, Operation: library.Updated}},
		{"a changed status", "UPDATE tags SET tag = 'status:done' WHERE item_id = 'i1'", library.Entry{ItemID: "i1", Revision: 0, Operation: library.Updated}},
		{"a deletion", "DELETE FROM items WHERE item_id = 'i1'", library.Entry{ItemID: "i1", Revision: 3, Operation: library.Deleted}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			l, a := open(t), grant("a")
			ctx := t.Context()
			g.Expect(l.Create(ctx, a, mark("i1", 1), library.Draft{Title: "t", Status: "doing"})).To(Succeed())
			g.Expect(l.Update(ctx, a, mark("i1", 2), library.Change{Note: &library.Note{Text: "n"}})).To(Succeed())
			exec(t, l.path, tt.statement)
			log, err := l.Log(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			tt.want.Seq = 3
			g.Expect(log.Writes).To(HaveLen(3))
			g.Expect(log.Writes[2]).To(Equal(tt.want))
			g.Expect(log.Envelopes).To(HaveLen(2))
		})
	}
}

func TestASecondStatusIsRefusedByTheDatabase(t *testing.T) {
	g := NewWithT(t)
	l, a := open(t), grant("a")
	g.Expect(l.Create(t.Context(), a, mark("i1", 1), library.Draft{Title: "t", Status: "doing"})).To(Succeed())
	db, err := sql.Open("sqlite", l.path)
	g.Expect(err).NotTo(HaveOccurred())
	defer db.Close()
	_, err = db.Exec("INSERT INTO tags (item_id, tag, revision) VALUES ('i1', 'status:done', 2)")
	g.Expect(err).To(MatchError(ContainSubstring("UNIQUE")))
}

func TestNoContentIsInAFileInClear(t *testing.T) {
	g := NewWithT(t)
	l, a := open(t), grant("a")
	ctx := t.Context()
	canaries := []string{"canary-title", "canary-note", "canary-name", "canary-attachment"}
	g.Expect(l.Create(ctx, a, mark("i1", 1), library.Draft{Title: canaries[0], Status: "doing"})).To(Succeed())
	g.Expect(l.Update(ctx, a, mark("i1", 2), library.Change{Note: &library.Note{Text: canaries[1],
		Attachment: &library.Attachment{Name: canaries[2], Content: []byte(canaries[3])}}})).To(Succeed())
	files, err := filepath.Glob(filepath.Join(filepath.Dir(l.path), "*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(ContainElement(HaveSuffix("-wal")), "the write-ahead log must be looked at too")
	sawID := false
	for _, file := range files {
		raw, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		sawID = sawID || bytes.Contains(raw, []byte("i1"))
		for _, canary := range canaries {
			g.Expect(bytes.Contains(raw, []byte(canary))).To(BeFalse(), "%s in %s", canary, file)
		}
		info, err := os.Stat(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)), file)
	}
	g.Expect(sawID).To(BeTrue(), "what is stored in clear must be found by this search")
}

func TestContentOpensOnlyWithItsKeyAndInItsPlace(t *testing.T) {
	g := NewWithT(t)
	l, a := open(t), grant("a")
	ctx := t.Context()
	g.Expect(l.Create(ctx, a, mark("i1", 1), library.Draft{Title: "one", Status: "doing"})).To(Succeed())
	g.Expect(l.Create(ctx, a, mark("i2", 2), library.Draft{Title: "two", Status: "doing"})).To(Succeed())
	_, err := l.Item(ctx, grant("a"), "i1")
	g.Expect(err).To(MatchError(library.ErrSealed))
	exec(t, l.path, "UPDATE items SET title = (SELECT title FROM items WHERE item_id = 'i2') WHERE item_id = 'i1'")
	_, err = l.Item(ctx, a, "i1")
	g.Expect(err).To(MatchError(library.ErrSealed), "a title moved to another item must not open")
}

func TestABusyLibrarySaysSoAndIsStillRead(t *testing.T) {
	g := NewWithT(t)
	l, a := open(t), grant("a")
	ctx := t.Context()
	g.Expect(l.Create(ctx, a, mark("i1", 1), library.Draft{Title: "t", Status: "doing"})).To(Succeed())
	db, err := sql.Open("sqlite", "file:"+l.path+"?_txlock=immediate")
	g.Expect(err).NotTo(HaveOccurred())
	defer db.Close()
	other, err := db.Begin()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(l.Update(ctx, a, mark("i1", 2), library.Change{Status: "done"})).To(MatchError(library.ErrBusy))
	_, err = l.Item(ctx, a, "i1")
	g.Expect(err).NotTo(HaveOccurred())
	second, err := library.Open(ctx, l.path)
	g.Expect(err).NotTo(HaveOccurred(), "an app starts while another writer holds the library")
	g.Expect(second.Close()).To(Succeed())
	g.Expect(other.Rollback()).To(Succeed())
	g.Expect(l.Update(ctx, a, mark("i1", 2), library.Change{Status: "done"})).To(Succeed())
}

func TestConcurrentWritersKeepEveryNote(t *testing.T) {
	g := NewWithT(t)
	l, a := open(t), grant("a")
	ctx := t.Context()
	g.Expect(l.Create(ctx, a, mark("i1", 1), library.Draft{Title: "t", Status: "doing"})).To(Succeed())
	var writers sync.WaitGroup
	for n := range int64(16) {
		writers.Go(func() {
			if err := l.Update(ctx, a, mark("i1", 2+n), library.Change{Note: &library.Note{Text: "n"}}); err != nil {
				t.Error(err)
			}
			if _, err := l.Items(ctx, a); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	item, err := l.Item(ctx, a, "i1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(item.Notes).To(HaveLen(16))
	g.Expect(item.Revision).To(BeEquivalentTo(17))
}

func TestTheLockSurvivesARestart(t *testing.T) {
	g := NewWithT(t)
	l := open(t)
	ctx := t.Context()
	g.Expect(l.SetLocked(ctx, true)).To(Succeed())
	second, err := library.Open(ctx, l.path)
	g.Expect(err).NotTo(HaveOccurred())
	defer second.Close()
	g.Expect(second.Locked(ctx)).To(BeTrue())
	g.Expect(second.SetLocked(ctx, false)).To(Succeed())
	g.Expect(l.Locked(ctx)).To(BeFalse())
}

func TestPath(t *testing.T) {
	g := NewWithT(t)
	g.Expect(library.Path("/x/mine.db")).To(Equal("/x/mine.db"))
	g.Expect(library.Path("/x/library")).To(Equal(filepath.FromSlash("/x/library/library.db")))
}

func TestAnotherSchemaIsRefused(t *testing.T) {
	g := NewWithT(t)
	l := open(t)
	exec(t, l.path, "PRAGMA user_version = 9")
	_, err := library.Open(t.Context(), l.path)
	g.Expect(err).To(MatchError(And(ContainSubstring("schema version 9"), ContainSubstring("this app reads 1"))))
}

func exec(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(1000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}
