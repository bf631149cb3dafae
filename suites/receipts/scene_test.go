package receipts

import (
	"testing"

	. "github.com/onsi/gomega"
)

// A target file whose probe does not show the draft is no fault of the editor's.
func TestWithoutAStoredRevisionThereIsADoubt(t *testing.T) {
	row := func(revision any) map[string]any { return map[string]any{"revision": revision} }
	for _, c := range []struct {
		rows  []map[string]any
		want  int
		doubt string
	}{
		{[]map[string]any{row(float64(3))}, 3, ""},
		{[]map[string]any{row(int64(1))}, 1, ""},
		{nil, 0, `probe draft shows 0 rows of draft "d", expected the one that is stored; check drafts and probes.draft of profiles.receipts`},
		{[]map[string]any{row(int64(1)), row(int64(1))}, 0, `probe draft shows 2 rows of draft "d", expected the one that is stored; check drafts and probes.draft of profiles.receipts`},
		{[]map[string]any{{}}, 0, `probe draft shows of draft "d" the revision <nil>, expected a number from 1; check probes.draft of profiles.receipts`},
		{[]map[string]any{row("three")}, 0, `probe draft shows of draft "d" the revision three, expected a number from 1; check probes.draft of profiles.receipts`},
	} {
		revision, doubt := storedRevision("d", c.rows)
		g := NewWithT(t)
		g.Expect(revision).To(Equal(c.want), "%v", c.rows)
		g.Expect(doubt).To(Equal(c.doubt), "%v", c.rows)
	}
}
