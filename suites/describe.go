package suites

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
)

// Listing is what `holdfast list` shows.
type Listing struct {
	Schema   string `json:"schema"`
	Contract string `json:"contract"`
	Target   string `json:"target,omitempty"`
	// NotClaimed are the profiles that the target does not claim.
	NotClaimed []string       `json:"not_claimed,omitempty"`
	Clauses    []ListedClause `json:"clauses"`
	Specs      []ListedSpec   `json:"specs"`
	Faults     []ListedFault  `json:"faults"`
}

// ListingSchema names the form of a listing.
const ListingSchema = "holdfast.list/1"

// ListedClause is one clause with the specs that speak for it.
type ListedClause struct {
	ID      string   `json:"id"`
	Profile string   `json:"profile"`
	Level   string   `json:"level"`
	Title   string   `json:"title"`
	Specs   []string `json:"specs"` // none: the clause is not judged yet
}

// ListedSpec is one spec; with a target, why it would not run on it.
type ListedSpec struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Profile string   `json:"profile"`
	Clauses []string `json:"clauses"`
	Faults  []string `json:"faults"`
	// Numbers are how often it does what shows only sometimes, with a target as its file
	// has them.
	Numbers reports.Numbers `json:"numbers,omitzero"`
	// Settled is the verdict that the target file alone decides, with its reason.
	Settled string `json:"settled,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

func listedSpec(t Test) ListedSpec {
	return ListedSpec{ID: t.ID, Title: t.Title, Profile: t.Profile, Clauses: t.Clauses, Faults: append([]string{}, t.Faults...), Numbers: t.Numbers}
}

// ListedFault is a kind of fault with the specs that place it.
type ListedFault struct {
	Name  string   `json:"name"`
	Specs []string `json:"specs"`
}

// List lists clauses, specs and faults; nameOrPath is a target, or "".
func (h Harness) List(nameOrPath string) (Listing, error) {
	l := Listing{Schema: ListingSchema, Contract: h.Catalogue.Version, Clauses: []ListedClause{}, Specs: []ListedSpec{}, Faults: []ListedFault{}}
	var f *target.File
	if nameOrPath != "" {
		loaded, err := h.Load(nameOrPath)
		if err != nil {
			return l, err
		}
		f, l.Target = loaded.File, loaded.Name
		for _, profile := range h.Catalogue.Profiles() {
			if !f.Claims(profile) {
				l.NotClaimed = append(l.NotClaimed, profile)
			}
		}
	}
	for _, c := range h.Catalogue.All() {
		listed := ListedClause{ID: c.ID, Profile: c.Profile, Level: string(c.Level), Title: c.Title, Specs: []string{}}
		for _, t := range h.testsOf(c.ID) {
			listed.Specs = append(listed.Specs, t.ID)
		}
		l.Clauses = append(l.Clauses, listed)
	}
	places := map[string][]string{}
	for _, t := range h.Tests {
		s := listedSpec(t)
		if f != nil {
			s.Numbers = numbersOf(t, f)
			v, why := settled(t, f)
			s.Settled, s.Reason = string(v), why
		}
		l.Specs = append(l.Specs, s)
		for _, fault := range t.Faults {
			places[fault] = append(places[fault], t.ID)
		}
	}
	for _, name := range sortedKeys(places) {
		l.Faults = append(l.Faults, ListedFault{Name: name, Specs: places[name]})
	}
	return l, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
