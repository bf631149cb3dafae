package render

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

//go:embed page.html
var pageText string

// page is the template of report.html. Every text of a report goes through one of
// these functions, which make it harmless as text; the template escapes what they
// return for the place where it stands.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"plain":    Plain,
	"first":    func(text string) string { return FirstLine(text, 500) },
	"lines":    func(text string) string { return Hanging(text, "") },
	"mark":     Mark,
	"class":    class,
	"scene":    scene,
	"seconds":  seconds,
	"telling":  telling,
	"covered":  func(c *reports.CrashPoints) string { return Plain(Covered(*c)) },
	"points":   func(c *reports.CrashPoints) string { return "each of the " + reports.Plural(len(c.Tried), "run") },
	"evidence": evidence,
	"beside":   beside,
}).Parse(pageText))

// view is what the page shows of a report, besides the report itself.
type view struct {
	reports.Report
	Name, Closing, Color string
	Shown                []reports.Clause
	Unclaimed            []string
	Specs                []reports.Spec
	About                [][2]string
}

// HTML renders the report as one page that needs no network and no script. Its
// links lead to the artefacts beside it in the report folder.
func HTML(r reports.Report) ([]byte, error) {
	v := view{Report: r, Name: named(r.Target), Closing: Closing(r), Color: string(colorOf(r.Gate.ExitCode)), About: about(r)}
	v.Shown, v.Unclaimed = claimed(r)
	v.Specs = slices.Clone(r.Specs)
	slices.SortStableFunc(v.Specs, func(a, b reports.Spec) int {
		switch {
		case verdict.Worse(a.Verdict, b.Verdict):
			return -1
		case verdict.Worse(b.Verdict, a.Verdict):
			return 1
		}
		return 0
	})
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("rendering report.html: %w", err)
	}
	return b.Bytes(), nil
}

// colorOf is the verdict whose colour a gate's exit code has.
func colorOf(exitCode int) verdict.Verdict {
	switch exitCode {
	case 0:
		return verdict.Pass
	case 1:
		return verdict.Fail
	}
	return verdict.Inconclusive
}

// class is the style of a verdict; a word that is none has none.
func class(v verdict.Verdict) string {
	if !verdict.Valid(v) {
		return ""
	}
	return string(v)
}

// scene is a spec's ID without its clause, for a place that names the clause.
func scene(id string) string {
	_, name, ok := strings.Cut(id, "/")
	if !ok {
		name = id
	}
	return Plain(name)
}

// telling says whether a person has to look at a spec.
func telling(s reports.Spec) bool {
	return s.Verdict != verdict.Pass && s.Verdict != verdict.NotApplicable
}

// evidence is what a stage recorded, on one line.
func evidence(values map[string]any) string {
	if len(values) == 0 {
		return ""
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // the template does
	if err := encoder.Encode(values); err != nil {
		return Plain(fmt.Sprint(values))
	}
	return Plain(strings.TrimSpace(b.String()))
}

// beside is the link to a file of a spec's folder. It begins with a dot, so that
// no text can make it lead out of the file system.
func beside(s reports.Spec, name string) string {
	link := url.URL{Path: "./" + path.Join(s.Artifacts, name)}
	if name == "" {
		link.Path += "/"
	}
	return link.EscapedPath()
}

// about is the run itself, as rows of a name and a value.
func about(r reports.Report) [][2]string {
	e := r.Environment
	rows := [][2]string{
		{"holdfast", r.Tool.Version},
		{"contract", strings.TrimSpace(r.Contract.Version + " " + r.Contract.Digest)},
		{"target file", strings.TrimSpace(r.Target.File + " " + r.Target.Digest)},
		{"helper", strings.Join(r.Target.Command, " ")},
		{"its SHA-256", r.Target.SHA256},
		{"MCP revision", r.Target.Revision},
		{"profiles", strings.Join(r.Target.Profiles, ", ")},
		{"selected", selected(r.Selection)},
		{"seed", fmt.Sprint(r.Seed)},
		{"started", r.Started.UTC().Format(time.RFC3339)},
		{"took", r.Ended.Sub(r.Started).Round(time.Millisecond).String()},
		{"processes of the target", reports.Plural(r.Counts.ProcessStarts, "start")},
		{"machine", strings.TrimSpace(fmt.Sprintf("%s, %s, %s/%s %s", reports.Plural(e.CPUs, "CPU"), reports.Plural(e.Procs, "worker"), e.OS, e.Arch, e.Kernel))},
		{"kills", e.Kill},
	}
	return slices.DeleteFunc(rows, func(row [2]string) bool { return row[1] == "" })
}

// selected is what was asked for, in the words of the flags.
func selected(s reports.Selection) string {
	var words []string
	for _, f := range []struct {
		name   string
		values []string
	}{{"--profile", s.Profiles}, {"--select", s.Select}, {"--skip", s.Skip}, {"--level", []string{s.Level}}} {
		for _, value := range f.values {
			words = append(words, f.name+" "+value)
		}
	}
	return strings.Join(words, " ")
}
