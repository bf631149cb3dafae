package helper

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reference/sidecar"
	"github.com/holdfast-mcp/holdfast/reference/toolspec"
)

// WR-34: what is turned down for good is counted, and nothing else is.
func TestRefusalsAreCounted(t *testing.T) {
	b := newBench(t)
	b.work.ports.Refusals = b.store
	item := b.start("t", "k").ItemID
	permanent := func() int { return b.numbers().Permanent }
	asked := func(tool string, a args) {
		b.Helper()
		raw, err := json.Marshal(a)
		b.Expect(err).NotTo(HaveOccurred())
		spec := b.specs[tool]
		b.Expect(b.work.countRefusal(b.Context(), spec, b.work.call(b.Context(), spec, raw))).To(Succeed())
	}
	for _, tt := range []struct {
		name, tool string
		args       args
		by         int
	}{
		{"invalid arguments", toolspec.WorkStatus, args{"item_id": item, "status": "nowhere", "idempotency_key": "s"}, 1},
		{"an ID of nobody", toolspec.WorkNote, args{"item_id": "nobody", "text": "n", "idempotency_key": "n"}, 1},
		{"a path that leads out", toolspec.WorkNote, args{"item_id": item, "text": "n", "attachment": "../x", "idempotency_key": "p"}, 1},
		{"a tool that only reads", toolspec.WorkGet, args{"item_id": "nobody"}, 0},
	} {
		before := permanent()
		asked(tt.tool, tt.args)
		b.Expect(permanent()-before).To(Equal(tt.by), tt.name)
	}
	before := b.numbers()
	accepted := b.note(item, "accepted")
	b.Expect(b.work.countRefusal(b.Context(), b.specs[toolspec.WorkNote], Answer{Failure: &sidecar.Failure{Class: sidecar.Transient}})).To(Succeed())
	b.Expect(accepted.isError()).To(BeFalse())
	b.Expect(b.numbers().Permanent).To(Equal(before.Permanent))
}
