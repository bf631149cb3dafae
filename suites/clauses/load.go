package clauses

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// current is the set that runs are held to.
const current = "0.1-draft"

//go:embed */*.yaml frozen.yaml
var embedded embed.FS

var parsed = sync.OnceValues(func() (*Catalogue, error) { return load(embedded, current) })

// Current returns the clause set that runs are held to. The embedded files are
// tested, so they parse; should they ever not, the catalogue is empty, and a
// run that finds no clause ends as "nothing ran", never as passed.
func Current() *Catalogue {
	c, err := parsed()
	if err != nil {
		return &Catalogue{Version: current}
	}
	return c
}

// header is set.yaml, the part of a set that is no clause.
type header struct {
	Version  string        `yaml:"version"`
	Profiles []Profile     `yaml:"profiles"`
	Reserved []Reservation `yaml:"reserved"`
	Words    []Word        `yaml:"words"`
}

// sheet is the file of one profile, named after it.
type sheet struct {
	Profile string   `yaml:"profile"`
	Clauses []Clause `yaml:"clauses"`
}

// load reads and checks one set. An error names the file, and where the YAML
// itself is wrong the line and column.
func load(files fs.FS, version string) (*Catalogue, error) {
	var h header
	if err := decode(files, path.Join(version, "set.yaml"), &h); err != nil {
		return nil, err
	}
	if h.Version != version {
		return nil, fmt.Errorf("clause set %s: set.yaml says version %q; a set is named like its folder", version, h.Version)
	}
	c := &Catalogue{Version: version, profiles: h.Profiles, reserved: h.Reserved, words: h.Words, byID: map[string]int{}}
	for _, p := range h.Profiles {
		name := path.Join(version, p.Name+".yaml")
		var s sheet
		if err := decode(files, name, &s); err != nil {
			return nil, err
		}
		if s.Profile != p.Name {
			return nil, fmt.Errorf("clause set: %s says profile %q; expected %q as set.yaml lists it", name, s.Profile, p.Name)
		}
		if err := c.add(p, s.Clauses); err != nil {
			return nil, fmt.Errorf("clause set: %s: %w", name, err)
		}
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("clause set %s: %w", version, err)
	}
	digest, err := digestOf(files, version, len(h.Profiles)+1)
	if err != nil {
		return nil, err
	}
	c.Digest = digest
	return c, nil
}

func decode(files fs.FS, name string, into any) error {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return fmt.Errorf("clause set: reading %s: %w", name, err)
	}
	// Strict refuses unknown and repeated keys.
	if err := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict()).Decode(into); err != nil {
		return fmt.Errorf("clause set: %s: %s", name, strings.TrimSpace(yaml.FormatError(err, false, true)))
	}
	return nil
}

// add takes over one profile's clauses, which must be numbered 01, 02, … in the
// order in which they stand.
func (c *Catalogue) add(p Profile, clauses []Clause) error {
	for i, clause := range clauses {
		want := fmt.Sprintf("%s-%02d", p.Prefix, i+1)
		if clause.ID != want {
			return fmt.Errorf("clause %d of the file has ID %q; expected %q, numbers have no gaps and no other order", i+1, clause.ID, want)
		}
		clause.Profile = p.Name
		clause.Text = strings.TrimSpace(clause.Text)
		clause.Breaks = strings.TrimSpace(clause.Breaks)
		c.byID[clause.ID] = len(c.clauses)
		c.clauses = append(c.clauses, clause)
	}
	return nil
}

// digestOf hashes names, lengths and bytes of a set's files, so that moving
// text from one file to another changes the digest too.
func digestOf(files fs.FS, version string, want int) (string, error) {
	names, err := fs.Glob(files, path.Join(version, "*.yaml")) // sorted
	if err != nil {
		return "", fmt.Errorf("clause set %s: listing its files: %w", version, err)
	}
	if len(names) != want {
		return "", fmt.Errorf("clause set %s has %d files (%s); expected set.yaml and one a profile, %d in all", version, len(names), strings.Join(names, ", "), want)
	}
	sum := sha256.New()
	for _, name := range names {
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return "", fmt.Errorf("clause set: reading %s: %w", name, err)
		}
		fmt.Fprintf(sum, "%s %d\n", path.Base(name), len(b))
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
