package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/fixtures/launch"
	fixture "github.com/holdfast-mcp/holdfast/fixtures/postgres"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/postgres"
	"github.com/holdfast-mcp/holdfast/reference/trips/storetest"
	"github.com/holdfast-mcp/holdfast/reports/wait"
)

// server is a PostgreSQL as a run of holdfast starts it.
type server struct {
	t       *testing.T
	run     *launch.Run
	dir     string
	config  fixture.Config
	running *launch.Process
	starts  int
	places  atomic.Int32
}

func newServer(t *testing.T) *server {
	t.Helper()
	if _, err := fixture.Find(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v; scripts/setup.sh installs it", err)
		}
		t.Skip(err)
	}
	g := NewWithT(t)
	run, err := launch.NewRun("")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(run.Close()).To(Succeed()) })
	s := &server{t: t, run: run}
	s.dir, err = run.Scratch("world")
	g.Expect(err).NotTo(HaveOccurred())
	port, err := run.Ports.Next()
	g.Expect(err).NotTo(HaveOccurred())
	s.config = fixture.Config{Port: port, Database: fixture.DefaultDatabase, Folder: filepath.Join(s.dir, filepath.FromSlash(fixture.DefaultFolder))}
	s.start()
	return s
}

func (s *server) start() {
	s.t.Helper()
	g := NewWithT(s.t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	env, err := launch.Private(s.dir, map[string]string{"PORT": fmt.Sprint(s.config.Port)})
	g.Expect(err).NotTo(HaveOccurred())
	s.starts++
	s.running, err = s.run.Start(s.t.Context(), launch.Command{Name: "postgres", Argv: []string{self, "reference", "postgres"}, Env: env, Dir: s.dir}, nil, s.starts)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(launch.WaitReady(s.t.Context(), s.running, target.Ready{Line: fixture.ReadyLine}, wait.Default().Ready)).To(Succeed())
}

func (s *server) kill() {
	s.t.Helper()
	NewWithT(s.t).Expect(s.running.Kill(s.t.Context())).To(Succeed())
}

func (s *server) do(dsn string, statements ...string) {
	s.t.Helper()
	g := NewWithT(s.t)
	c, err := pgx.Connect(s.t.Context(), dsn)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(c.Close(s.t.Context())).To(Succeed()) }()
	for _, statement := range statements {
		_, err := c.Exec(s.t.Context(), statement)
		g.Expect(err).NotTo(HaveOccurred())
	}
}

// place is the address of an empty place in the database.
func (s *server) place() (dsn string) {
	s.t.Helper()
	name := fmt.Sprintf("place%d", s.places.Add(1))
	s.do(s.config.DSN(), "create schema "+name)
	return s.config.DSN() + "&search_path=" + name
}

func opened(t *testing.T, dsn string) *postgres.Store {
	t.Helper()
	db, err := postgres.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestTripsInPostgreSQL holds the PostgreSQL store of trips to what every one must do.
func TestTripsInPostgreSQL(t *testing.T) {
	s := newServer(t)
	storetest.Run(t, func(t *testing.T) func() ports.Database {
		dsn := s.place()
		return func() ports.Database { return opened(t, dsn) }
	})
}

var workshop = ports.Draft{Draft: "one", Owner: "ann", Revision: 1, Status: ports.Open, Destination: "JFK"}

func moved(to int64) ports.Draft {
	d := workshop
	d.Revision = to
	return d
}

// A server of trips goes on when its database was killed and started again, and what
// was confirmed before is there.
func TestTripsGoOnWhenPostgreSQLIsBack(t *testing.T) {
	g := NewWithT(t)
	s := newServer(t)
	db := opened(t, s.place())
	g.Expect(db.Plant(t.Context(), []ports.Draft{workshop})).To(Succeed())
	save := func(d ports.Draft) error {
		return db.Change(t.Context(), func(ctx context.Context, tx ports.Tx) error { return tx.SaveDraft(ctx, d) })
	}
	g.Expect(save(moved(2))).To(Succeed())
	s.kill()
	g.Expect(save(moved(3))).To(And(MatchError(ports.ErrStore), MatchError(And(ContainSubstring("nothing was stored"), Not(ContainSubstring("is not known"))))))
	_, err := db.Draft(t.Context(), "one")
	g.Expect(err).To(MatchError(ports.ErrStore))
	s.start()
	g.Expect(db.Draft(t.Context(), "one")).To(Equal(moved(2)))
	g.Expect(save(moved(3))).To(Succeed())

	// Also where nobody noticed that it was gone.
	s.kill()
	s.start()
	g.Expect(save(moved(4))).To(Succeed())
	s.kill()
	s.start()
	g.Expect(db.Draft(t.Context(), "one")).To(Equal(moved(4)))
}

// A transaction whose database is killed is undone, and its end is told as one that
// may have come about only where it was asked for.
func TestAKillOfPostgreSQLWithinATransaction(t *testing.T) {
	g := NewWithT(t)
	s := newServer(t)
	db := opened(t, s.place())
	g.Expect(db.Plant(t.Context(), []ports.Draft{workshop})).To(Succeed())
	err := db.Change(t.Context(), func(ctx context.Context, tx ports.Tx) error {
		if err := tx.SaveDraft(ctx, moved(2)); err != nil {
			return err
		}
		s.kill()
		_, err := tx.Draft(ctx, "one")
		return err
	})
	g.Expect(err).To(And(MatchError(ports.ErrStore), MatchError(ContainSubstring("nothing was stored"))))
	s.start()
	g.Expect(db.Draft(t.Context(), "one")).To(Equal(workshop))

	err = db.Change(t.Context(), func(ctx context.Context, tx ports.Tx) error {
		defer s.kill()
		return tx.SaveDraft(ctx, moved(2))
	})
	g.Expect(err).To(And(MatchError(ports.ErrStore), MatchError(And(ContainSubstring("whether it was stored is not known, look for the receipt"), Not(ContainSubstring("nothing was stored"))))))
	s.start()
	g.Expect(db.Draft(t.Context(), "one")).To(Equal(workshop), "the kill came before the commit was asked for")
}

func TestWhatPostgreSQLRefuses(t *testing.T) {
	g := NewWithT(t)
	s := newServer(t)
	db := opened(t, s.place())
	g.Expect(db.Plant(t.Context(), []ports.Draft{workshop})).To(Succeed())

	nul := moved(2)
	nul.Purpose = "a\x00b"
	err := db.Change(t.Context(), func(ctx context.Context, tx ports.Tx) error { return tx.SaveDraft(ctx, nul) })
	var invalid *ports.InvalidError
	g.Expect(errors.As(err, &invalid)).To(BeTrue(), "a text that it cannot hold is the request's own fault: %v", err)
	g.Expect(db.Draft(t.Context(), "one")).To(Equal(workshop))

	newer, foreign := s.place(), s.place()
	opened(t, newer)
	s.do(newer, "update schema_version set version = 9")
	s.do(foreign, "create table drafts (x int)")
	for dsn, says := range map[string]string{
		newer:   "it has schema version 9, this server reads 1: use the server that wrote it",
		foreign: "name a database that is new, or one of a trips server",
		fmt.Sprintf("postgres://trips:hunter2@127.0.0.1:%d/trips?sslmode=disable", s.config.Port): "password authentication failed",
		"postgres://trips:hunter2@127.0.0.1:port/trips":                                           "its address cannot be read; expected postgres://USER@HOST:PORT/DATABASE",
	} {
		_, err := postgres.Open(t.Context(), dsn)
		g.Expect(err).To(MatchError(And(HavePrefix("open the trips in PostgreSQL"), ContainSubstring(says), Not(ContainSubstring("hunter2")))))
	}
}

// A writer that does not end is waited for, and the wait ends with a word of it.
func TestAnotherWriterInPostgreSQL(t *testing.T) {
	g := NewWithT(t)
	s := newServer(t)
	dsn := s.place()
	first, second := opened(t, dsn), opened(t, dsn)
	g.Expect(first.Plant(t.Context(), []ports.Draft{workshop})).To(Succeed())
	begun := time.Now()
	g.Expect(first.Change(t.Context(), func(ctx context.Context, tx ports.Tx) error {
		g.Expect(tx.SaveDraft(ctx, moved(2))).To(Succeed())
		g.Expect(second.Draft(ctx, "one")).To(Equal(workshop), "who reads does not wait")
		err := second.Change(ctx, func(context.Context, ports.Tx) error { return errors.New("it has begun") })
		g.Expect(err).To(And(MatchError(ports.ErrStore), MatchError(And(ContainSubstring("another writer held"), ContainSubstring("nothing was stored, try again")))))
		return nil
	})).To(Succeed())
	g.Expect(time.Since(begun)).To(BeNumerically(">", 4*time.Second), "it waited for its turn")
	g.Expect(second.Draft(t.Context(), "one")).To(Equal(moved(2)))
}
