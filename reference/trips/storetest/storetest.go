// Package storetest holds what every ports.Database must do, for the tests of each.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// Place makes an empty place for a database and returns how to open it. It is opened
// several times: one after another, as by a server that is started again, and at
// once, as by two servers. What is not closed is closed by the caller's Cleanup.
type Place func(t *testing.T) (open func() ports.Database)

// Run tests databases.
func Run(t *testing.T, place Place) {
	for name, test := range map[string]func(*testing.T, func() ports.Database){
		"plants what is not there":                     plants,
		"lists an owner's drafts":                      lists,
		"says what is not there":                       missing,
		"changes wholly":                               changes,
		"changes nothing where do fails":               undone,
		"changes nothing where do panics":              panics,
		"keeps a receipt byte for byte":                receipts,
		"keeps owners' commands apart":                 apart,
		"refuses a second receipt":                     twice,
		"fences":                                       fences,
		"runs changes one after another":               serial,
		"answers a command once from two servers":      once,
		"does not begin for who is gone":               gone,
		"finishes what it began":                       finishes,
		"keeps sessions":                               sessions,
		"keeps texts as they are":                      texts,
		"says so when it is closed":                    closed,
		"keeps everything when it is opened once more": reopened,
	} {
		t.Run(name, func(t *testing.T) { test(t, place(t)) })
	}
}

var ctx = context.Background()

// trip is a draft as it is planted.
func trip(name, owner string) ports.Draft {
	return ports.Draft{Draft: name, Owner: owner, Revision: 1, Status: ports.Open, Destination: "JFK", Purpose: "Customer workshop", Starts: "2031-03-01", Ends: "2031-03-04"}
}

func receipt(owner, draft, command string) ports.Receipt {
	return ports.Receipt{CommandID: command, Draft: draft, Owner: owner, Kind: ports.Update, Digest: "digest of " + command, From: 1, To: 2, Result: []byte(`{"commandId":"` + command + `"}`)}
}

// with opens a database that holds drafts.
func with(t *testing.T, open func() ports.Database, drafts ...ports.Draft) ports.Database {
	t.Helper()
	db := open()
	NewWithT(t).Expect(db.Plant(ctx, drafts)).To(Succeed())
	return db
}

func plants(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"))
	moved := trip("one", "ann")
	moved.Revision, moved.Destination, moved.Status = 2, "BOS", ports.Submitted
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.SaveDraft(ctx, moved) })).To(Succeed())

	g.Expect(db.Plant(ctx, []ports.Draft{trip("one", "bob"), trip("two", "bob")})).To(Succeed())
	g.Expect(db.Draft(ctx, "one")).To(Equal(moved))
	g.Expect(db.Draft(ctx, "two")).To(Equal(trip("two", "bob")))
}

func lists(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("b", "ann"), trip("c", "bob"), trip("a", "ann"))
	g.Expect(db.Drafts(ctx, "ann")).To(Equal([]ports.Draft{trip("a", "ann"), trip("b", "ann")}))
	none, err := db.Drafts(ctx, "eve")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(none).To(And(BeEmpty(), Not(BeNil())), "an empty list is written as one")
}

func missing(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"))
	_, err := db.Draft(ctx, "two")
	g.Expect(err).To(MatchError(ports.ErrNoDraft))
	_, err = db.Receipt(ctx, "ann", "one", "c")
	g.Expect(err).To(MatchError(ports.ErrNoReceipt))
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		_, err := tx.Draft(ctx, "two")
		g.Expect(err).To(MatchError(ports.ErrNoDraft))
		_, err = tx.Receipt(ctx, "ann", "c")
		g.Expect(err).To(MatchError(ports.ErrNoReceipt))
		g.Expect(tx.Fenced(ctx, "ann", "c")).To(BeFalse())
		g.Expect(tx.SaveDraft(ctx, trip("two", "ann"))).To(MatchError(ports.ErrNoDraft))
		return nil
	})).To(Succeed(), "what is not there ends no transaction")
}

func changes(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"), trip("two", "ann"))
	want := trip("one", "ann")
	want.Revision, want.Status, want.Destination, want.Purpose, want.Starts, want.Ends = 2, ports.Submitted, "d", "p", "s", "e"
	stolen := want
	stolen.Owner = "eve"
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		g.Expect(tx.SaveDraft(ctx, stolen)).To(Succeed())
		g.Expect(tx.Draft(ctx, "one")).To(Equal(want), "it sees what it stored itself; the owner stays")
		g.Expect(tx.StoreReceipt(ctx, receipt("ann", "one", "c"))).To(Succeed())
		g.Expect(tx.Receipt(ctx, "ann", "c")).To(Equal(receipt("ann", "one", "c")))
		return nil
	})).To(Succeed())
	g.Expect(db.Draft(ctx, "one")).To(Equal(want))
	g.Expect(db.Draft(ctx, "two")).To(Equal(trip("two", "ann")))
	g.Expect(db.Receipt(ctx, "ann", "one", "c")).To(Equal(receipt("ann", "one", "c")))
}

// everything is one of each that a transaction can store.
func everything(ctx context.Context, tx ports.Tx) error {
	moved := trip("one", "ann")
	moved.Revision = 2
	return errors.Join(tx.SaveDraft(ctx, moved), tx.StoreReceipt(ctx, receipt("ann", "one", "c")), tx.Fence(ctx, "ann", "one", "f"))
}

// untouched expects that nothing of everything is there.
func untouched(g *WithT, db ports.Database) {
	g.Expect(db.Draft(ctx, "one")).To(Equal(trip("one", "ann")))
	_, err := db.Receipt(ctx, "ann", "one", "c")
	g.Expect(err).To(MatchError(ports.ErrNoReceipt))
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		g.Expect(tx.Fenced(ctx, "ann", "f")).To(BeFalse())
		return everything(ctx, tx)
	})).To(Succeed(), "and it goes on working")
}

func undone(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"))
	mine := &ports.ConflictError{Expected: 7, Current: 9}
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		g.Expect(everything(ctx, tx)).To(Succeed())
		return mine
	})).To(BeIdenticalTo(mine))
	untouched(g, db)
}

func panics(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"))
	g.Expect(func() {
		_ = db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
			g.Expect(everything(ctx, tx)).To(Succeed())
			panic("in the middle")
		})
	}).To(PanicWith("in the middle"))
	untouched(g, db)
}

func receipts(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"), trip("two", "ann"))
	r := receipt("ann", "one", "c")
	r.Kind, r.From, r.To = ports.Submit, 1<<40, 1<<40+1
	r.Result = []byte("{ \"b\": 1,  \"a\" : 2.0, \"a\": \"\\u00e9é\"\n}")
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.StoreReceipt(ctx, r) })).To(Succeed())
	g.Expect(db.Receipt(ctx, "ann", "one", "c")).To(Equal(r))
	_, err := db.Receipt(ctx, "ann", "two", "c")
	g.Expect(err).To(MatchError(ports.ErrNoReceipt), "it is of another draft")
	_, err = db.Receipt(ctx, "bob", "one", "c")
	g.Expect(err).To(MatchError(ports.ErrNoReceipt), "it is of another owner")
}

func apart(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"), trip("two", "bob"))
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		return errors.Join(tx.StoreReceipt(ctx, receipt("ann", "one", "c")), tx.StoreReceipt(ctx, receipt("bob", "two", "c")))
	})).To(Succeed(), "the same ID of two owners is two commands")
	g.Expect(db.Receipt(ctx, "ann", "one", "c")).To(Equal(receipt("ann", "one", "c")))
	g.Expect(db.Receipt(ctx, "bob", "two", "c")).To(Equal(receipt("bob", "two", "c")))
}

func twice(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"), trip("two", "ann"))
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		return tx.StoreReceipt(ctx, receipt("ann", "one", "c"))
	})).To(Succeed())
	moved := trip("two", "ann")
	moved.Revision = 2
	err := db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		g.Expect(tx.SaveDraft(ctx, moved)).To(Succeed())
		return tx.StoreReceipt(ctx, receipt("ann", "two", "c"))
	})
	g.Expect(err).To(MatchError(ports.ErrStore))
	g.Expect(db.Draft(ctx, "two")).To(Equal(trip("two", "ann")))
	g.Expect(db.Receipt(ctx, "ann", "one", "c")).To(Equal(receipt("ann", "one", "c")))
}

func fences(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"), trip("two", "ann"))
	for range 2 {
		g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
			return tx.Fence(ctx, "ann", "one", "c")
		})).To(Succeed())
	}
	g.Expect(db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		g.Expect(tx.Fence(ctx, "ann", "two", "c")).To(Succeed(), "also for another draft")
		g.Expect(tx.Fenced(ctx, "ann", "c")).To(BeTrue())
		g.Expect(tx.Fenced(ctx, "bob", "c")).To(BeFalse())
		g.Expect(tx.Fenced(ctx, "ann", "d")).To(BeFalse())
		return nil
	})).To(Succeed())
}

func serial(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	first := with(t, open, trip("one", "ann"))
	servers := []ports.Database{first, open()}
	const each = 10
	var all sync.WaitGroup
	failures := make(chan error, each*len(servers))
	for _, db := range servers {
		for range each {
			all.Go(func() {
				failures <- db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
					d, err := tx.Draft(ctx, "one")
					if err != nil {
						return err
					}
					d.Revision++
					return tx.SaveDraft(ctx, d)
				})
			})
		}
	}
	all.Wait()
	close(failures)
	for err := range failures {
		g.Expect(err).NotTo(HaveOccurred())
	}
	d, err := first.Draft(ctx, "one")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Revision).To(BeEquivalentTo(1+each*len(servers)), "none was built on a revision that another one replaced")
}

// once has the same command arrive at two servers for two drafts: what a transaction
// found missing must stay missing until it ends.
func once(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	first := with(t, open, trip("one", "ann"), trip("two", "ann"))
	second := open()
	for round := range 5 {
		command := fmt.Sprintf("c%d", round)
		var all sync.WaitGroup
		stored := make(chan string, 2)
		failures := make(chan error, 2)
		for draft, db := range map[string]ports.Database{"one": first, "two": second} {
			all.Go(func() {
				failures <- db.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
					_, err := tx.Receipt(ctx, "ann", command)
					if !errors.Is(err, ports.ErrNoReceipt) {
						return err
					}
					stored <- draft
					return tx.StoreReceipt(ctx, receipt("ann", draft, command))
				})
			})
		}
		all.Wait()
		close(failures)
		for err := range failures {
			g.Expect(err).NotTo(HaveOccurred())
		}
		g.Expect(stored).To(HaveLen(1))
		g.Expect(second.Receipt(ctx, "ann", <-stored, command)).NotTo(BeZero())
	}
}

func gone(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"))
	left, leave := context.WithCancel(ctx)
	leave()
	ran := false
	err := db.Change(left, func(ctx context.Context, tx ports.Tx) error {
		ran = true
		return everything(ctx, tx)
	})
	g.Expect(err).To(MatchError(ports.ErrStore))
	g.Expect(ran).To(BeFalse())
	untouched(g, db)
}

func finishes(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"))
	left, leave := context.WithCancel(ctx)
	g.Expect(db.Change(left, func(ctx context.Context, tx ports.Tx) error {
		leave()
		return everything(ctx, tx)
	})).To(Succeed())
	g.Expect(db.Receipt(ctx, "ann", "one", "c")).To(Equal(receipt("ann", "one", "c")))
}

func sessions(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := open()
	began := time.UnixMilli(1_950_000_000_123)
	for _, s := range [][2]string{{"d1", "ann"}, {"d2", "ann"}, {"d3", "ann"}, {"d4", "bob"}} {
		g.Expect(db.AddSession(ctx, s[0], s[1], began)).To(Succeed())
	}
	g.Expect(db.AddSession(ctx, "d1", "eve", began)).To(MatchError(ports.ErrStore), "no session is taken over")
	owner, when, err := db.Session(ctx, "d1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(owner).To(Equal("ann"))
	g.Expect(when).To(BeTemporally("==", began))

	there := func(digest string) bool {
		_, _, err := db.Session(ctx, digest)
		if err != nil {
			g.Expect(err).To(MatchError(ports.ErrNoSession))
		}
		return err == nil
	}
	g.Expect(db.RemoveSession(ctx, "d1")).To(Succeed())
	g.Expect(db.RemoveSession(ctx, "d1")).To(Succeed(), "gone is what was wanted")
	g.Expect([]bool{there("d1"), there("d2"), there("d3"), there("d4")}).To(Equal([]bool{false, true, true, true}))
	g.Expect(db.RemoveSessions(ctx, "ann")).To(Succeed())
	g.Expect([]bool{there("d2"), there("d3"), there("d4")}).To(Equal([]bool{false, false, true}))
}

func texts(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	d := trip("one", "ann")
	d.Destination, d.Purpose, d.Starts, d.Ends = `'; drop table drafts; --`, "née 東京 🧳 \"\\ ?1 $1 :x\n\t ", "", " "
	db := with(t, open, d)
	g.Expect(db.Draft(ctx, "one")).To(Equal(d))
	g.Expect(db.Drafts(ctx, "ann")).To(Equal([]ports.Draft{d}))
}

func closed(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"))
	g.Expect(db.Close()).To(Succeed())
	g.Expect(db.Change(ctx, everything)).To(MatchError(ports.ErrStore))
	_, err := db.Draft(ctx, "one")
	g.Expect(err).To(MatchError(ports.ErrStore))
	_, err = db.Drafts(ctx, "ann")
	g.Expect(err).To(MatchError(ports.ErrStore))
	_, err = db.Receipt(ctx, "ann", "one", "c")
	g.Expect(err).To(MatchError(ports.ErrStore))
	_, _, err = db.Session(ctx, "d")
	g.Expect(err).To(MatchError(ports.ErrStore))
	g.Expect(db.Plant(ctx, []ports.Draft{trip("two", "ann")})).To(MatchError(ports.ErrStore))
}

func reopened(t *testing.T, open func() ports.Database) {
	g := NewWithT(t)
	db := with(t, open, trip("one", "ann"))
	g.Expect(db.Change(ctx, everything)).To(Succeed())
	g.Expect(db.AddSession(ctx, "d", "ann", time.UnixMilli(5))).To(Succeed())
	g.Expect(db.Close()).To(Succeed())

	again := with(t, open, trip("one", "ann"))
	d, err := again.Draft(ctx, "one")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Revision).To(BeEquivalentTo(2))
	g.Expect(again.Receipt(ctx, "ann", "one", "c")).To(Equal(receipt("ann", "one", "c")))
	g.Expect(again.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		g.Expect(tx.Fenced(ctx, "ann", "f")).To(BeTrue())
		return nil
	})).To(Succeed())
	owner, _, err := again.Session(ctx, "d")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(owner).To(Equal("ann"))
}
