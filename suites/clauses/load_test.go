package clauses

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"
)

const goodSet = `
version: t
profiles: [{name: durability, prefix: DU, title: T, summary: S}]
words: [{word: helper, meaning: the server}]
`

const goodClauses = `
profile: durability
clauses:
  - id: DU-01
    level: must
    title: T
    text: X
    sources: [{kind: contract}]
    needs: [tool:write]
    breaks: B
    see: [DU-02]
  - id: DU-02
    level: must
    title: T
    text: X
    sources: [{kind: mcp-must, revision: 2025-06-18.., note: tools}]
    needs: [tool:read]
    breaks: B
    see: [DU-01]
    parts:
      - {name: a, level: must, text: X, sources: [{kind: mcp-must, note: tools}]}
      - {name: b, level: should, text: X, sources: [{kind: mcp-must, note: tools}], needs: ["files:store"]}
`

func set(header, clauses string) fs.FS {
	return fstest.MapFS{
		"t/set.yaml":        {Data: []byte(header)},
		"t/durability.yaml": {Data: []byte(clauses)},
	}
}

func TestAGoodSetLoads(t *testing.T) {
	g := NewWithT(t)
	c, err := load(set(goodSet, goodClauses), "t")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.All()).To(HaveLen(2))
}

func TestABadSetIsRefusedByName(t *testing.T) {
	for name, tc := range map[string]struct{ old, new, says string }{
		"unknown key":         {"    title: T\n", "    title: T\n    titel: T\n", `unknown field "titel"`},
		"repeated key":        {"    title: T\n", "    title: T\n    title: U\n", `"title" already defined`},
		"position":            {"    title: T\n", "    title: T\n    titel: T\n", `[7:5]`},
		"wrong type":          {"needs: [tool:write]", "needs: {a: b}", "t/durability.yaml"},
		"gap":                 {"id: DU-02", "id: DU-03", `has ID "DU-03"; expected "DU-02"`},
		"other prefix":        {"id: DU-01", "id: WR-01", `expected "DU-01"`},
		"wrong profile":       {"profile: durability", "profile: receipts", `says profile "receipts"; expected "durability"`},
		"level":               {"level: must\n    title", "level: maybe\n    title", `DU-01: level "maybe" is neither must nor should`},
		"no title":            {"title: T", "title: ''", "DU-01: title is empty"},
		"no text":             {"text: X", "text: ''", "DU-01: text is empty"},
		"no breaks":           {"breaks: B", "breaks: ''", "DU-01: breaks is empty"},
		"no needs":            {"needs: [tool:write]", "needs: []", "DU-01: needs is empty"},
		"need not a word":     {"tool:write", "tool:wrote", `DU-01: need "tool:wrote" is not in the vocabulary`},
		"need twice":          {"[tool:write]", "[tool:write, tool:write]", `DU-01: need "tool:write" is named twice`},
		"need of a part":      {`["files:store"]`, `["files:shop"]`, `DU-02: part "b": need "files:shop" is not in the vocabulary`},
		"no source":           {"[{kind: contract}]", "[]", "DU-01: it has no source"},
		"source kind":         {"{kind: contract}", "{kind: rumour}", `DU-01: source kind "rumour" is none of`},
		"source without note": {"2025-06-18.., note: tools", "2025-06-18..", "DU-02: source mcp-must has no note"},
		"revision":            {"revision: 2025-06-18..", "revision: june", `DU-02: source revision "june" is none of the forms`},
		"empty range":         {"revision: 2025-06-18..", "revision: '..'", `DU-02: source revision ".." is none of the forms`},
		"backward range":      {"revision: 2025-06-18..", "revision: 2025-06-18..2024-11-05", "ends before it begins"},
		"see of no clause":    {"see: [DU-02]", "see: [DU-09]", `DU-01: see names "DU-09", which is no clause`},
		"see of itself":       {"see: [DU-02]", "see: [DU-01]", "DU-01: see names the clause itself"},
		"see twice":           {"see: [DU-02]", "see: [DU-02, DU-02]", "DU-01: see names DU-02 twice"},
		"see of nothing":      {"see: [DU-02]", "see: []", "DU-01: see is empty"},
		"two parts one name":  {"name: b", "name: a", `DU-02: two parts are named "a"`},
		"part without text":   {"level: should, text: X", "level: should, text: ''", `DU-02: part "b" lacks name or text`},
		"parts all should":    {"name: a, level: must", "name: a, level: should", "DU-02: level is must, but its parts say otherwise"},
		"part's own source":   {"text: X, sources: [{kind: mcp-must, note: tools}]}", "text: X, sources: [{kind: contract}]}", `DU-02: part "a" has source contract, which the clause does not list`},
		"no clauses":          {goodClauses, "profile: durability\nclauses: []\n", "it has no clause"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bad := strings.Replace(goodClauses, tc.old, tc.new, 1)
			g.Expect(bad).NotTo(Equal(goodClauses), "the case changes nothing")
			_, err := load(set(goodSet, bad), "t")
			g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
		})
	}
}

func TestABadHeaderIsRefused(t *testing.T) {
	g := NewWithT(t)
	_, err := load(set(strings.Replace(goodSet, "version: t", "version: u", 1), goodClauses), "t")
	g.Expect(err).To(MatchError(ContainSubstring(`set.yaml says version "u"; a set is named like its folder`)))

	_, err = load(set(strings.Replace(goodSet, "title: T, ", "", 1), goodClauses), "t")
	g.Expect(err).To(MatchError(ContainSubstring(`profile "durability" lacks name, prefix, title or summary`)))

	_, err = load(set(strings.Replace(goodSet, "the server", "''", 1), goodClauses), "t")
	g.Expect(err).To(MatchError(ContainSubstring(`word "helper" has no meaning`)))

	_, err = load(fstest.MapFS{}, "t")
	g.Expect(err).To(MatchError(ContainSubstring("reading t/set.yaml")))

	stray := set(goodSet, goodClauses).(fstest.MapFS)
	stray["t/notes.yaml"] = &fstest.MapFile{Data: []byte("a: b")}
	_, err = load(stray, "t")
	g.Expect(err).To(MatchError(ContainSubstring("has 3 files (t/durability.yaml, t/notes.yaml, t/set.yaml); expected set.yaml and one a profile, 2 in all")))
}

func TestEveryFaultIsReportedAtOnce(t *testing.T) {
	g := NewWithT(t)
	bad := strings.NewReplacer("title: T", "title: ''", "breaks: B", "breaks: ''").Replace(goodClauses)
	_, err := load(set(goodSet, bad), "t")
	for _, says := range []string{"DU-01: title", "DU-01: breaks", "DU-02: title", "DU-02: breaks"} {
		g.Expect(err).To(MatchError(ContainSubstring(says)))
	}
}

func TestTheDigestCoversEveryByteAndItsFile(t *testing.T) {
	g := NewWithT(t)
	digest := func(files fs.FS) string {
		d, err := digestOf(files, "t", 2)
		g.Expect(err).NotTo(HaveOccurred())
		return d
	}
	base := digest(set("ab", "cd"))
	g.Expect(digest(set("ab", "cd"))).To(Equal(base))
	g.Expect(digest(set("ab", "ce"))).NotTo(Equal(base))
	g.Expect(digest(set("abc", "d"))).NotTo(Equal(base), "bytes moved to another file")
}
