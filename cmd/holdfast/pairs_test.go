package main

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/versions"
)

// The one table of pairs, which docs/sidecar.md shows, is the one that is tried.
func TestEveryPairOfVersionsHasItsSpec(t *testing.T) {
	g := NewWithT(t)
	titles := map[string]string{}
	for _, s := range tests() {
		titles[s.ID] = s.Title
	}
	for _, p := range versions.Pairs() {
		id := fmt.Sprintf("WR-31/helper-%d-app-%d", p.Helper, p.App)
		g.Expect(titles).To(HaveKeyWithValue(id, HaveSuffix(": "+string(p.Outcome))))
	}
	g.Expect(versions.Current*versions.Current).To(Equal(len(versions.Pairs())), "a new version needs new specs in suites/workrecords/versions.go")
}
