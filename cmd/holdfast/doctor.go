package main

import "github.com/spf13/cobra"

func (p *program) doctorVerb() *cobra.Command {
	var asJSON bool
	var allowOutside []string
	cmd := &cobra.Command{
		Use:   "doctor [TARGET]",
		Short: "What this machine has; then: target starts, shakes hands, one write, one read back, stops",
		Long: `Looks for what specs may need of this machine. With a TARGET it is tried out step by step: it
starts, shakes hands, takes one write, shows it in a read and through the probe that the file has,
and stops. Exit 2 when a step fails.`,
		Args: takes(0, 1, "at most one target: a target file, or the name of a built-in"),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.Flags().Var(texts(&allowOutside, outside), "allow-outside", "path or address outside of the run that the target may use (may be repeated)")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		stop, done := p.stop("ending in order")
		defer done()
		d, err := p.harness.Diagnose(stop.Interrupted, first(args), allowOutside, p.watch())
		if err != nil {
			return 0, err
		}
		return d.ExitCode, p.show(asJSON, d, d.Text)
	})
	return cmd
}
