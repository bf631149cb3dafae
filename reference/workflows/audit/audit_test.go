package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/workflows/ports"
)

// Lines of several writers stand whole beside each other.
func TestLinesDoNotMix(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "audit", "audit.jsonl")
	errs := make(chan error, 8)
	for range 8 {
		l, err := Open(path) // as a process of its own would
		g.Expect(err).NotTo(HaveOccurred())
		go func() {
			var all error
			for step := range 25 {
				all = errors.Join(all, l.Record(context.Background(), ports.AuditRecord{Via: "step", Tool: "publish", Step: step + 1, Decision: "allowed"}))
			}
			errs <- all
		}()
	}
	for range 8 {
		g.Expect(<-errs).To(Succeed())
	}
	raw, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	seen := map[int]int{}
	for line := range bytes.Lines(raw) {
		var r ports.AuditRecord
		g.Expect(json.Unmarshal(line, &r)).To(Succeed(), "%s", line)
		seen[r.Step]++
	}
	g.Expect(seen).To(HaveLen(25))
	for _, n := range seen {
		g.Expect(n).To(Equal(8))
	}
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
}

func TestALogThatIsALinkIsNotWritten(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	l, err := Open(filepath.Join(dir, "audit", "audit.jsonl"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "audit", "audit.jsonl"))).To(Succeed())
	g.Expect(l.Record(t.Context(), ports.AuditRecord{})).To(MatchError(ports.ErrNotPrivate))
	_, err = os.Lstat(filepath.Join(dir, "elsewhere"))
	g.Expect(err).To(MatchError(os.ErrNotExist))
}
