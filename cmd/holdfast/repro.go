package main

import (
	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/suites"
)

func (p *program) reproVerb() *cobra.Command {
	var o suites.ReproOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "repro REPORT [ID…]",
		Short: "Runs specs again from their recorded schedule; k of n failed again",
		Long: `Runs specs of a report again, each from the schedule that it recorded (artifacts/<spec>/schedule.yaml),
on the target file as it was then. Without an ID every spec that failed is run; an ID may be a spec,
a clause, or a pattern of either. The report stays as it is; what is left by the repro goes to OUT.

Exit codes: 0 none failed again, 1 at least one did, 2 usage, 3 a run of it ended in an error or
has no result, 5 a run of it was inconclusive, 130 interrupted; the worst one stands, 1 first.`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.IntVar(&o.Times, "times", 1, "how often each spec is run")
	f.StringVar(&o.Point, "point", "", "try one crash point only, as the report names it: 17:after, 17:ENOSPC")
	f.StringVar(&o.Out, "out", "", "folder for what it leaves (default REPORT/repro)")
	f.IntVar(&o.Procs, "procs", 0, "workers (default twice the cores, at most one a run)")
	f.BoolVar(&o.Keep, "keep", false, "leave the private stores of the runs for a look")
	f.BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		o.Report, o.IDs = args[0], args[1:]
		if err := positive(o.Procs, 0, 0); err != nil {
			return 0, err
		}
		stop, done := p.stop("ending in order, what was finished will be told")
		defer done()
		o.Stop, o.Watch = stop, p.watch()
		r, err := p.harness.Repro(o)
		if err != nil {
			return 0, err
		}
		return r.ExitCode, p.show(asJSON, r, r.Text)
	})
	return cmd
}
