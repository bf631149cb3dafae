package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) versionVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "The version of holdfast and of the contract that it holds targets to",
		Args:  takes(0, 0, "none"),
		RunE: p.verb(func([]string) (int, error) {
			_, err := fmt.Fprintf(p.out, "%s (contract %s)\n", p.harness.Version, p.harness.Catalogue.Version)
			return 0, err
		}),
	}
}
