package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/reference/workflows/policy"
	"github.com/holdfast-mcp/holdfast/suites"
)

// policyVerb changes the policy of the reference's workflows, as whoever runs that
// server does: for the actions deny, confirm and allow of a target file.
func (p *program) policyVerb() *cobra.Command {
	return &cobra.Command{
		Use:    "policy FILE deny CONTROL | policy FILE confirm TOOL | policy FILE allow",
		Short:  "Change a policy of the reference's workflows (used by the harness)",
		Hidden: true,
		Args:   cobra.RangeArgs(2, 3),
		RunE: p.verb(func(args []string) (int, error) {
			switch {
			case args[1] == "deny" && len(args) == 3:
				return 0, policy.Deny(args[0], args[2])
			case args[1] == "confirm" && len(args) == 3:
				return 0, policy.Confirm(args[0], args[2])
			case args[1] == "allow" && len(args) == 2:
				return 0, policy.Allow(args[0])
			}
			return 0, suites.Usage("policy was given %q; expected FILE deny CONTROL, with a control of %s, FILE confirm TOOL, or FILE allow", args[1:], strings.Join(policy.Controls(), ", "))
		}),
	}
}
