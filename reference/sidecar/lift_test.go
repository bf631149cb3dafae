package sidecar_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/versions/one"
	"github.com/holdfast-mcp/holdfast/reference/versions/two"
)

// old is a store of an older contract version.
type old interface {
	sidecar.Accepting
	sidecar.Executing
	sidecar.Reading
	Close() error
}

func openOld(t *testing.T, version int, path string) old {
	t.Helper()
	var s old
	var err error
	if version == 1 {
		s, err = one.Open(t.Context(), path, sidecar.Options{Busy: 20 * time.Second})
	} else {
		s, err = two.Open(t.Context(), path, sidecar.Options{Busy: 20 * time.Second})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// writer fills an old sidecar the way that its helper and its app would.
type writer struct {
	*WithT
	ctx context.Context
	old
}

func (w writer) start(task string) sidecar.Opened { return w.startAs(task, "start "+task) }

func (w writer) startAs(task, key string) sidecar.Opened {
	o, err := w.OpenWork(w.ctx, sidecar.Open{ItemID: "item of " + task, TaskKey: task, Key: key, Digest: "digest " + task, Payload: json.RawMessage(`{"title":"T"}`)})
	w.Expect(err).NotTo(HaveOccurred())
	return o
}

func (w writer) note(item, key string) int64 {
	a, err := w.Append(w.ctx, sidecar.Follow{ItemID: item, Kind: sidecar.NoteKind, Key: key, Digest: "digest " + key, Payload: json.RawMessage(`{"text":"N"}`)})
	w.Expect(err).NotTo(HaveOccurred())
	return a.Intent.Seq
}

// settle has the app settle what it sees first of each of these tasks.
func (w writer) settle(how func(sidecar.Intent) error) {
	list, err := w.Runnable(w.ctx)
	w.Expect(err).NotTo(HaveOccurred())
	for _, i := range list {
		w.Expect(how(i)).To(Succeed())
	}
}

func (w writer) apply(i sidecar.Intent) error { return w.Apply(w.ctx, i.Seq) }

func (w writer) fail(i sidecar.Intent) error {
	return w.old.Fail(w.ctx, i.Seq, sidecar.Failure{Class: sidecar.Permanent, Code: "any", Reason: "why it failed"})
}

func (w writer) late(i sidecar.Intent) error {
	return w.TryLater(w.ctx, i.Seq, sidecar.Failure{Class: sidecar.Transient, Code: "any", Reason: "why it is late"})
}

// filled makes a sidecar of a version with something in every state that the
// version has.
func filled(t *testing.T, version int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sidecar.db")
	w := writer{NewWithT(t), t.Context(), openOld(t, version, path)}
	w.Expect(w.BindOwner(w.ctx, "a")).To(Succeed())
	for _, task := range []string{"applied", "deleted"} {
		w.start(task)
	}
	w.settle(w.apply)
	live := w.start("applied").Anchor.ItemID
	w.note(live, "applied note")
	w.settle(w.apply)
	w.note(live, "failed note")
	w.settle(w.fail)
	w.note(live, "late note")
	w.settle(w.late)
	w.note(live, "waiting note")
	deleted := w.start("deleted").Anchor.ItemID
	w.note(deleted, "note of a deleted item")
	w.Expect(w.MarkDead(w.ctx, deleted, "why it is dead")).To(Succeed())
	w.start("failed")
	if version > 1 {
		w.note("item of failed", "note behind a failed start")
	}
	w.settle(func(i sidecar.Intent) error {
		if i.Kind == sidecar.StartKind {
			return w.fail(i)
		}
		return nil
	})
	w.start("late")
	w.settle(func(i sidecar.Intent) error {
		if i.Kind == sidecar.StartKind {
			return w.late(i)
		}
		return nil
	})
	if version == 1 {
		w.startAs("failed", "start failed again") // a failed start does not lock the task in version 1
	}
	w.start("waiting")
	w.Expect(w.Close()).To(Succeed())
	return path
}

// kept is a lifted sidecar in a form that tests compare.
type kept struct {
	Anchors []string
	Intents []string
	Keys    []string
	Schema  []string
}

func keptIn(t *testing.T, path string) (k kept) {
	t.Helper()
	g := NewWithT(t)
	db, err := sql.Open("sqlite", "file:"+path+"?_query_only=1")
	g.Expect(err).NotTo(HaveOccurred())
	defer db.Close()
	lines := func(query string) []string {
		all, err := sidecar.Collect(t.Context(), db, func(scan func(...any) error) (line string, err error) {
			err = scan(&line)
			return line, err
		}, query)
		g.Expect(err).NotTo(HaveOccurred())
		return all
	}
	k.Anchors = lines(`SELECT concat_ws(' | ', task_key, item_id, owner, state, reason, start_failed) FROM anchors ORDER BY rowid`)
	k.Intents = lines(`SELECT concat_ws(' | ', i.seq, a.task_key, i.kind, i.payload, i.idempotency_key, i.digest, i.owner, i.state,
		coalesce(i.failure_class, '-'), coalesce(i.failure_code, '-'), coalesce(i.failure_reason, '-'), i.attempts) FROM intents i JOIN anchors a USING (item_id) ORDER BY i.seq`)
	k.Keys = lines(`SELECT concat_ws(' | ', k.owner, k.idempotency_key, k.kind, k.digest, a.task_key, coalesce(k.seq, '-')) FROM idempotency_keys k JOIN anchors a USING (item_id) ORDER BY k.idempotency_key`)
	k.Schema = lines(`SELECT concat_ws(' ', type, name, tbl_name, sql) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name`)
	g.Expect(lines(`SELECT value FROM meta WHERE name = 'contract_version'`)).To(Equal([]string{"3"}))
	g.Expect(lines(`SELECT value FROM meta WHERE name = 'bound_owner'`)).To(Equal([]string{"a"}))
	g.Expect(lines(`SELECT * FROM pragma_integrity_check`)).To(Equal([]string{"ok"}))
	g.Expect(lines(`SELECT "table" FROM pragma_foreign_key_check`)).To(BeEmpty())
	return k
}

var issuedByLift = regexp.MustCompile(`item_[0-9a-f]{32}`)

// plain takes out the IDs that a lift or an app of version 1 drew.
func (k kept) plain() kept {
	for n, a := range k.Anchors {
		k.Anchors[n] = issuedByLift.ReplaceAllString(a, "item_x")
	}
	return k
}

func lift(t *testing.T, path string) {
	t.Helper()
	s, err := sidecar.OpenStore(t.Context(), path, sidecar.Options{Busy: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func copyOf(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "sidecar.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestALiftKeepsEverything(t *testing.T) {
	const a = ` | {"title":"T"} | start `
	t.Run("from 2", func(t *testing.T) {
		g := NewWithT(t)
		path := filled(t, 2)
		lift(t, path)
		k := keptIn(t, path)
		g.Expect(k.Anchors).To(Equal([]string{
			"applied | item of applied | a | provisional |  | 0", // for an app to find its item (WR-11)
			"deleted | item of deleted | a | dead | why it is dead | 0",
			"failed | item of failed | a | provisional |  | 1",
			"late | item of late | a | provisional |  | 0",
			"waiting | item of waiting | a | provisional |  | 0",
		}))
		g.Expect(k.Intents).To(Equal([]string{
			`1 | applied | start` + a + `applied | digest applied | a | applied | - | - | - | 1`,
			`2 | deleted | start` + a + `deleted | digest deleted | a | applied | - | - | - | 1`,
			`3 | applied | note | {"text":"N"} | applied note | digest applied note | a | applied | - | - | - | 1`,
			`4 | applied | note | {"text":"N"} | failed note | digest failed note | a | failed | permanent | unclassified | why it failed | 1`,
			`5 | applied | note | {"text":"N"} | late note | digest late note | a | retrying | transient | unclassified | why it is late | 1`,
			`6 | applied | note | {"text":"N"} | waiting note | digest waiting note | a | pending | - | - | - | 0`,
			`7 | deleted | note | {"text":"N"} | note of a deleted item | digest note of a deleted item | a | failed | permanent | unclassified | why it is dead | 0`,
			`8 | failed | start` + a + `failed | digest failed | a | failed | permanent | unclassified | why it failed | 1`,
			`9 | failed | note | {"text":"N"} | note behind a failed start | digest note behind a failed start | a | failed | permanent | start_failed | the start of this item failed; start the task again for a new item ID | 0`,
			`10 | late | start` + a + `late | digest late | a | retrying | transient | unclassified | why it is late | 1`,
			`11 | waiting | start` + a + `waiting | digest waiting | a | pending | - | - | - | 0`,
		}))
		g.Expect(k.Keys).To(HaveLen(11))
	})
	t.Run("from 1", func(t *testing.T) {
		g := NewWithT(t)
		path := filled(t, 1)
		s := openOld(t, 1, path)
		told, err := s.OpenWork(t.Context(), sidecar.Open{TaskKey: "applied", Key: "start applied", Digest: "digest applied"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.Close()).To(Succeed())
		lift(t, path)
		k := keptIn(t, path)
		g.Expect(k.Anchors[0]).To(Equal("applied | " + told.Anchor.ItemID + " | a | live |  | 0"))
		g.Expect(k.plain().Anchors).To(Equal([]string{
			"applied | item_x | a | live |  | 0",
			"deleted | item_x | a | live |  | 0", // version 1 kept no deletions: the app finds it gone
			"failed | item_x | a | provisional |  | 1",
			"late | item_x | a | provisional |  | 0",
			"failed | item_x | a | provisional |  | 0",
			"waiting | item_x | a | provisional |  | 0",
		}))
		g.Expect(k.Intents[4]).To(Equal(`5 | applied | note | {"text":"N"} | late note | digest late note | a | retrying | transient | unclassified | why it is late | 1`))
		g.Expect(k.Intents).To(HaveLen(11))
		g.Expect(k.Keys).To(HaveLen(11))
	})
}

// A lifted sidecar has the tables of a new one to the letter, and a second
// opening changes nothing.
func TestALiftedSidecarIsLikeANewOne(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "sidecar.db")
	s, err := sidecar.OpenStore(t.Context(), fresh, sidecar.Options{})
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.BindOwner(t.Context(), "a")).To(Succeed())
	g.Expect(s.Close()).To(Succeed())
	for version := 1; version < sidecar.ContractVersion; version++ {
		path := filled(t, version)
		lift(t, path)
		once := keptIn(t, path)
		g.Expect(once.Schema).To(Equal(keptIn(t, fresh).Schema))
		lift(t, path)
		g.Expect(keptIn(t, path)).To(Equal(once))
	}
}

// The lift is killed before and after each of its statements: what is there then
// is the old sidecar, and the next start lifts it as if nothing had been.
func TestALiftKilledAtAnyStatement(t *testing.T) {
	for version := 1; version < sidecar.ContractVersion; version++ {
		t.Run(fmt.Sprintf("from %d", version), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			before := filled(t, version)
			whole := copyOf(t, before)
			lift(t, whole)
			want := keptIn(t, whole).plain()
			for point := range sidecar.LiftPoints(version) {
				path := copyOf(t, before)
				c := exec.CommandContext(t.Context(), os.Args[0], path, fmt.Sprint(point), fmt.Sprint(version))
				c.Env = append(os.Environ(), sidecar.ChildEnv+"=killed lifting")
				out, err := c.CombinedOutput()
				g.Expect(err).To(MatchError("signal: killed"), "at %d: %s", point, out)
				s := openOld(t, version, copyOf(t, path)) // still one of the old version
				g.Expect(s.Close()).To(Succeed())
				lift(t, path)
				g.Expect(keptIn(t, path).plain()).To(Equal(want), "killed at %d", point)
			}
		})
	}
}

// Of what the lift writes to the disk any part may be missing at its end: the
// sidecar is the old one or the new one, never a mixture.
func TestALiftCutAtAnyPlaceOfItsLog(t *testing.T) {
	for version := 1; version < sidecar.ContractVersion; version++ {
		t.Run(fmt.Sprintf("from %d", version), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			before := filled(t, version)
			whole := copyOf(t, before)
			closing, err := sidecar.LiftWithoutCheckpoint(t.Context(), whole)
			g.Expect(err).NotTo(HaveOccurred())
			lifted := copyOf(t, whole)
			g.Expect(closing()).To(Succeed())
			want := keptIn(t, whole).plain()
			wal, err := os.ReadFile(lifted + "-wal")
			g.Expect(err).NotTo(HaveOccurred())
			const header, frame = 32, 24 + 4096 // of a WAL; pages have SQLite's default size
			g.Expect((len(wal) - header) % frame).To(BeZero())
			g.Expect(len(wal)).To(BeNumerically(">", header+3*frame))
			cuts := []int{0, header / 2, len(wal) - frame/2} // torn ones, and every whole frame
			for at := header; at < len(wal); at += frame {
				cuts = append(cuts, at)
			}
			for _, at := range cuts {
				path := copyOf(t, before)
				g.Expect(os.WriteFile(path+"-wal", wal[:at], 0o600)).To(Succeed())
				s := openOld(t, version, copyOf(t, path)) // without its last frame the log says nothing
				g.Expect(s.Close()).To(Succeed())
				lift(t, path)
				g.Expect(keptIn(t, path).plain()).To(Equal(want), "cut at byte %d of %d", at, len(wal))
			}
		})
	}
}

func TestManyProcessesLiftOneSidecarOnce(t *testing.T) {
	g := NewWithT(t)
	path := filled(t, 1)
	whole := copyOf(t, path)
	lift(t, whole)
	const racers = 4
	errs := make([]error, racers)
	var all sync.WaitGroup
	for n := range racers {
		all.Go(func() {
			c := exec.CommandContext(t.Context(), os.Args[0], path)
			c.Env = append(os.Environ(), sidecar.ChildEnv+"=lift")
			errs[n] = c.Run()
		})
	}
	all.Wait()
	for _, err := range errs {
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(keptIn(t, path).plain()).To(Equal(keptIn(t, whole).plain()))
}

// What an old process does after a newer one has lifted its sidecar is refused
// naming both, and nothing is stored.
func TestAnOldProcessIsRefusedOnceItsSidecarIsLifted(t *testing.T) {
	for version := 1; version < sidecar.ContractVersion; version++ {
		t.Run(fmt.Sprintf("from %d", version), func(t *testing.T) {
			g := NewWithT(t)
			path := filled(t, version)
			s := openOld(t, version, path)
			lift(t, path)
			want := keptIn(t, path)
			for name, do := range map[string]func() error{
				"start": func() error {
					_, err := s.OpenWork(t.Context(), sidecar.Open{ItemID: "new", TaskKey: "new", Key: "new", Digest: "new"})
					return err
				},
				"follow": func() error {
					_, err := s.Append(t.Context(), sidecar.Follow{ItemID: "item of waiting", Kind: sidecar.CompleteKind, Key: "new", Digest: "new"})
					return err
				},
				"apply": func() error { return s.Apply(t.Context(), 11) },
				"fail":  func() error { return s.Fail(t.Context(), 11, sidecar.Failure{Reason: "late"}) },
				"bind":  func() error { return s.BindOwner(t.Context(), "b") },
				"list":  func() error { _, err := s.Runnable(t.Context()); return err },
				"read":  func() error { _, err := s.IntentsOf(t.Context(), "item of waiting"); return err },
				"count": func() error { _, err := s.Numbers(t.Context()); return err },
			} {
				var mismatch *sidecar.VersionError
				g.Expect(do()).To(BeAssignableToTypeOf(mismatch), name)
				g.Expect(do()).To(MatchError(fmt.Sprintf("use sidecar %s: it has contract version 3, this build supports version %d: start a build that supports it", path, version)), name)
			}
			g.Expect(keptIn(t, path)).To(Equal(want))
			g.Expect(s.Close()).To(Succeed())
		})
	}
}
