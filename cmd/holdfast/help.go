package main

import (
	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/reports/gate"
)

// helpVerb shows how a verb is used, and says so where there is no such verb.
func helpVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "How a verb is used",
		Args:  takes(0, 1, "at most one verb"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			verb, _, err := root.Find(args)
			if err != nil || (verb == root && len(args) > 0) {
				return unknownVerb(root, args[0])
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		},
	}
}

// help is what --help shows. A word in front of it that is no verb is told, and
// not passed over.
func (p *program) help(usual func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		if words := cmd.Flags().Args(); !cmd.HasParent() && len(words) > 0 {
			p.complain(cmd, unknownVerb(cmd, words[0]))
			p.code = gate.Usage
			return
		}
		usual(cmd, args)
	}
}
