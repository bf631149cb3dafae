package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

const defaultOut = "holdfast-report"

// outside is what --allow-outside takes.
const outside = "a path, or an address such as 127.0.0.1:5432"

func (p *program) runVerb() *cobra.Command {
	o := suites.RunOptions{Out: defaultOut}
	var asJSON bool
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
	f.Var(texts(&o.Selection.Profiles, "the name of a profile, such as durability"), "profile", "only this profile (may be repeated)")
	f.Var(patterns(&o.Selection.Select), "select", "only specs that match")
	f.Var(patterns(&o.Selection.Skip), "skip", "no specs that match")
	f.StringVar(&o.Selection.Level, "level", "must", "the lowest level that gates: must or should")
	f.Var(text(&o.Out, "a folder"), "out", "report folder; an earlier report in it is replaced")
	f.Var(number(&o.Procs, 1), "procs", "workers (default twice the cores, at most one a spec)")
	f.Var(seed(&o.Seed), "seed", "fixes every choice of the run (default random)")
	f.Var(text(&o.Baseline, "the path of a baseline"), "baseline", "YAML list of known failures: {spec or clause, expect, reason, issue, expires}")
	f.BoolVar(&o.NoControl, "no-control", false, "do not run the same specs on the reference")
	f.Var(number(&o.AllowInconclusive, 0), "allow-inconclusive", "how many inconclusive specs are let through")
	f.Var(texts(&o.AllowOutside, outside), "allow-outside", "path or address outside of the run that the target may use (may be repeated)")
	f.Var(span(&o.Stop.MaxTime), "max-time", "end the run in order after this long; what is left is not-run (default no limit)")
	f.BoolVar(&o.Keep, "keep", false, "leave the private stores of the run for a look")
	f.BoolVar(&asJSON, "json", false, "the report as JSON on stdout; an array of them with several targets")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		o.Targets = args
		if !f.Changed("seed") {
			o.Seed = rand.Int64N(1 << 31)
		}
		stop, done := p.stop("ending in order, the report will be written")
		defer done()
		stop.MaxTime = o.Stop.MaxTime
		o.Stop, o.Watch = stop, p.watch()
		return p.gate(o, asJSON)
	})
	return cmd
}

// gate runs and shows every report there is, also where one came to no end.
func (p *program) gate(o suites.RunOptions, asJSON bool) (int, error) {
	all, err := p.harness.Run(o)
	if _, there := os.Stat(filepath.Join(o.Out, reports.ReportFile)); len(all) == 0 && there == nil {
		fmt.Fprintf(p.err, "the report in %s is of an earlier run, and not of this one\n", render.Plain(o.Out))
	}
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
