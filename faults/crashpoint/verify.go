package crashpoint

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Standing says how a run's trace compares with the record.
type Standing string

const (
	// Verified: all that had happened before is what had happened in the record.
	Verified Standing = "verified"
	// Readdressed: something else had happened before, but the run was struck at
	// the recorded call, on the recorded file, at the recorded occurrence.
	Readdressed Standing = "re-addressed"
	// Drifted: the run was struck somewhere else, or not at all. It proves nothing.
	Drifted Standing = "drifted"
)

// Verify says whether a run was struck at the moment at which it should have been.
// struck is the point of the run at which it was, nil if it was not. Compared is
// what changed something, in order, or, where threads interleaved in another way,
// in order within each thread. Names of temporary files may differ. The reason is
// for a person, "" where all matches.
func Verify(record Record, at Moment, run Record, struck *Point) (Standing, string) {
	if struck == nil {
		return Drifted, fmt.Sprintf("the run never came to %s", spot(at.Point))
	}
	recorded := temporaries(record.inOrder(), nil)
	want, wantAt := upTo(record, at.Point, at.Side, recorded), renamed(at.Point, recorded)
	made := temporaries(run.with(*struck).inOrder(), lasting(record.inOrder(), recorded))
	got, gotAt := upTo(run, *struck, at.Side, made), renamed(*struck, made)

	here := wantAt.Same(gotAt)
	if here && slices.EqualFunc(want, got, Point.Same) {
		return Verified, ""
	}
	if here && slices.Equal(threads(want), threads(got)) {
		return Verified, ""
	}
	why := difference(want, got)
	if why == "" {
		why = fmt.Sprintf("it was struck at %s", spot(*struck))
	}
	if here && at.Point.Occurrence == struck.Occurrence {
		return Readdressed, why
	}
	return Drifted, fmt.Sprintf("expected %s, but %s", spot(at.Point), why)
}

// with adds the point that a run was struck at: it is not in the record of a run
// that was killed before it.
func (r Record) with(struck Point) Record {
	for _, p := range r.Points {
		if p.N == struck.N {
			return r
		}
	}
	return Record{Points: append(slices.Clone(r.Points), struck)}
}

// upTo is what had changed something before a moment, under its canonical names.
func upTo(r Record, at Point, side Side, names map[string]string) []Point {
	var before []Point
	for _, p := range r.changes() {
		if p.N < at.N || p.N == at.N && side == After {
			before = append(before, renamed(p, names))
		}
	}
	return before
}

// threads is what each thread did, one text a thread, sorted: a thread has no
// name that would be the same in another run.
func threads(points []Point) []string {
	each := map[int]string{}
	for _, p := range points {
		each[p.Thread] += signature(p) + "\n"
	}
	var all []string
	for _, text := range each {
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

func signature(p Point) string {
	return strings.Join([]string{p.Call, string(p.Kind), p.Name, p.ToName}, "\x00")
}

func difference(want, got []Point) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%s had not happened", spot(want[i]))
		case i >= len(want):
			return fmt.Sprintf("%s had happened as well", spot(got[i]))
		case !want[i].Same(got[i]):
			return fmt.Sprintf("at number %d of what changed, %s came instead of %s", i+1, spot(got[i]), spot(want[i]))
		}
	}
	return ""
}

func spot(p Point) string {
	text := fmt.Sprintf("%s of %s", p.Call, p.Name)
	if p.ToName != "" {
		text += " to " + p.ToName
	}
	if p.Occurrence > 1 {
		text += fmt.Sprintf(" (occurrence %d)", p.Occurrence)
	}
	return text
}

// lasting are the names of a record that are not temporary.
func lasting(points []Point, temporary map[string]string) map[string]bool {
	names := map[string]bool{}
	for _, p := range points {
		for _, name := range []string{p.Name, p.ToName} {
			if temporary[name] == "" {
				names[name] = true
			}
		}
	}
	return names
}

// temporaries gives the files that were made on the way a name by folder and
// order, because their own may be random. In the record these are the files that
// were made, and then renamed or removed. A run ends before that, so there they
// are the ones that were made and are called like no lasting file of the record.
func temporaries(points []Point, lasting map[string]bool) map[string]string {
	gone := map[string]bool{}
	for _, p := range points {
		if p.Done && p.Result < 0 {
			continue
		}
		switch p.Call {
		case "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir":
			gone[p.Name] = true
		}
	}
	names, count := map[string]string{}, map[string]int{}
	for _, p := range points {
		if !makes(p) || names[p.Name] != "" {
			continue
		}
		if lasting == nil && gone[p.Name] || lasting != nil && !lasting[p.Name] {
			folder := path.Dir(p.Name)
			count[folder]++
			names[p.Name] = fmt.Sprintf("%s/temporary %d", folder, count[folder])
		}
	}
	return names
}

func makes(p Point) bool {
	switch p.Call {
	case "open", "openat", "openat2", "creat":
		return p.Before < 0
	case "mkdir", "mkdirat":
		return true
	}
	return false
}

func renamed(p Point, names map[string]string) Point {
	if name := names[p.Name]; name != "" {
		p.Name = name
	}
	if name := names[p.ToName]; name != "" {
		p.ToName = name
	}
	return p
}
