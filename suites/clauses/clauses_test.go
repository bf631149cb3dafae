package clauses

import (
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// contract is what the catalogue must hold, written down a second time.
var contract = []struct {
	profile, prefix string
	count           int
}{
	{"work-records", "WR", 42},
	{"receipts", "RC", 29},
	{"workflows", "WF", 32},
	{"durability", "DU", 24},
}

var (
	shoulds  = []string{"RC-28", "WF-29", "DU-12", "DU-17", "DU-19", "DU-23"}
	stricter = []string{"RC-03", "RC-12", "WF-02", "WF-03", "WF-07", "WF-23", "WF-28"}
	// controlled are the clauses for which the design asks for a positive
	// control by name; the catalogue marks more.
	controlled = []string{"WR-18", "WR-28", "WR-29", "WR-38", "RC-08", "RC-09", "RC-12",
		"WF-08", "WF-15", "WF-23", "WF-24", "DU-07", "DU-20"}
	// sourced are the clauses that rest on more than our own word.
	sourced = map[string][]string{
		"DU-06": {OwnClaim}, "DU-07": {OwnClaim}, "DU-15": {OwnClaim},
		"DU-08": {MCPMust, Contract},
		"DU-09": {MCPMust, MCPMust, MCPShould, Contract},
		"DU-13": {MCPShould, Contract},
		"DU-14": {MCPMust}, "DU-16": {MCPMust},
	}
)

func TestTheEmbeddedSetLoads(t *testing.T) {
	g := NewWithT(t)
	c, err := load(embedded, current)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Current().All()).To(Equal(c.All()))
	g.Expect(Current().Version).To(Equal("0.1-draft"))
	g.Expect(Current().Digest).To(MatchRegexp(`^[0-9a-f]{64}$`))
}

func TestEveryClauseIsThereInContractOrder(t *testing.T) {
	g := NewWithT(t)
	var want, got, profiles []string
	for _, p := range contract {
		profiles = append(profiles, p.profile)
		for n := 1; n <= p.count; n++ {
			want = append(want, fmt.Sprintf("%s-%02d %s", p.prefix, n, p.profile))
		}
	}
	for _, c := range Current().All() {
		got = append(got, c.ID+" "+c.Profile)
	}
	g.Expect(got).To(Equal(want))
	g.Expect(Current().Profiles()).To(Equal(profiles))
	for _, p := range contract {
		profile, ok := Current().Profile(p.profile)
		g.Expect(ok).To(BeTrue())
		g.Expect(profile.Prefix).To(Equal(p.prefix))
	}
	_, ok := Current().Profile("tasks")
	g.Expect(ok).To(BeFalse())
}

func TestLevelsSourcesAndMarksAreTheContracts(t *testing.T) {
	g := NewWithT(t)
	var gotShoulds, gotStricter []string
	for _, c := range Current().All() {
		if c.Level == Should {
			gotShoulds = append(gotShoulds, c.ID)
		} else {
			g.Expect(c.Level).To(Equal(Must), c.ID)
		}
		if c.Stricter {
			gotStricter = append(gotStricter, c.ID)
		}
		if slices.Contains(controlled, c.ID) {
			g.Expect(c.PositiveControl).To(BeTrue(), c.ID)
		}
		var kinds []string
		for _, s := range c.Sources {
			kinds = append(kinds, s.Kind)
		}
		want, ok := sourced[c.ID]
		if !ok {
			want = []string{Contract}
		}
		g.Expect(kinds).To(Equal(want), c.ID)
	}
	g.Expect(gotShoulds).To(Equal(shoulds))
	g.Expect(gotStricter).To(Equal(stricter))
}

func TestPartsCarryTheSecondLevelOrSource(t *testing.T) {
	g := NewWithT(t)
	divided := map[string]map[string]Level{}
	for _, c := range Current().All() {
		for _, p := range c.Parts {
			if divided[c.ID] == nil {
				divided[c.ID] = map[string]Level{}
			}
			divided[c.ID][p.Name] = p.Level
		}
	}
	g.Expect(divided).To(Equal(map[string]map[string]Level{
		"DU-07": {"read-back": Must, "bytes": Should},
		"DU-08": {"refused": Must, "no-effect": Must, "form": Must},
		"DU-09": {"results": Must, "restart": Must, "connections": Must, "order": Should},
	}))
	du07, _ := Current().Get("DU-07")
	bytes, ok := du07.Part("bytes")
	g.Expect(ok).To(BeTrue())
	g.Expect(bytes.Needs).To(ConsistOf("files:store"))
	_, ok = du07.Part("mood")
	g.Expect(ok).To(BeFalse())
}

func TestOnlyAnApplyingSourceMakesAnMCPViolation(t *testing.T) {
	for _, tc := range []struct{ id, part, revision, want string }{
		{"DU-13", "", "2025-11-25", Contract},
		{"DU-13", "", "2026-07-28", MCPShould},
		{"DU-09", "connections", "2025-11-25", Contract},
		{"DU-09", "connections", "2026-07-28", MCPMust},
		{"DU-09", "restart", "2026-07-28", Contract},
		{"DU-09", "order", "2025-06-18", ""},
		{"DU-08", "no-effect", "2026-07-28", Contract},
		{"DU-16", "", "2025-06-18", MCPMust},
		{"DU-16", "", "2025-11-25", MCPMust},
		{"DU-16", "", "2026-07-28", ""},
		{"DU-14", "", "2024-11-05", MCPMust},
		{"WR-01", "", "2026-07-28", Contract},
	} {
		t.Run(tc.id+tc.part+"@"+tc.revision, func(t *testing.T) {
			g := NewWithT(t)
			c, ok := Current().Get(tc.id)
			g.Expect(ok).To(BeTrue())
			source, ok := c.Source(tc.revision)
			if tc.part != "" {
				p, found := c.Part(tc.part)
				g.Expect(found).To(BeTrue())
				source, ok = p.Source(tc.revision)
			}
			g.Expect(ok).To(Equal(tc.want != ""))
			g.Expect(source.Kind).To(Equal(tc.want))
		})
	}
}

func TestSourcesReadWell(t *testing.T) {
	g := NewWithT(t)
	for want, s := range map[string]Source{
		"contract":                               {Kind: Contract},
		"contract until 2025-11-25":              {Kind: Contract, Revision: "..2025-11-25"},
		"mcp-must on 2025-06-18 (here)":          {Kind: MCPMust, Revision: "2025-06-18", Note: "here"},
		"mcp-should from 2026-07-28 (there)":     {Kind: MCPShould, Revision: "2026-07-28..", Note: "there"},
		"mcp-must from 2025-06-18 to 2025-11-25": {Kind: MCPMust, Revision: "2025-06-18..2025-11-25"},
	} {
		g.Expect(s.String()).To(Equal(want))
	}
}

func TestACallerCannotChangeTheCatalogue(t *testing.T) {
	g := NewWithT(t)
	c, _ := Current().Get("DU-07")
	c.Needs[0], c.See[0], c.Sources[0].Kind, c.Parts[0].Name, c.Parts[1].Needs[0] = "x", "x", "x", "x", "x"
	Current().All()[0].Needs[0] = "x"
	Vocabulary()[0].Name = "x"
	again, _ := Current().Get("DU-07")
	g.Expect(again.Needs).NotTo(ContainElement("x"))
	g.Expect(again.See).NotTo(ContainElement("x"))
	g.Expect(again.Sources[0].Kind).To(Equal(OwnClaim))
	g.Expect(again.Parts[0].Name).To(Equal("read-back"))
	g.Expect(again.Parts[1].Needs).To(ConsistOf("files:store"))
	g.Expect(Current().All()[0].Needs).NotTo(ContainElement("x"))
	g.Expect(Vocabulary()[0].Name).NotTo(Equal("x"))
}

func TestSuggestKnowsNearMisses(t *testing.T) {
	for typed, want := range map[string][]string{
		"WR-6":                    {"WR-06"},
		"wr6":                     {"WR-06"},
		" wr_06":                  {"WR-06"},
		"WR-006":                  {"WR-06"},
		"WR-06":                   {"WR-06"},
		"RW-06":                   {"WR-06", "RC-06", "WR-01"},
		"WR-99":                   {"WR-09", "WR-19", "WR-29"},
		"W-40":                    {"WR-40", "WR-04", "WR-10"},
		"":                        nil,
		"hello":                   nil,
		"WR-99999999999999999999": nil,
	} {
		t.Run(typed, func(t *testing.T) {
			NewWithT(t).Expect(Current().Suggest(typed)).To(Equal(want))
		})
	}
	_, ok := Current().Get("WR-6")
	NewWithT(t).Expect(ok).To(BeFalse(), "Get takes exact IDs only")
}

func TestTheVocabularyIsUsedAndExplained(t *testing.T) {
	g := NewWithT(t)
	used := map[string]bool{}
	for _, c := range Current().All() {
		for _, n := range c.Needs {
			used[n] = true
		}
		for _, p := range c.Parts {
			for _, n := range p.Needs {
				used[n] = true
			}
		}
	}
	names := map[string]bool{}
	for _, n := range Vocabulary() {
		g.Expect(names[n.Name]).To(BeFalse(), "%s stands in the vocabulary twice", n.Name)
		names[n.Name] = true
		g.Expect(n.Meaning).NotTo(BeEmpty(), n.Name)
		g.Expect(used[n.Name]).To(BeTrue(), "%s is needed by no clause", n.Name)
	}
}

func TestWhatIsMissingDecidesTheVerdict(t *testing.T) {
	g := NewWithT(t)
	for name, want := range map[string]verdict.Verdict{
		"tool:cancel":          verdict.NotApplicable,
		"claim:idempotentHint": verdict.NotApplicable,
		"transport:stdio":      verdict.NotApplicable,
		"version:other":        verdict.NotApplicable,
		"probe:anchor":         verdict.Inconclusive,
		"action:delete":        verdict.Inconclusive,
		"wire:account":         verdict.Inconclusive,
		"process:app":          verdict.Inconclusive,
		"files:store":          verdict.Inconclusive,
		"tracer":               verdict.NotRun,
		"browser":              verdict.NotRun,
	} {
		n, ok := NeedOf(name)
		g.Expect(ok).To(BeTrue(), name)
		g.Expect(n.Missing()).To(Equal(want), name)
	}
	_, ok := NeedOf("probe:mood")
	g.Expect(ok).To(BeFalse())
}

func TestTasksAreReservedAndWordsExplained(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Current().Reserved()).To(HaveLen(1))
	g.Expect(Current().Reserved()[0].Prefix).To(Equal("TK"))
	var words []string
	for _, w := range Current().Words() {
		words = append(words, w.Word)
	}
	g.Expect(words).To(ContainElements("anchor", "intent", "receipt", "checkpoint", "surface", "acknowledged"))
}
