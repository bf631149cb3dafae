package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/render"
	"github.com/holdfast-mcp/holdfast/suites"
)

func (p *program) reportVerb() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "report REPORT",
		Short: "Renders a report that is there; runs nothing",
		Long: `REPORT is a report folder or a report.json. What is rendered goes to stdout. The links of the
html lead to what lies beside it in the report folder, where it is called report.html.`,
		Args: takes(1, 1, "one report folder or report.json"),
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json, html, junit, md or badge (SVG)")
	cmd.RunE = p.verb(func(args []string) (int, error) {
		render, ok := formats[format]
		if !ok {
			return 0, suites.Usage("--format is %q; expected text, json, html, junit, md or badge", format)
		}
		r, err := reports.Read(args[0])
		if err != nil {
			return 0, suites.Usage("%w", err)
		}
		text, err := render(p, r)
		if err != nil {
			return 0, err
		}
		_, err = p.out.Write(text)
		return 0, err
	})
	return cmd
}

var formats = map[string]func(*program, reports.Report) ([]byte, error){
	"text": func(p *program, r reports.Report) ([]byte, error) {
		return []byte(render.Terminal(r, screenOf(p.out))), nil
	},
	"json": func(_ *program, r reports.Report) ([]byte, error) {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("writing JSON: %w", err)
		}
		return append(text, '\n'), nil
	},
	"junit": func(_ *program, r reports.Report) ([]byte, error) { return render.JUnit(r) },
	"html":  func(_ *program, r reports.Report) ([]byte, error) { return render.HTML(r) },
	"badge": func(_ *program, r reports.Report) ([]byte, error) { return render.Badge(r), nil },
	"md":    func(_ *program, r reports.Report) ([]byte, error) { return render.Markdown(r), nil },
}
