package trips

import (
	"context"
	"errors"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/trips/commands"
	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
	"github.com/holdfast-mcp/holdfast/reference/trips/sessions"
)

// The rules are worth something only if their tests would miss them: each defect
// here is a decorator of one port, and shows over HTTP.
func TestEachPortCarriesItsRule(t *testing.T) {
	bos := update("c1", 1, `{"destination": "BOS"}`)
	for _, c := range []struct {
		name   string
		defect func(*Ports)
		shows  func(g *WithT, w *world, s *server)
	}{
		{"a replay moves the revision", func(p *Ports) { p.Store = movingStore{p.Store} }, func(g *WithT, w *world, s *server) {
			ann := s.as("ann")
			g.Expect(ann.patch("trip-1", bos)).To(Equal(ann.patch("trip-1", bos)))
			g.Expect(ann.draft("trip-1").Revision).To(BeEquivalentTo(3))
		}},
		{"the revision is checked before the identity", func(p *Ports) {
			r := commands.Rules(p.Access)
			r[2], r[4] = r[4], r[2]
			p.Rules = r
		}, func(g *WithT, w *world, s *server) {
			ann := s.as("ann")
			g.Expect(ann.patch("trip-1", bos).status).To(Equal(200))
			g.Expect(ann.patch("trip-1", bos).is()).To(Equal("409 revision_conflict"))
		}},
		{"a reused ID is accepted", func(p *Ports) { p.Digest = func(c ports.Command) string { return "any" } }, func(g *WithT, w *world, s *server) {
			ann := s.as("ann")
			g.Expect(ann.patch("trip-1", bos).status).To(Equal(200))
			g.Expect(ann.patch("trip-1", update("c1", 1, `{"destination": "LAX"}`)).status).To(Equal(200))
		}},
		{"another user's receipt is disclosed", func(p *Ports) { p.Store = tellingStore{p.Store} }, func(g *WithT, w *world, s *server) {
			told := s.as("ann").patch("trip-1", bos)
			g.Expect(s.as("bob").lookup("trip-1", "c1")).To(Equal(told))
			g.Expect(s.as("bob").do("GET", "/api/trips/trip-1", "").is()).To(Equal("404 not_found"), "and nothing more")
		}},
		{"a lookup needs no session", func(p *Ports) { p.Gate = openGate{sessions.Gate{Sessions: p.Sessions}, p.Store} }, func(g *WithT, w *world, s *server) {
			told := s.as("ann").patch("trip-1", bos)
			g.Expect(s.caller().lookup("trip-1", "c1")).To(Equal(told))
			g.Expect(s.caller().do("GET", "/api/trips/trip-1", "").is()).To(Equal("401 signed_out"))
			g.Expect(s.caller().patch("trip-1", bos).is()).To(Equal("401 signed_out"))
		}},
		{"a missing expectedRevision is whichever it is", func(p *Ports) {
			r := commands.Rules(p.Access)
			r[0].Check = func(ctx context.Context, tx ports.Tx, a *ports.Attempt) error {
				d, err := tx.Draft(ctx, a.Draft)
				if a.ExpectedRevision == nil {
					a.ExpectedRevision = &d.Revision
				}
				return err
			}
			p.Rules = r
		}, func(g *WithT, w *world, s *server) {
			g.Expect(s.as("ann").patch("trip-1", `{"commandId": "c1", "patch": {"destination": "BOS"}}`).status).To(Equal(200))
		}},
		{"a fence is ignored", func(p *Ports) {
			r := commands.Rules(p.Access)
			p.Rules = append(r[:3], r[4:]...)
		}, func(g *WithT, w *world, s *server) {
			ann := s.as("ann")
			g.Expect(ann.fence("trip-1", "c1").body).To(ContainSubstring("not_applied"))
			g.Expect(ann.patch("trip-1", bos).status).To(Equal(200))
		}},
		{"401 is told as 500", func(p *Ports) { p.Refusals = hiding401{p.Refusals} }, func(g *WithT, w *world, s *server) {
			g.Expect(s.caller().patch("trip-1", bos).status).To(Equal(500))
		}},
		{"a submission leaves no receipt", func(p *Ports) { p.Store = silentStore{p.Store} }, func(g *WithT, w *world, s *server) {
			ann := s.as("ann")
			g.Expect(ann.patch("trip-1", bos).status).To(Equal(200))
			g.Expect(ann.lookup("trip-1", "c1").status).To(Equal(200))
			g.Expect(ann.submit("trip-1", submit("c2", 2)).status).To(Equal(200))
			g.Expect(ann.lookup("trip-1", "c2").is()).To(Equal("404 no_receipt"))
		}},
		{"another user's draft is shown", func(p *Ports) { p.Access = glassAccess{p.Access} }, func(g *WithT, w *world, s *server) {
			g.Expect(s.as("bob").draft("trip-1").Destination).To(Equal("JFK"))
			g.Expect(s.as("bob").patch("trip-1", bos).is()).To(Equal("404 not_found"))
		}},
		{"the receipt is another transaction", func(p *Ports) { p.Store = &laterStore{Store: p.Store} }, func(g *WithT, w *world, s *server) {
			ann := s.as("ann")
			g.Expect(ann.patch("trip-1", bos).is()).To(Equal("503 unavailable"), "the second transaction fails")
			g.Expect(ann.draft("trip-1").Revision).To(BeEquivalentTo(2))
			g.Expect(ann.lookup("trip-1", "c1").is()).To(Equal("404 no_receipt"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, w, s := begins(t, c.defect)
			c.shows(g, w, s)
		})
	}
}

type movingStore struct{ ports.Store }

func (s movingStore) Change(ctx context.Context, do func(context.Context, ports.Tx) error) error {
	return s.Store.Change(ctx, func(ctx context.Context, tx ports.Tx) error { return do(ctx, movingTx{tx}) })
}

type movingTx struct{ ports.Tx }

func (t movingTx) Receipt(ctx context.Context, owner, command string) (ports.Receipt, error) {
	r, err := t.Tx.Receipt(ctx, owner, command)
	if err != nil {
		return r, err
	}
	d, err := t.Draft(ctx, r.Draft)
	d.Revision++
	return r, errors.Join(err, t.SaveDraft(ctx, d))
}

// tellingStore looks a receipt up under the draft's owner, not the caller's.
type tellingStore struct{ ports.Store }

func (s tellingStore) Receipt(ctx context.Context, owner, draft, command string) (ports.Receipt, error) {
	if d, err := s.Draft(ctx, draft); err == nil {
		owner = d.Owner
	}
	return s.Store.Receipt(ctx, owner, draft, command)
}

type openGate struct {
	ports.Gate
	drafts ports.Store
}

func (o openGate) Caller(r *http.Request) (string, error) {
	if r.Method == http.MethodGet && r.PathValue("command") != "" {
		d, err := o.drafts.Draft(r.Context(), r.PathValue("draft"))
		return d.Owner, err
	}
	return o.Gate.Caller(r)
}

type hiding401 struct{ ports.Refusals }

func (h hiding401) Of(err error) ports.Refusal {
	r := h.Refusals.Of(err)
	if r.Status == http.StatusUnauthorized {
		r.Status = http.StatusInternalServerError
	}
	return r
}

type silentStore struct{ ports.Store }

func (s silentStore) Change(ctx context.Context, do func(context.Context, ports.Tx) error) error {
	return s.Store.Change(ctx, func(ctx context.Context, tx ports.Tx) error { return do(ctx, silentTx{tx}) })
}

type silentTx struct{ ports.Tx }

func (t silentTx) StoreReceipt(ctx context.Context, r ports.Receipt) error {
	if r.Kind == ports.Submit {
		return nil
	}
	return t.Tx.StoreReceipt(ctx, r)
}

type glassAccess struct{ ports.Access }

func (glassAccess) MayRead(string, ports.Draft) bool { return true }

// laterStore stores receipts in a transaction of their own, which fails here.
type laterStore struct {
	ports.Store
	kept []ports.Receipt
}

func (s *laterStore) Change(ctx context.Context, do func(context.Context, ports.Tx) error) error {
	err := s.Store.Change(ctx, func(ctx context.Context, tx ports.Tx) error { return do(ctx, laterTx{tx, s}) })
	if err != nil || len(s.kept) == 0 {
		return err
	}
	return s.Store.Change(ctx, func(ctx context.Context, tx ports.Tx) error {
		return errors.Join(tx.StoreReceipt(ctx, s.kept[0]), ports.ErrStore)
	})
}

type laterTx struct {
	ports.Tx
	of *laterStore
}

func (t laterTx) StoreReceipt(_ context.Context, r ports.Receipt) error {
	t.of.kept = append(t.of.kept, r)
	return nil
}
