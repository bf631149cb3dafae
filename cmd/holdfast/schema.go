package main

import (
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
)

func (p *program) schemaVerb() *cobra.Command {
	return &cobra.Command{
		Use:       "schema [target|report]",
		Short:     "JSON Schema of the target file and of report.json",
		Long:      "Prints the JSON Schema of the target file, or of report.json; without an argument both, as\n{\"target\": …, \"report\": …}.",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"target", "report"},
		RunE: p.verb(func(args []string) (int, error) {
			all := map[string]json.RawMessage{"target": target.Schema()}
			report, err := reportSchema()
			if err != nil {
				return 0, err
			}
			all["report"] = report
			var value any = all
			if name := first(args); name != "" {
				value = all[name]
			}
			return 0, p.show(true, value, nil)
		}),
	}
}

func reportSchema() ([]byte, error) {
	s, err := jsonschema.For[reports.Report](nil)
	if err != nil {
		return nil, fmt.Errorf("making the schema of report.json: %w", err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "holdfast report.json, schema " + reports.ReportSchema
	return json.Marshal(s)
}
