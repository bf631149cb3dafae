package trail

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Naming says which files count as state, and how they are called.
type Naming struct {
	// Roots are the folders whose files count; none means all files outside of
	// /proc, /sys and /dev.
	Roots []string `json:"roots,omitempty"`
	// Exclude are patterns (path.Match) over the relative path or its last part;
	// what they match does not count.
	Exclude []string `json:"exclude,omitempty"`
	// Patterns are regular expressions for what differs from run to run in this
	// target's names; what they match becomes "*". Usual temporary names are known.
	Patterns []string `json:"patterns,omitempty"`
}

// Names is a checked Naming.
type Names struct {
	Naming
	own []*regexp.Regexp
}

// Check compiles the patterns and makes the roots absolute and free of links.
func (n Naming) Check() (*Names, error) {
	names := &Names{Naming: Naming{Exclude: n.Exclude, Patterns: n.Patterns}}
	for _, root := range n.Roots {
		real, err := filepath.EvalSymlinks(root)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return nil, fmt.Errorf("the root %s of the files to be traced: %w; make the folder before the target starts", root, err)
		}
		names.Roots = append(names.Roots, real)
	}
	for _, glob := range n.Exclude {
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("the pattern %q of files that do not count: %w", glob, err)
		}
	}
	for _, text := range n.Patterns {
		r, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("the pattern %q of names that differ from run to run: %w", text, err)
		}
		names.own = append(names.own, r)
	}
	return names, nil
}

// Relative gives the name of an absolute path below its root, and whether the
// file counts as state.
func (n *Names) Relative(absolute string) (name string, counts bool) {
	if !filepath.IsAbs(absolute) {
		return absolute, false
	}
	if len(n.Roots) == 0 {
		for _, kernel := range []string{"/proc/", "/sys/", "/dev/"} {
			if strings.HasPrefix(absolute, kernel) && !strings.HasPrefix(absolute, "/dev/shm/") {
				return absolute, false
			}
		}
		return absolute, !n.excluded(absolute)
	}
	for i, root := range n.Roots {
		inside, ok := below(root, absolute)
		if !ok {
			continue
		}
		counts = !n.excluded(inside)
		if i > 0 { // so that equal names in two roots stay two
			inside = path.Join(filepath.Base(root), inside)
		}
		return inside, counts
	}
	return absolute, false
}

func below(root, absolute string) (string, bool) {
	if absolute == root {
		return ".", true
	}
	return strings.CutPrefix(absolute, strings.TrimSuffix(root, "/")+"/")
}

func (n *Names) excluded(name string) bool {
	for _, glob := range n.Exclude {
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
		if ok, _ := path.Match(glob, path.Base(name)); ok {
			return true
		}
	}
	return false
}

// What is random in names, wherever it stands: UUIDs, hexadecimal numbers of 8
// digits or more, decimal ones of 5 or more (process numbers, times, counters of
// the usual temporary files).
var random = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|[0-9a-fA-F]{8,}|[0-9]{5,}`)

// A name that says itself that it is temporary, and what may be random in it.
var (
	temporary = regexp.MustCompile(`(?i)te?mp|\.sw[a-z]$|~|\.part|^\.`)
	token     = regexp.MustCompile(`[A-Za-z0-9_]+`)
	stem      = regexp.MustCompile(`(?i)^te?mp`)
)

// Pattern replaces by "*" what differs from run to run in a name. Two names of
// the same part in two runs have the same pattern.
func (n *Names) Pattern(name string) string {
	for _, r := range n.own {
		name = r.ReplaceAllString(name, "*")
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = pattern(part)
	}
	return strings.Join(parts, "/")
}

func pattern(part string) string {
	marked := temporary.MatchString(part)
	part = random.ReplaceAllStringFunc(part, func(found string) string {
		if len(found) < 36 && !strings.ContainsAny(found, "0123456789") {
			return found // a word of the letters a to f
		}
		return "*"
	})
	if !marked {
		return part
	}
	return token.ReplaceAllStringFunc(part, func(found string) string {
		head := stem.FindString(found)
		rest := found[len(head):]
		if strings.ContainsAny(rest, "0123456789") || head != "" && len(rest) >= 4 {
			return head + "*"
		}
		return found
	})
}

// WALIndex: the shared-memory index beside an SQLite database, which is built
// anew after a crash and so is no durable state.
func WALIndex(name string) bool { return strings.HasSuffix(name, "-shm") }
