package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

const defaultOut = "holdfast-report"

func (p *program) runVerb() *cobra.Command {
	var o suites.RunOptions
	var asJSON bool
	var maxTime time.Duration
	cmd := &cobra.Command{
		Use:   "run [TARGET…]",
		Short: "The gate: plan, run, report, exit code",
		Long: `Runs the specs on each TARGET (a target file, or the name of a built-in; none is "reference")
and decides the gate. With several targets they run one after the other, each with a report of
its own in OUT/<name>, and the exit code is the worst of theirs.

A target that is not the reference is compared with it: the same specs run on the reference in
the same environment (the control run), and what fails on both is put down to the environment.

--select and --skip take spec IDs, clause IDs, profiles, and patterns of them, in which * stands
for any text and ? for one character.

` + exitCodes,
		Example: "  holdfast run\n  holdfast run my-helper.yaml --select 'DU-0*'\n  holdfast run my-helper.yaml --baseline known.yaml --max-time 5m",
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Selection.Profiles, "profile", nil, "only this profile (may be repeated)")
	f.StringSliceVar(&o.Selection.Select, "select", nil, "only specs that match")
	f.StringSliceVar(&o.Selection.Skip, "skip", nil, "no specs that match")
	f.StringVar(&o.Selection.Level, "level", "must", "the lowest level that gates: must or should")
	f.StringVar(&o.Out, "out", defaultOut, "report folder; an earlier report in it is replaced")
	f.IntVar(&o.Procs, "procs", 0, "workers (default twice the cores, at most one a spec)")
	f.Int64Var(&o.Seed, "seed", 0, "fixes every choice of the run (default random)")
	f.StringVar(&o.Baseline, "baseline", "", "YAML list of known failures: {spec or clause, expect, reason, issue, expires}")
	f.BoolVar(&o.NoControl, "no-control", false, "do not run the same specs on the reference")
	f.IntVar(&o.AllowInconclusive, "allow-inconclusive", 0, "how many inconclusive specs are let through")
	f.StringArrayVar(&o.AllowOutside, "allow-outside", nil, "path or address outside of the run that the target may use (may be repeated)")
	f.DurationVar(&maxTime, "max-time", 0, "end the run in order after this long; what is left is not-run (default no limit)")
	f.BoolVar(&o.Keep, "keep", false, "leave the private stores of the run for a look")
	f.BoolVar(&asJSON, "json", false, "the report as JSON on stdout; an array of them with several targets")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		o.Targets = args
		if !f.Changed("seed") {
			o.Seed = rand.Int64N(1 << 31)
		}
		if err := positive(o.Procs, maxTime, o.AllowInconclusive); err != nil {
			return 0, err
		}
		stop, done := p.stop("ending in order, the report will be written")
		defer done()
		o.Stop, o.Watch = stop, p.watch()
		o.Stop.MaxTime = maxTime
		return p.gate(o, asJSON)
	})
	return cmd
}

func positive(procs int, maxTime time.Duration, allowed int) error {
	switch {
	case procs < 0:
		return suites.Usage("--procs is %d; expected a number from 1, or none for the default", procs)
	case maxTime < 0:
		return suites.Usage("--max-time is %v; expected a duration such as 5m", maxTime)
	case allowed < 0:
		return suites.Usage("--allow-inconclusive is %d; expected a number from 0", allowed)
	}
	return nil
}

// gate runs and shows every report there is, also where one came to no end.
func (p *program) gate(o suites.RunOptions, asJSON bool) (int, error) {
	all, err := p.harness.Run(o)
	var codes []int
	var texts []string
	for _, r := range all {
		codes = append(codes, r.Gate.ExitCode)
		texts = append(texts, render.Terminal(r, screenOf(p.out)))
	}
	if len(all) > 0 {
		var value any = all
		if len(all) == 1 && len(o.Targets) < 2 {
			value = all[0]
		}
		shown := p.show(asJSON, value, func(render.Screen) string { return strings.Join(texts, "\n") })
		fmt.Fprintf(p.err, "report: %s\n", render.Plain(o.Out))
		if err == nil {
			err = shown
		}
	}
	return gate.Worst(codes...), err
}
