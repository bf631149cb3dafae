package main

import (
	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/suites"
)

func (p *program) reproVerb() *cobra.Command {
	o := suites.ReproOptions{Times: 1}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "repro REPORT [ID…]",
		Short: "Runs specs again from their recorded schedule; k of n failed again",
		Long: `Runs specs of a report again, each from the schedule that it recorded (artifacts/<spec>/schedule.yaml),
on the target file as it was then. Without an ID every spec that failed is run; an ID may be a spec,
a clause, or a pattern of either. The report stays as it is; what is left by the repro goes to OUT.

Exit codes: 0 none failed again, 1 at least one did, 2 usage, 3 a run of it ended in an error or
has no result, 5 a run of it was inconclusive, 130 interrupted; the worst one stands, 1 first.`,
		Args: takes(1, -1, "a report folder, and behind it IDs of specs or clauses, if not all that failed are meant"),
	}
	f := cmd.Flags()
	f.Var(number(&o.Times, 1), "times", "how often each spec is run")
	f.Var(text(&o.Point, "a crash point as the report names it, such as 17:after"), "point", "try one crash point only, as the report names it: 17:after, 17:ENOSPC")
	f.Var(text(&o.Out, "a folder"), "out", "folder for what it leaves (default REPORT/repro)")
	f.Var(number(&o.Procs, 1), "procs", "workers (default twice the cores, at most one a run)")
	f.BoolVar(&o.Keep, "keep", false, "leave the private stores of the runs for a look")
	f.BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		o.Report, o.IDs = args[0], args[1:]
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
