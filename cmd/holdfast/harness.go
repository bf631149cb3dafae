package main

import (
	"runtime/debug"

	"github.com/holdfast-mcp/holdfast/fixtures/targets"
	"github.com/holdfast-mcp/holdfast/suites"
	"github.com/holdfast-mcp/holdfast/suites/clauses"
)

// harness puts together what this binary is made of.
func harness() suites.Harness {
	return suites.Harness{
		Version:      version(),
		Catalogue:    clauses.Current(),
		Tests:        tests(),
		Perform:      performer(),
		Mutants:      mutants(),
		Keeping:      keeping,
		Builtin:      targets.Read,
		BuiltinNames: targets.Names,
		Preflight:    suites.Starts,
		Doctor:       suites.TryOut,
	}
}

// release is the version of this source tree.
const release = "0.1.0-dev"

// version is the release and, where the build knows it, the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return release + "+" + s.Value[:12]
		}
	}
	return release
}
