package sessions

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/trips/ports"
)

// rows keeps sessions in memory.
type rows map[string]row

type row struct {
	owner string
	began time.Time
}

func (r rows) AddSession(_ context.Context, digest, owner string, began time.Time) error {
	r[digest] = row{owner, began}
	return nil
}

func (r rows) Session(_ context.Context, digest string) (string, time.Time, error) {
	s, there := r[digest]
	if !there {
		return "", time.Time{}, ports.ErrNoSession
	}
	return s.owner, s.began, nil
}

func (r rows) RemoveSession(_ context.Context, digest string) error {
	delete(r, digest)
	return nil
}

func (r rows) RemoveSessions(context.Context, string) error { return nil }

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestASessionLastsAsLongAsItsCookie(t *testing.T) {
	g := NewWithT(t)
	c := &clock{time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)}
	s := Sessions{rows{}, c}
	token, err := s.Begin(t.Context(), "ann")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Bake(token).MaxAge).To(BeEquivalentTo(Lifetime / time.Second))

	c.now = c.now.Add(Lifetime - time.Millisecond)
	g.Expect(s.Whose(t.Context(), token)).To(Equal("ann"))
	c.now = c.now.Add(time.Millisecond)
	_, err = s.Whose(t.Context(), token)
	g.Expect(err).To(MatchError(ports.ErrSignedOut))
}

func TestTheRowsHoldNoToken(t *testing.T) {
	g := NewWithT(t)
	kept := rows{}
	s := Sessions{kept, &clock{}}
	token, err := s.Begin(t.Context(), "ann")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kept).To(HaveKey(Digest(token)))
	g.Expect(kept).NotTo(HaveKey(token))
	_, err = s.Whose(t.Context(), Digest(token))
	g.Expect(err).To(MatchError(ports.ErrSignedOut), "what is stored opens nothing")
	g.Expect(s.End(t.Context(), token)).To(Succeed())
	g.Expect(kept).To(BeEmpty())
}
