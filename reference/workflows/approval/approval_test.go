package approval

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

type ids struct{}

func (ids) NewOperation() string    { return "" }
func (ids) NewConfirmation() string { return "cf_" + strings.ToLower(rand.Text()) }

func opened(t *testing.T) (*Store, *clock) {
	t.Helper()
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s, err := Open(filepath.Join(t.TempDir(), "approvals"), c, ids{})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func TestAConfirmationWorksOnce(t *testing.T) {
	g := NewWithT(t)
	s, _ := opened(t)
	c, err := s.Issue(t.Context(), "hash", time.Minute)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c).To(Equal(ports.Confirmation{Hash: "hash", ID: c.ID, Expires: "2026-01-01T00:01:00Z"}))
	g.Expect(s.Use(t.Context(), c.ID, "another", time.Minute)).To(MatchError(ports.ErrApproval))
	g.Expect(s.Use(t.Context(), c.ID, "hash", time.Minute)).To(Succeed(), "a wrong hash does not use it up")
	g.Expect(s.Use(t.Context(), c.ID, "hash", time.Minute)).To(MatchError(ports.ErrApproval))
	left, err := os.ReadDir(s.folder.Path())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
}

func TestAConfirmationExpires(t *testing.T) {
	for name, c := range map[string]struct {
		passed, ttl time.Duration // since the issue, and by the policy of now
		works       bool
	}{
		"at once":                      {0, time.Minute, true},
		"a moment before":              {time.Minute - 1, time.Minute, true},
		"when its time is over":        {time.Minute, time.Minute, false},
		"the policy permits more now":  {time.Minute, time.Hour, false},
		"the policy permits less now":  {30 * time.Second, 20 * time.Second, false},
		"the policy permits none":      {0, 0, false},
		"the policy permits still all": {30 * time.Second, 40 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, clock := opened(t)
			issued, err := s.Issue(t.Context(), "hash", time.Minute)
			g.Expect(err).NotTo(HaveOccurred())
			clock.now = clock.now.Add(c.passed)
			err = s.Use(t.Context(), issued.ID, "hash", c.ttl)
			if c.works {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ports.ErrApproval))
			}
		})
	}
}

func TestOfManyCallersOneUsesIt(t *testing.T) {
	g := NewWithT(t)
	s, _ := opened(t)
	c, err := s.Issue(t.Context(), "hash", time.Minute)
	g.Expect(err).NotTo(HaveOccurred())
	errs := make(chan error, 32)
	for range 32 {
		go func() { errs <- s.Use(context.Background(), c.ID, "hash", time.Minute) }()
	}
	used := 0
	for range 32 {
		if err := <-errs; err == nil {
			used++
		} else {
			g.Expect(err).To(MatchError(ports.ErrApproval))
		}
	}
	g.Expect(used).To(Equal(1))
}

func TestNothingElseIsAConfirmation(t *testing.T) {
	g := NewWithT(t)
	s, _ := opened(t)
	c, err := s.Issue(t.Context(), "hash", time.Minute)
	g.Expect(err).NotTo(HaveOccurred())
	for _, id := range []string{"", "cf_", "../approvals/" + c.ID, c.ID + ".json", strings.ToUpper(c.ID), c.ID + "\n", "cf_" + strings.Repeat("a", 26)} {
		g.Expect(s.Use(t.Context(), id, "hash", time.Minute)).To(MatchError(ports.ErrApproval), "%q", id)
	}
	g.Expect(os.WriteFile(filepath.Join(s.folder.Path(), c.ID+".json"), []byte("torn"), 0o600)).To(Succeed())
	g.Expect(s.Use(t.Context(), c.ID, "hash", time.Minute)).To(MatchError(ports.ErrApproval), "nor a damaged one")
}
