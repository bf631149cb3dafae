package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2/maybe"
)

// The files of a report folder.
const (
	ReportFile   = "report.json"
	PlanFile     = "plan.json"
	ResultsFile  = "results.jsonl" // one Finished a line, as they finish
	StartedFile  = "started.jsonl" // one Started a line
	JUnitFile    = "junit.xml"
	SummaryFile  = "summary.md"
	HTMLFile     = "report.html"
	TargetFile   = "target.yaml" // the target file as it was run
	WorkersLog   = "workers.log" // what the workers printed
	MutantsFile  = "mutants.json"
	ArtifactsDir = "artifacts" // one folder a spec, named by its key
	ReproDir     = "repro"     // the folder of a repro
	ReproFile    = "repro.json"
)

// owned are the entries of a report folder that a later run may replace.
var owned = []string{
	ReportFile, PlanFile, ResultsFile, StartedFile, JUnitFile, SummaryFile, HTMLFile, TargetFile, WorkersLog,
	MutantsFile, ArtifactsDir, ReproDir, ReproFile,
}

func unwritable(folder string, err error) error {
	return fmt.Errorf("the report cannot be written to %q: %w; name a folder that you may write with --out", folder, err)
}

// usable refuses a folder that holds something other than a report.
func usable(folder string) error {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unwritable(folder, err)
	case !info.IsDir():
		return fmt.Errorf("the report cannot be written to %q: it is a file; name a folder with --out", folder)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return unwritable(folder, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == LockFile })
	if len(entries) == 0 || isOurs(folder) {
		return nil
	}
	return fmt.Errorf("the folder %q exists and holds no report of holdfast (no plan.json or report.json of it), so it is left alone; name another folder with --out, or empty this one", folder)
}

// isOurs says whether holdfast wrote the folder: other programs call files
// plan.json too, so the schema inside decides.
func isOurs(folder string) bool {
	for name, schema := range map[string]string{ReportFile: ReportSchema, PlanFile: PlanSchema} {
		kind, _, _ := strings.Cut(schema, "/")
		if got, err := schemaOf(filepath.Join(folder, name)); err == nil && strings.HasPrefix(got, kind+"/") {
			return true
		}
	}
	return false
}

func schemaOf(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var head struct {
		Schema string `json:"schema"`
	}
	err = json.Unmarshal(text, &head)
	return head.Schema, err
}

// roomy is what to do where a file of the folder cannot be written.
const roomy = "make room there, see that it may be written, or name another folder with --out"

// Write writes one of the folder's JSON files, whole or not at all.
func Write(folder, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return WriteText(folder, name, append(text, '\n'))
}

// WriteText writes one of the folder's files, whole or not at all.
func WriteText(folder, name string, text []byte) error {
	if err := maybe.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
		return fmt.Errorf("writing %s to the report folder %q: %w; "+roomy, name, folder, err)
	}
	return nil
}

// Read reads a report; path is a report folder or a report.json. The error says
// what was expected and what to do.
func Read(path string) (Report, error) {
	var r Report
	if err := read(path, ReportFile, ReportSchema, &r); err != nil {
		return Report{}, err
	}
	if wrong := noVerdict(r); wrong != "" {
		return Report{}, fmt.Errorf("%q: %s; expected %s; it was edited, run holdfast again", fileOf(path, ReportFile), wrong, verdictWords())
	}
	return r, nil
}

// ReadPlan reads a plan; path is a report folder or a plan.json.
func ReadPlan(path string) (Plan, error) {
	var p Plan
	if err := read(path, PlanFile, PlanSchema, &p); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// fileOf is the file that is meant by it or by its folder.
func fileOf(path, name string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, name)
	}
	return path
}

func read(path, name, schema string, into any) error {
	path = fileOf(path, name)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s at %q; name the folder that `holdfast run --out` wrote, or run it again", name, path)
	}
	if err != nil {
		return fmt.Errorf("reading %q: %w", path, err)
	}
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("%q is no %s: %w; it is cut or was edited, run holdfast again", path, name, err)
	}
	if head.Schema == nil {
		return fmt.Errorf("%q is no %s of holdfast: it names no schema, expected %q", path, name, schema)
	}
	if *head.Schema != schema {
		return fmt.Errorf("%q has the schema %q, and this holdfast reads %q; use the version of holdfast that wrote it, or run this one again", path, *head.Schema, schema)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%q is no %s of schema %q: %w; it was edited, run holdfast again", path, name, schema, err)
	}
	return nil
}
