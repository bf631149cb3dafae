package crashpoint

import (
	"maps"
	"slices"
)

// Made are the paths of what the record's own calls had made by a moment, and had
// not taken away again: files, folders and links. What a rename puts in the place of
// something else is not among them, because it was there before as well.
func (r Record) Made(at Moment) []string {
	there := map[string]bool{}
	for _, p := range r.inOrder() {
		if p.N > at.Point.N || p.N == at.Point.N && at.Side == Before {
			break
		}
		if p.Kind != State || p.Instead != "" || p.Done && p.Result < 0 {
			continue
		}
		switch p.Call {
		case "open", "openat", "openat2", "creat":
			if p.Before < 0 {
				there[p.Path] = true
			}
		case "mkdir", "mkdirat", "symlink", "symlinkat":
			there[p.Path] = true
		case "link", "linkat":
			there[p.To] = true
		case "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir":
			delete(there, p.Path)
		}
	}
	return slices.Sorted(maps.Keys(there))
}

// MadeBy is Made of a run that was struck at a moment of its own, whose point need
// not be in its record.
func (r Record) MadeBy(struck Moment) []string { return r.with(struck.Point).Made(struck) }
