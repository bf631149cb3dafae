package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/fixtures/target"
	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
	"github.com/holdfast-mcp/holdfast/suites"
)

func (p *program) schemaVerb() *cobra.Command {
	return &cobra.Command{
		Use:       "schema [target|report]",
		Short:     "JSON Schema of the target file and of report.json",
		Long:      "Prints the JSON Schema of the target file, or of report.json; without an argument both, as\n{\"target\": …, \"report\": …}.",
		Args:      takes(0, 1, "target, report, or none for both"),
		ValidArgs: []string{"target", "report"},
		RunE: p.verb(func(args []string) (int, error) {
			all := map[string]json.RawMessage{"target": target.Schema()}
			report, err := reportSchema()
			if err != nil {
				return 0, err
			}
			all["report"] = report
			var value any = all
			if len(args) > 0 {
				one, ok := all[args[0]]
				if !ok {
					return 0, suites.Usage("there is no schema %q; expected target, report, or none for both", args[0])
				}
				value = one
			}
			return 0, p.show(true, value, nil)
		}),
	}
}

// reportSchema is made of the types, so that it says what is written. Fields may
// be added under one name of the form, so an unknown one is let through.
func reportSchema() ([]byte, error) {
	words := &jsonschema.Schema{Type: "string"}
	for _, v := range verdict.All() {
		words.Enum = append(words.Enum, string(v))
	}
	s, err := jsonschema.For[reports.Report](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[verdict.Verdict]():         words,
		reflect.TypeFor[time.Time]():               {Type: "string", Format: "date-time"},
		reflect.TypeFor[map[verdict.Verdict]int](): {Type: "object", PropertyNames: words, AdditionalProperties: &jsonschema.Schema{Type: "integer"}},
	}})
	if err != nil {
		return nil, fmt.Errorf("making the schema of report.json: %w", err)
	}
	open(s)
	var form any = reports.ReportSchema
	s.Properties["schema"].Const = &form
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "holdfast report.json, schema " + reports.ReportSchema
	return json.Marshal(s)
}

// open lets objects have more fields than are known.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	for _, property := range s.Properties {
		open(property)
	}
	open(s.Items)
}
