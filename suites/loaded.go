package suites

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/fixtures/postgres"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// Loaded is a target file together with its text, so that workers and a later
// repro read what the plan was made of, not what the file has become.
type Loaded struct {
	File *target.File `json:"-"`
	// Path is the file's, empty for a built-in of that Name.
	Path string `json:"path,omitempty"`
	Name string `json:"name"`
	Text []byte `json:"text"`
}

// Load reads a target: the path of a target file, or the name of a built-in.
// What has the form of a path is a file; of what has not, a built-in goes before
// whatever lies in the working directory under its name.
func (h Harness) Load(nameOrPath string) (Loaded, error) {
	_, err := os.Stat(nameOrPath)
	_, builtin := h.Builtin(nameOrPath)
	if err == nil && !builtin || strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(nameOrPath, ".yaml") || strings.HasSuffix(nameOrPath, ".yml") {
		return loadFile(nameOrPath)
	}
	text, ok := h.Builtin(nameOrPath)
	if !ok {
		return Loaded{}, Usage("there is no target %q: no file of that path, and no built-in of that name; built-in are %s%s",
			nameOrPath, strings.Join(h.BuiltinNames(), ", "), nearText(nameOrPath, h.BuiltinNames()))
	}
	f, err := target.Parse("built-in "+nameOrPath, text)
	if err != nil {
		return Loaded{}, asUsage(err)
	}
	return Loaded{File: f, Name: f.Name, Text: text}, nil
}

func loadFile(path string) (Loaded, error) {
	// Load says what is wrong with the file as a file; what was read is parsed.
	if _, err := target.Load(path); err != nil {
		return Loaded{}, asUsage(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Loaded{}, asUsage(err)
	}
	f, err := target.Parse(path, text)
	if err != nil {
		return Loaded{}, asUsage(err)
	}
	// Workers may stand elsewhere, and secrets are read relative to the file.
	if f.Path, err = filepath.Abs(path); err != nil {
		return Loaded{}, fmt.Errorf("finding the target file: %w", err)
	}
	return Loaded{File: f, Path: f.Path, Name: f.Name, Text: text}, nil
}

// reload parses the text again, in a worker or for a repro.
func (l Loaded) reload() (Loaded, error) {
	name := l.Path
	if name == "" {
		name = "built-in " + l.Name
	}
	f, err := target.Parse(name, l.Text)
	if err != nil {
		return Loaded{}, err
	}
	f.Path = l.Path
	l.File = f
	return l, nil
}

// isReference says whether nothing of the target is anybody's but ours, so that
// a control run on the reference would be the same run again.
func isReference(f *target.File) bool {
	for _, p := range f.Processes {
		if len(p.Run) > 0 || p.Image != "" {
			return false
		}
	}
	return true
}

// helperCommand is what starts the helper, as the file has it, with no secret.
func helperCommand(f *target.File) []string {
	p := f.Processes[f.Helper()]
	switch {
	case onPage(p):
		return []string{p.MCP.WebMCP}
	case p.Reference != "":
		return []string{"{{self}}", "reference", p.Reference}
	case p.Image != "":
		return []string{p.Image}
	}
	return p.Run
}

// notHere says why no spec can be run on the target by this version of holdfast, or
// on this machine.
func notHere(f *target.File) string {
	for _, name := range slices.Sorted(maps.Keys(f.Processes)) {
		p := f.Processes[name]
		if boxed(p) {
			return fmt.Sprintf("process %s is a container (image: %s): that needs Docker, and this version starts no containers", name, p.Image)
		}
		if onPostgres(p) {
			if _, err := postgres.Find(); err != nil {
				return fmt.Sprintf("process %s needs PostgreSQL: %v", name, err)
			}
		}
	}
	return ""
}
