package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

func (p *program) mutantsVerb() *cobra.Command {
	o := suites.MutantOptions{Out: "holdfast-mutants"}
	var asJSON, list bool
	cmd := &cobra.Command{
		Use:   "mutants [NAME…]",
		Short: "The harness's own self-test: every mutant caught by the clause that it names",
		Long: `Runs the specs on the reference and the server of notes with one defect each (mutants), and with one
defect of the harness each (saboteurs). It holds when every mutant has a finding on its clause and
on no other than it lists, no saboteur leads to a pass or to an accusation, the reference as it is
has no finding, and every clause with a spec is the clause of at least one mutant. All of it is one
parallel run.

Exit codes: 0 it holds, 1 something was missed or accused, 2 usage, 3 something has no result, 130 interrupted.`,
	}
	f := cmd.Flags()
	f.BoolVar(&o.All, "all", false, "every spec on every mutant, not only those of its clauses")
	f.BoolVar(&list, "list", false, "name the mutants and run nothing")
	f.Var(text(&o.Out, "a folder"), "out", "folder for what it leaves; an earlier one is replaced")
	f.Var(number(&o.Procs, 1), "procs", "workers (default four times the cores, as its specs mostly wait; at most one a spec)")
	f.Var(seed(&o.Seed), "seed", "fixes every choice of the run (default random)")
	f.BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		if list {
			return 0, p.show(asJSON, p.harness.Mutants, p.namesOfMutants)
		}
		o.Names = args
		if !f.Changed("seed") {
			o.Seed = rand.Int64N(1 << 31)
		}
		stop, done := p.stop("ending in order, what was finished will be told")
		defer done()
		o.Stop, o.Watch = stop, p.watch()
		r, err := p.harness.SelfTest(o)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(p.err, "report: %s\n", render.Plain(o.Out))
		return r.ExitCode, p.show(asJSON, r, r.Text)
	})
	return cmd
}

func (p *program) namesOfMutants(screen render.Screen) string {
	var rows [][]string
	for _, m := range p.harness.Mutants {
		kind := "mutant"
		if m.Saboteur {
			kind = "saboteur"
		}
		rows = append(rows, []string{kind, m.Name, m.Primary, m.Breaks})
	}
	return render.NewStyle(screen).Table([]string{"kind", "name", "clause", "what is broken"}, rows)
}
