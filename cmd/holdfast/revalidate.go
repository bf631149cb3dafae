package main

import "github.com/spf13/cobra"

func (p *program) revalidateVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "revalidate REPORT",
		Short: "Judges the recorded history again; starts nothing",
		Long: `Reads what every spec of a report recorded (artifacts/<spec>/history.jsonl), lets the judges of this
version rule over it, and shows the verdict then and now. REPORT is a report folder or a report.json
with its artifacts beside it. Nothing is started, and the report stays as it is.

Exit codes: 0 all are judged as then, 1 at least one is judged otherwise, 2 usage, 3 a recording that
was judged then cannot be judged now, or nothing was judged; 1 goes before 3.`,
		Args: takes(1, 1, "one report folder or report.json"),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON on stdout")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		v, err := p.harness.Revalidate(args[0])
		if err != nil {
			return 0, err
		}
		return v.ExitCode, p.show(asJSON, v, v.Text)
	})
	return cmd
}
