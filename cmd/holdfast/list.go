package main

import "github.com/spf13/cobra"

func (p *program) listVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [TARGET]",
		Short: "Clauses, specs and faults; with a target, why a spec would not run on it",
		Args:  cobra.MaximumNArgs(1),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		l, err := p.harness.List(first(args))
		if err != nil {
			return 0, err
		}
		return 0, p.show(asJSON, l, l.Text)
	})
	return cmd
}

// first is the first argument, "" without one.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
