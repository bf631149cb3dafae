package clauses

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "write docs/contract.md anew")

// docs/contract.md is the catalogue for people. It is generated; after a change
// of the catalogue run: go test ./suites/clauses -update
func TestTheContractPageIsCurrent(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join("..", "..", "docs", "contract.md")
	page := contractPage(Current())
	if *update {
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(file, []byte(page), 0o644)).To(Succeed())
	}
	got, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got) == page).To(BeTrue(), "docs/contract.md is not what the catalogue says; run go test ./suites/clauses -update")
}

func TestEveryLinkOfTheContractPageLeadsSomewhere(t *testing.T) {
	g := NewWithT(t)
	page := contractPage(Current())
	links := 0
	for _, rest := range strings.Split(page, "](#")[1:] {
		links++
		anchor, _, _ := strings.Cut(rest, ")")
		g.Expect(strings.Count(page, `<a id="`+anchor+`"></a>`)).To(Equal(1), anchor)
	}
	g.Expect(links).To(BeNumerically(">", 2*len(Current().All())))
}

func contractPage(c *Catalogue) string {
	var b strings.Builder
	say := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	say("<!-- Generated from suites/clauses/%s; change it there and run: go test ./suites/clauses -update -->\n\n", c.Version)
	say("# The contract, set %s\n\n", c.Version)
	say("These are the clauses that a run holds a target to. A clause's ID never changes meaning. A *must* gates a release; a *should* is reported and gates only if asked for. ")
	say("The source says who demands it: the protocol (`mcp-must`, `mcp-should`), the server itself by what it declares (`own-claim`), or this contract (`contract`). Breaking a clause is a violation of MCP only where the source says so for the revision in use.\n\n")
	if strings.HasSuffix(c.Version, "-draft") {
		say("This set is a draft and may still change. A released set is frozen: a later one adds clauses and edits none.\n\n")
	}
	say("Marks: *stricter* means that the clause asks more than what it was derived from, on purpose. *Positive control* means that the clause rests on something not happening, so a check of it must prove that it would have seen it happen.\n\n")
	for _, name := range c.Profiles() {
		p, _ := c.Profile(name)
		say("- [%s](#%s), %s-01 to %s\n", p.Title, p.Name, p.Prefix, lastOf(c, name))
	}
	for _, r := range c.Reserved() {
		say("- %s is reserved: %s\n", r.Prefix, r.Note)
	}
	say("\nSee also the [words](#words) and the [needs](#needs).\n")
	for _, name := range c.Profiles() {
		writeProfile(say, c, name)
	}
	writeWords(say, c)
	writeNeeds(say)
	return b.String()
}

type sayer = func(format string, a ...any)

func writeProfile(say sayer, c *Catalogue, name string) {
	p, _ := c.Profile(name)
	say("\n<a id=\"%s\"></a>\n## %s\n\n%s\n\n", p.Name, p.Title, p.Summary)
	say("| ID | level | clause | source |\n|---|---|---|---|\n")
	for _, clause := range c.All() {
		if clause.Profile == name {
			say("| %s | %s | %s | %s |\n", link(clause.ID), clause.Level, clause.Title, cell(kindsOf(clause.Sources)))
		}
	}
	for _, clause := range c.All() {
		if clause.Profile == name {
			writeClause(say, clause)
		}
	}
}

func writeClause(say sayer, clause Clause) {
	say("\n<a id=\"%s\"></a>\n### %s: %s\n\n%s\n\n", anchor(clause.ID), clause.ID, clause.Title, clause.Text)
	for _, p := range clause.Parts {
		say("- **%s/%s** (%s; %s): %s\n", clause.ID, p.Name, p.Level, sourcesOf(p.Sources), p.Text)
		if len(p.Needs) > 0 {
			say("  Also needs %s.\n", code(p.Needs))
		}
	}
	if len(clause.Parts) > 0 {
		say("\n")
	}
	var marks string
	if clause.Stricter {
		marks += " · stricter"
	}
	if clause.PositiveControl {
		marks += " · positive control"
	}
	say("*%s · %s%s*\n\n", clause.Level, sourcesOf(clause.Sources), marks)
	say("What usually breaks it: %s\n\n", clause.Breaks)
	see := make([]string, len(clause.See))
	for i, id := range clause.See {
		see[i] = link(id)
	}
	say("Needs %s. See %s.\n", code(clause.Needs), strings.Join(see, ", "))
}

func writeWords(say sayer, c *Catalogue) {
	say("\n<a id=\"words\"></a>\n## Words\n\n| word | meaning |\n|---|---|\n")
	for _, w := range c.Words() {
		say("| %s | %s |\n", cell(w.Word), cell(w.Meaning))
	}
}

func writeNeeds(say sayer) {
	say("\n<a id=\"needs\"></a>\n## Needs\n\nWhat a clause takes to be judged, and the verdict of the clause if a target that claims the profile lacks it.\n\n")
	say("| need | meaning | missing |\n|---|---|---|\n")
	for _, n := range Vocabulary() {
		say("| `%s` | %s | %s |\n", n.Name, cell(n.Meaning), n.Missing())
	}
}

func lastOf(c *Catalogue, profile string) string {
	last := ""
	for _, clause := range c.All() {
		if clause.Profile == profile {
			last = clause.ID
		}
	}
	return last
}

func anchor(id string) string { return strings.ToLower(id) }
func link(id string) string   { return "[" + id + "](#" + anchor(id) + ")" }
func cell(s string) string    { return strings.ReplaceAll(s, "|", `\|`) }
func code(of []string) string { return "`" + strings.Join(of, "`, `") + "`" }

func sourcesOf(sources []Source) string {
	said := make([]string, len(sources))
	for i, s := range sources {
		said[i] = s.String()
	}
	return strings.Join(said, ", ")
}

func kindsOf(sources []Source) string {
	var said []string
	for _, s := range sources {
		s.Note = ""
		said = append(said, s.String())
	}
	return strings.Join(said, ", ")
}
