package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/suites"
)

func (p *program) listVerb() *cobra.Command {
	var asJSON, asYAML bool
	cmd := &cobra.Command{
		Use:     "list [TARGET]",
		Short:   "Clauses, specs and faults; with a target, why a spec would not run on it",
		Args:    takes(0, 1, "at most one target: a target file, or the name of a built-in"),
		Example: "  holdfast list\n  holdfast list my-helper.yaml\n  holdfast list server-memory --yaml > my-helper.yaml",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "the target file of TARGET, to start one of your own from")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		if asYAML {
			return 0, p.targetFile(first(args), asJSON)
		}
		l, err := p.harness.List(first(args))
		if err != nil {
			return 0, err
		}
		return 0, p.show(asJSON, l, l.Text)
	})
	return cmd
}

// targetFile shows a target file as it is written.
func (p *program) targetFile(name string, asJSON bool) error {
	built := strings.Join(p.harness.BuiltinNames(), ", ")
	if name == "" || asJSON {
		return suites.Usage("--yaml shows one target file as it is written; name it, and leave --json out. Built-in are %s", built)
	}
	l, err := p.harness.Load(name)
	if err != nil {
		return err
	}
	_, err = p.out.Write(l.Text)
	return err
}

// first is the first argument, "" without one.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
