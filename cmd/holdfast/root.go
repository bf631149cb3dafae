package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/reports/gate"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

// program is one invocation: what it is made of, where it writes, how it ends.
type program struct {
	harness suites.Harness
	out     *output   // what was asked for
	err     io.Writer // everything else
	code    int
	began   bool // a verb was reached, so that an error is no slip of the command line
}

const exitCodes = `Exit codes:
  0    the gate passed
  1    a violation: the target broke a clause
  2    usage or configuration
  3    harness or environment error, incomplete, or nothing ran
  4    only a stale or expired baseline
  5    more inconclusive than allowed
  130  interrupted, report written
Where several hold: 2, 1, 3, 5, 4, in that order; 130 over all.`

// execute runs a command line and returns the exit code. Whatever happens, the
// person who typed it gets a sentence and not a stack.
func execute(h suites.Harness, args []string, out, errs io.Writer) (code int) {
	p := &program{harness: h, out: &output{to: out}, err: errs}
	defer func() {
		if raised := recover(); raised != nil {
			fmt.Fprintf(errs, "holdfast: it broke, which is a fault of holdfast and not yours: %v\n", raised)
			if os.Getenv("HOLDFAST_DEBUG") != "" {
				fmt.Fprintf(errs, "%s\n", debug.Stack())
			} else {
				fmt.Fprintln(errs, "set HOLDFAST_DEBUG=1 and run it again to see where")
			}
			code = gate.Incomplete
		}
	}()
	root := p.root()
	root.SetArgs(args)
	root.SetOut(p.out)
	root.SetErr(errs)
	if asked, _, err := root.Find(args); err != nil || !asked.Hidden { // a hidden verb is a process of a target
		outliveReaders()
	}
	cmd, err := root.ExecuteC()
	return p.end(cmd, err)
}

// end says what went wrong, and gives the exit code.
func (p *program) end(cmd *cobra.Command, err error) int {
	code := p.code
	if unwritten := p.out.err; unwritten != nil {
		fmt.Fprintf(p.err, "holdfast: what was asked for could not be written to stdout: %v; make room there, or send it elsewhere\n", unwritten)
		code = gate.Worst(code, gate.Incomplete)
		if errors.Is(err, unwritten) {
			err = nil
		}
	}
	if err == nil {
		return code
	}
	p.complain(cmd, err)
	if !p.began || suites.IsUsage(err) {
		return gate.Usage
	}
	return gate.Worst(p.code, gate.Incomplete)
}

// complain says an error, made harmless for a terminal line by line.
func (p *program) complain(cmd *cobra.Command, err error) {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		lines = append(lines, render.Plain(strings.TrimRight(line, "\r\n")))
	}
	fmt.Fprintf(p.err, "holdfast: %s\n", strings.Join(lines, "\n"))
	if !p.began {
		if cmd.Name() == "help" {
			cmd = cmd.Root() // whose verbs are what is looked for
		}
		fmt.Fprintf(p.err, "`%s --help` shows how it is used\n", cmd.CommandPath())
	}
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "holdfast",
		Short:         "Put an MCP server under proven faults and see which clause of its contract held",
		Long:          "holdfast starts a target behind wires that it controls, breaks things at proven moments,\ncompares every surface, and says which clause of the contract held.\n\n" + exitCodes,
		Version:       p.harness.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.code = gate.Usage
			cmd.SetOut(p.err)
			return cmd.Help()
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpFunc(p.help(root.HelpFunc()))
	root.SetHelpCommand(helpVerb())
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(
		p.runVerb(), p.listVerb(), p.explainVerb(), p.doctorVerb(), p.initVerb(), p.reproVerb(), p.revalidateVerb(), p.reportVerb(), p.mutantsVerb(),
		p.schemaVerb(), p.versionVerb(), p.referenceVerb(), p.mutantVerb(), p.policyVerb(),
	)
	return root
}

func unknownVerb(root *cobra.Command, word string) error {
	text := fmt.Sprintf("there is no verb %q", word)
	if near := root.SuggestionsFor(word); len(near) > 0 {
		text += " (did you mean " + strings.Join(near, ", ") + "?)"
	}
	return fmt.Errorf("%s", text)
}

// verb makes the RunE of a verb that ends with an exit code of its own.
func (p *program) verb(do func(args []string) (int, error)) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		p.began = true
		var err error
		p.code, err = do(args)
		return err
	}
}

// show writes a value: as JSON, or as text for a person.
func (p *program) show(asJSON bool, value any, text func(render.Screen) string) error {
	if !asJSON {
		fmt.Fprint(p.out, text(screenOf(p.out)))
		return nil
	}
	encoder := json.NewEncoder(p.out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
