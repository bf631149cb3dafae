package main

import (
	"context"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
)

// tests are the specs of every profile.
func tests() []suites.Test { return nil }

// performer runs a spec.
func performer() suites.Performer {
	return func(context.Context, suites.Test, suites.Setup) reports.Spec {
		return reports.Spec{Verdict: verdict.Error, Reason: "this build has no specs"}
	}
}

// mutants are the defects of the reference and the saboteurs.
func mutants() []suites.Mutant { return nil }
