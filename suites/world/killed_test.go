package world

import (
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/faults/crashpoint"
	"github.com/holdfast-mcp/holdfast/fixtures/target"
)

// written is a record of calls on files, a call, its path and where it leads each; an
// open makes its file.
func written(calls ...[3]string) crashpoint.Record {
	var r crashpoint.Record
	for i, c := range calls {
		p := crashpoint.Point{N: i + 1, Call: c[0], Path: c[1], To: c[2], Kind: crashpoint.State, Done: true, Result: 1}
		if p.Call == "open" {
			p.Before = -1
		}
		r.Points = append(r.Points, p)
	}
	return r
}

func TestPlacesOfKills(t *testing.T) {
	for _, c := range []struct {
		name   string
		record crashpoint.Record
		places int
		want   []string
	}{
		{"the last moment of what stands there",
			written([3]string{"open", "a.new"}, [3]string{"write", "a.new"}, [3]string{"rename", "a.new", "a"}), 2, []string{"before rename a.new"}},
		{"where most stands there",
			written([3]string{"mkdir", "lock"}, [3]string{"open", "a.new"}, [3]string{"rename", "a.new", "a"}, [3]string{"rmdir", "lock"}), 2, []string{"before rename a.new"}},
		{"what does not stay comes first",
			written([3]string{"open", "record"}, [3]string{"write", "record"}, [3]string{"open", "index.new"}, [3]string{"rename", "index.new", "index"}), 2, []string{"before rename index.new"}},
		{"one behind the other",
			written([3]string{"open", "journal"}, [3]string{"unlink", "journal"}, [3]string{"open", "record"}), 2, []string{"before unlink journal", "after open record"}},
		{"no more than asked for",
			written([3]string{"open", "journal"}, [3]string{"unlink", "journal"}, [3]string{"open", "record"}), 1, []string{"before unlink journal"}},
		{"rewritten in place", written([3]string{"write", "a"}), 2, nil},
		{"what the machine empties", written([3]string{"open", "tmp/x"}, [3]string{"open", "log.1"}), 2, nil},
	} {
		k := &killing{Kills: Kills{Made: true, Places: c.places}, w: &World{Target: &target.File{State: target.State{Exclude: []string{"log.*"}}}}}
		var got []string
		for _, m := range k.places(c.record) {
			got = append(got, string(m.Side)+" "+m.Point.Call+" "+m.Point.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	if got := spread(all, 4); !slices.Equal(got, []int{0, 3, 6, 9}) {
		t.Errorf("4 of ten are %v", got)
	}
	if got := spread(all[:3], 4); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("4 of three are %v", got)
	}
}
