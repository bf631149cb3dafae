package main

import "github.com/spf13/cobra"

func (p *program) explainVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "explain ID",
		Short:   "A clause: its text, source, specs, faults, what usually breaks it, the mutant that shows it",
		Example: "  holdfast explain WR-06\n  holdfast explain WR-06/answer-withheld",
		Args:    takes(1, 1, "the ID of one clause or spec, such as WR-06 or WR-06/answer-withheld"),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		e, err := p.harness.Explain(args[0])
		if err != nil {
			return 0, err
		}
		return 0, p.show(asJSON, e, e.Text)
	})
	return cmd
}
