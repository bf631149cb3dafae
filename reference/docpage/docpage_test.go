package docpage

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// told is a test that fails in silence, so that its words can be looked at.
type told struct {
	testing.TB
	said []string
}

func (t *told) Helper()      {}
func (t *told) Name() string { return "TestX" }
func (t *told) Errorf(format string, args ...any) {
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

func TestAPageIsHeldToItsParts(t *testing.T) {
	const page = "# A page\n\n<!-- begin one -->\nold\n<!-- end -->\n\nby hand\n\n<!-- begin two b -->\n<!-- end -->\n"
	const current = "# A page\n\n<!-- begin one -->\n1\n<!-- end -->\n\nby hand\n\n<!-- begin two b -->\n2\n<!-- end -->\n"
	both := map[string]string{"one": "1", "two b": "2"}
	for name, c := range map[string]struct {
		page   string
		parts  map[string]string
		update bool
		said   int
		after  string
	}{
		"current":              {current, both, false, 0, current},
		"out of date":          {page, both, false, 1, page},
		"out of date, updated": {page, both, true, 0, current},
		"a part too many":      {current, map[string]string{"one": "1"}, false, 1, current},
		"a part is lacking":    {current, map[string]string{"one": "1", "two b": "2", "three": "3"}, false, 1, current},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			file := filepath.Join(t.TempDir(), "page.md")
			g.Expect(os.WriteFile(file, []byte(c.page), 0o644)).To(Succeed())
			before := *update
			*update = c.update
			defer func() { *update = before }()
			of := &told{TB: t}
			Hold(of, file, c.parts)
			g.Expect(of.said).To(HaveLen(c.said), "%q", of.said)
			after, err := os.ReadFile(file)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(after)).To(Equal(c.after))
		})
	}
}

func TestTablesAndBlocks(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Table([]string{"a", "b"}, [][]string{{"1", "2"}, {"3", "4"}})).To(Equal("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"))
	g.Expect(Block("sql", "SELECT 1;\n\n")).To(Equal("```sql\nSELECT 1;\n```"))
}

func TestOneArrowHasAllThatLeadsAlongIt(t *testing.T) {
	NewWithT(t).Expect(Arrows([]Step{{"", "begun", "a"}, {"a", "on", "b"}, {"b", "back", "a"}, {"a", "over", "b"}})).To(Equal(
		"    [*] --> a: begun\n    a --> b: on, over\n    b --> a: back\n"))
}
