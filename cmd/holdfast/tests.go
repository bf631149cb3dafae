package main

import (
	"slices"

	defects "github.com/holdfast-mcp/holdfast/fixtures/mutants"
	"github.com/holdfast-mcp/holdfast/reference"
	"github.com/holdfast-mcp/holdfast/reference/versions"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/durability"
	"github.com/holdfast-mcp/holdfast/suites/receipts"
	"github.com/holdfast-mcp/holdfast/suites/saboteurs"
	"github.com/holdfast-mcp/holdfast/suites/workflows"
	"github.com/holdfast-mcp/holdfast/suites/workrecords"
)

// tests are the specs of every profile, in the contract's order.
func tests() []suites.Test {
	return slices.Concat(workrecords.Tests(pairs()...), receipts.Tests(), workflows.Tests(), durability.Tests())
}

// pairs are what is to become of each pair of contract versions, as the reference
// says of itself.
func pairs() []workrecords.Pair {
	var table []workrecords.Pair
	for _, p := range versions.Pairs() {
		table = append(table, workrecords.Pair{Helper: p.Helper, App: p.App, Outcome: string(p.Outcome)})
	}
	return table
}

// keeping is what keeps a clause in the reference's code.
func keeping(clause string) []suites.Place {
	var places []suites.Place
	for _, p := range reference.Keeping(clause) {
		places = append(places, suites.Place(p))
	}
	return places
}

// performer runs a spec for real.
func performer() suites.Performer { return suites.Perform }

// mutants are what the harness proves itself with: defects of the reference, and
// saboteurs of the harness.
func mutants() []suites.Mutant {
	var all []suites.Mutant
	for _, m := range defects.All() {
		mutant := suites.Mutant{Name: m.Name, Breaks: m.Title, Primary: m.Primary, Specs: m.Specs, Code: defects.At(m.Name), Target: m.Target}
		for _, c := range m.Collateral {
			mutant.Collateral = append(mutant.Collateral, suites.Collateral{Clause: c.Clause, Why: c.Why})
		}
		all = append(all, mutant)
	}
	for _, s := range saboteurs.All() {
		all = append(all, suites.Mutant{Name: s.Name, Breaks: s.Title, Specs: s.Specs, Saboteur: true, Target: s.Target})
	}
	return all
}
