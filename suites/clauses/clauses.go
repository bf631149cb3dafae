// Package clauses is the contract as data: every clause that the suites hold a
// target to, with its level, where the obligation comes from, what a target
// must have for it to be judged, and what usually breaks it.
//
// The catalogue is embedded, one folder a set (0.1-draft, later 1.0). A
// released set is frozen: frozen.yaml holds its digest and a test compares it.
package clauses

import "slices"

// Level says whether a broken clause gates a release.
type Level string

// The levels.
const (
	Must   Level = "must"   // gates a release
	Should Level = "should" // reported, does not gate unless asked
)

// The kinds of source. A report calls a broken clause an MCP violation only
// where the source that applies is MCPMust.
const (
	MCPMust   = "mcp-must"   // a MUST of the protocol
	MCPShould = "mcp-should" // a SHOULD of the protocol
	OwnClaim  = "own-claim"  // the server's own annotation, schema or capability
	Contract  = "contract"   // ours
)

// Source is where an obligation comes from.
type Source struct {
	// Kind is one of MCPMust, MCPShould, OwnClaim, Contract.
	Kind string `yaml:"kind" json:"kind"`
	// Revision limits the source to protocol revisions, in the form "A",
	// "A..", "..B" or "A..B" (inclusive). Empty means every revision.
	Revision string `yaml:"revision,omitempty" json:"revision,omitempty"`
	// Note names the section of the protocol or the claim itself.
	Note string `yaml:"note,omitempty" json:"note,omitempty"`
}

// Part is one separately judged side of a clause that has several levels or
// several sources. A spec names it as CLAUSE/part, for example DU-07/bytes.
type Part struct {
	Name    string   `yaml:"name" json:"name"`
	Level   Level    `yaml:"level" json:"level"`
	Text    string   `yaml:"text" json:"text"`
	Sources []Source `yaml:"sources" json:"sources"`
	// Needs are needed on top of those of the clause.
	Needs []string `yaml:"needs,omitempty" json:"needs,omitempty"`
}

// Clause is one obligation. Its ID never changes meaning.
type Clause struct {
	ID    string `yaml:"id" json:"id"`
	Title string `yaml:"title" json:"title"`
	// Text is the obligation in full.
	Text string `yaml:"text" json:"text"`
	// Profile is the name of the profile that the clause belongs to; it is not
	// written per clause but taken from the file that the clause stands in.
	Profile string   `yaml:"-" json:"profile"`
	Level   Level    `yaml:"level" json:"level"`
	Sources []Source `yaml:"sources" json:"sources"`
	// Needs are words of Vocabulary: what a target or the machine must have for
	// the clause to be judged. Other than that of a Part, a need is for all of it.
	Needs []string `yaml:"needs" json:"needs"`
	// Stricter marks a clause that on purpose asks more than its sources.
	Stricter bool `yaml:"stricter,omitempty" json:"stricter,omitempty"`
	// PositiveControl marks a clause that rests on something not happening. A
	// spec of it must prove that it would have seen it, else it is inconclusive.
	PositiveControl bool `yaml:"positive_control,omitempty" json:"positive_control,omitempty"`
	// Breaks is what usually breaks the clause, for a person who has to fix it.
	Breaks string `yaml:"breaks" json:"breaks"`
	// See are the IDs of related clauses.
	See []string `yaml:"see" json:"see"`
	// Parts is empty for a clause that is judged as one.
	Parts []Part `yaml:"parts,omitempty" json:"parts,omitempty"`
}

// Profile is a group of clauses that a target claims as a whole.
type Profile struct {
	Name    string `yaml:"name" json:"name"`
	Prefix  string `yaml:"prefix" json:"prefix"` // of its clause IDs
	Title   string `yaml:"title" json:"title"`
	Summary string `yaml:"summary" json:"summary"` // which targets it is for
}

// Word is one word of the contract with its meaning.
type Word struct {
	Word    string `yaml:"word" json:"word"`
	Meaning string `yaml:"meaning" json:"meaning"`
}

// Reservation is a prefix of clause IDs that is taken but not numbered yet.
type Reservation struct {
	Prefix string `yaml:"prefix" json:"prefix"`
	Note   string `yaml:"note" json:"note"`
}

// Catalogue is one clause set. It is read-only: what its methods return is the
// caller's own copy.
type Catalogue struct {
	// Version is the set's name, for example 0.1-draft.
	Version string
	// Digest is the SHA-256, in hex, over the names and bytes of the set's files.
	Digest string

	profiles []Profile
	reserved []Reservation
	words    []Word
	clauses  []Clause // in contract order
	byID     map[string]int
}

// All returns every clause in contract order: by profile, then by number.
func (c *Catalogue) All() []Clause {
	all := make([]Clause, len(c.clauses))
	for i, clause := range c.clauses {
		all[i] = clause.clone()
	}
	return all
}

// Get returns the clause with exactly this ID. For an ID that a person typed
// wrong, Suggest knows what may have been meant.
func (c *Catalogue) Get(id string) (Clause, bool) {
	i, ok := c.byID[id]
	if !ok {
		return Clause{}, false
	}
	return c.clauses[i].clone(), true
}

// Profiles returns the names of the profiles in contract order.
func (c *Catalogue) Profiles() []string {
	names := make([]string, len(c.profiles))
	for i, p := range c.profiles {
		names[i] = p.Name
	}
	return names
}

// Profile returns the profile of this name.
func (c *Catalogue) Profile(name string) (Profile, bool) {
	for _, p := range c.profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// Words returns the words that the clauses use in a meaning of their own.
func (c *Catalogue) Words() []Word { return slices.Clone(c.words) }

// Reserved returns the prefixes that have no numbered clause yet.
func (c *Catalogue) Reserved() []Reservation { return slices.Clone(c.reserved) }

// Part returns the part of this name; a clause without parts has none.
func (c Clause) Part(name string) (Part, bool) {
	for _, p := range c.Parts {
		if p.Name == name {
			return p, true
		}
	}
	return Part{}, false
}

// Source returns the strongest source of the clause on a protocol revision, in
// the order mcp-must, mcp-should, own-claim, contract. For a clause with Parts
// ask the part that was broken: the clause as a whole has the strongest of all.
func (c Clause) Source(revision string) (Source, bool) { return strongest(c.Sources, revision) }

// Source returns the strongest source of the part on a protocol revision.
func (p Part) Source(revision string) (Source, bool) { return strongest(p.Sources, revision) }

func (c Clause) clone() Clause {
	c.Sources = slices.Clone(c.Sources)
	c.Needs = slices.Clone(c.Needs)
	c.See = slices.Clone(c.See)
	c.Parts = slices.Clone(c.Parts)
	for i := range c.Parts {
		c.Parts[i].Sources = slices.Clone(c.Parts[i].Sources)
		c.Parts[i].Needs = slices.Clone(c.Parts[i].Needs)
	}
	return c
}
