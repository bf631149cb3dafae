package trail

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	n, err := Naming{Patterns: []string{`^gen-[a-z]+`}}.Check()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"library.db":                               "library.db",
		"library.db-wal":                           "library.db-wal",
		"notes/7/note-123.json":                    "notes/7/note-123.json",
		"feedface":                                 "feedface", // a word
		"store.json.2733937206":                    "store.json.*",
		".store.json283910482":                     ".store.json*",
		"store.json.a1b2c3d4":                      "store.json.*",
		"memory.json.4711.deadbeef01.tmp":          "memory.json.*.*.tmp",
		"tmpk2j3h4_8":                              "tmp*",
		"tmpabcdefgh":                              "tmp*",
		"template.json":                            "temp*.json", // coarser than need be, never wrong
		"a/0b9c2f8e-7d51-4b0e-9a3c-2f1d5e6a7b8c/x": "a/*/x",
		"gen-abc/file":                             "*/file",
		".":                                        ".",
	} {
		if got := n.Pattern(name); got != want {
			t.Errorf("the pattern of %s is %s, expected %s", name, got, want)
		}
	}
}

func TestRelative(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first, second, link := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "link")
	for _, err := range []error{os.Mkdir(first, 0o700), os.Mkdir(second, 0o700), os.Symlink(first, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	n, err := Naming{Roots: []string{link, second}, Exclude: []string{"*.log", "cache/*"}}.Check()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, name string
		counts     bool
	}{
		{first, ".", true},
		{first + "/a/b", "a/b", true},
		{first + "ly/a", first + "ly/a", false},
		{second + "/a", "second/a", true},
		{first + "/deep/server.log", "deep/server.log", false},
		{first + "/cache/x", "cache/x", false},
		{first + "/cache/x/y", "cache/x/y", true},
		{"/etc/passwd", "/etc/passwd", false},
		{"pipe:[1]", "pipe:[1]", false},
	} {
		if name, counts := n.Relative(c.path); name != c.name || counts != c.counts {
			t.Errorf("%s is called %s and counts = %v, expected %s, %v", c.path, name, counts, c.name, c.counts)
		}
	}
	all, err := Naming{}.Check()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"/var/lib/x": true, "/proc/self/mem": false, "/dev/null": false, "/dev/shm/x": true, "/sys/x": false} {
		if _, counts := all.Relative(path); counts != want {
			t.Errorf("without roots %s counts = %v, expected %v", path, counts, want)
		}
	}
}

func TestNamingThatIsWrongIsSaid(t *testing.T) {
	for want, n := range map[string]Naming{
		"make the folder before the target starts":                {Roots: []string{filepath.Join(t.TempDir(), "none")}},
		`the pattern "[" of files that do not count`:              {Exclude: []string{"["}},
		`the pattern "(" of names that differ from run to run`:    {Patterns: []string{"("}},
		`the pattern "a(b" of names that differ from run to run:`: {Patterns: []string{"x", "a(b"}},
	} {
		if _, err := n.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, expected %q", n, err, want)
		}
	}
}

func TestChanges(t *testing.T) {
	done := func(p Point) Point { p.Kind, p.Done = State, true; return p }
	for _, c := range []struct {
		what string
		p    Point
		want bool
	}{
		{"a write", done(Point{Call: "write", Result: 8}), true},
		{"a write that failed", done(Point{Call: "write", Result: -28}), false},
		{"a write of nothing", done(Point{Call: "write"}), false},
		{"a write that was about to be", Point{Call: "write", Kind: State, Bytes: 8}, true},
		{"a write that got an error instead", Point{Call: "write", Kind: State, Instead: "EIO"}, false},
		{"a write into the WAL index", done(Point{Call: "pwrite64", Path: "a.db-shm", Result: 8}), false},
		{"a write into the WAL", done(Point{Call: "pwrite64", Path: "a.db-wal", Result: 8}), true},
		{"fsync", done(Point{Call: "fsync"}), false},
		{"fdatasync", done(Point{Call: "fdatasync"}), false},
		{"msync", done(Point{Call: "msync"}), false},
		{"an open that makes the file", done(Point{Call: "openat", Before: -1, Result: 3}), true},
		{"an open of what is there", done(Point{Call: "openat", Before: 100, Result: 3}), false},
		{"an open that empties it", done(Point{Call: "openat", Before: 100, Truncates: true, Result: 3}), true},
		{"an open that empties the empty", done(Point{Call: "openat", Before: 0, Truncates: true, Result: 3}), false},
		{"truncating to another length", done(Point{Call: "ftruncate", Before: 100}), true},
		{"truncating to the same length", done(Point{Call: "ftruncate", Before: 100, Bytes: 100}), false},
		{"rename", done(Point{Call: "rename"}), true},
		{"a mkdir of what is there", done(Point{Call: "mkdirat", Result: -17}), false},
		{"an answer", Point{Call: "write", Kind: Ack, Done: true, Result: 9}, true},
		{"an answer for which there is no room yet", Point{Call: "write", Kind: Ack, Done: true, Result: -11}, false},
		{"an answer that waits", Point{Call: "write", Kind: Ack}, true},
	} {
		if got := c.p.Changes(); got != c.want {
			t.Errorf("%s changes something = %v, expected %v", c.what, got, c.want)
		}
	}
}

func TestTriggerIsChecked(t *testing.T) {
	at := Address{N: 3}
	for _, c := range []struct {
		trigger Trigger
		want    string
	}{
		{Trigger{At: at, Side: Before, Do: Kill}, ""},
		{Trigger{At: Address{Call: "write", Name: "x", Occurrence: 1}, Side: After, Do: Hold}, ""},
		{Trigger{At: at, Do: Fail, Error: "ENOSPC"}, ""},
		{Trigger{Side: Before, Do: Kill}, "needs a point"},
		{Trigger{At: Address{Call: "write"}, Side: Before, Do: Kill}, "needs a point"},
		{Trigger{At: at, Do: Kill}, `no side ""`},
		{Trigger{At: at, Side: Before, Do: "explode"}, `cannot do "explode"`},
		{Trigger{At: at, Do: Fail, Error: "EWHAT"}, `cannot return the error "EWHAT"; it can return EACCES`},
	} {
		err := c.trigger.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.trigger, err, c.want)
		}
	}
}

func TestCanFail(t *testing.T) {
	for _, c := range []struct {
		p    Point
		name string
		want bool
	}{
		{Point{Call: "write", Kind: State}, "ENOSPC", true},
		{Point{Call: "unlink", Kind: State}, "ENOSPC", false},
		{Point{Call: "unlink", Kind: State}, "EIO", true},
		{Point{Call: "fsync", Kind: State}, "ENOSPC", true},
		{Point{Call: "write", Kind: Ack}, "EIO", false},
		{Point{Call: "write", Kind: State}, "EWHAT", false},
	} {
		if got := CanFail(c.p, c.name); got != c.want {
			t.Errorf("%s of %s with %s = %v, expected %v", c.p.Call, c.p.Kind, c.name, got, c.want)
		}
	}
}

func TestAddress(t *testing.T) {
	p := Point{N: 4, Call: "write", Name: "a", Occurrence: 2}
	for _, c := range []struct {
		a    Address
		is   bool
		text string
	}{
		{Address{N: 4}, true, "point 4"},
		{Address{N: 5}, false, "point 5"},
		{Address{Call: "write", Name: "a", Occurrence: 2}, true, "write of a, occurrence 2"},
		{Address{Call: "write", Name: "a", Occurrence: 1}, false, "write of a, occurrence 1"},
	} {
		if got := c.a.Names(p); got != c.is || c.a.String() != c.text {
			t.Errorf("%s names it = %v, expected %s, %v", c.a, got, c.text, c.is)
		}
	}
}

func TestBlind(t *testing.T) {
	for _, c := range []struct {
		b        Blind
		harmless bool
		text     string
	}{
		{Blind{What: "mmap", Path: "a.db-shm"}, true, "the target writes a.db-shm through memory (mmap)"},
		{Blind{What: "mmap", Path: "a.mdb"}, false, "the target writes a.mdb through memory (mmap)"},
		{Blind{What: "io_uring"}, false, "the target uses an io_uring, whose writes are no system calls"},
		{Blind{What: "foreign"}, false, "the target makes system calls of another word size"},
	} {
		if c.b.Harmless() != c.harmless || c.b.String() != c.text {
			t.Errorf("%+v: harmless = %v, %q", c.b, c.b.Harmless(), c.b)
		}
	}
}
