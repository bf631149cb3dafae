package crashpoint

import (
	"strings"
	"testing"
)

func TestMade(t *testing.T) {
	r := made("1 mkdir lock", "1 make a.new", "1 !make b.new", "1 write a.new", "1 linkat a.new a.link", "1 rename a.new a", "1 unlink a.link", "1 rmdir lock", "1 make kept")
	for _, c := range []struct {
		n    int
		side Side
		want string
	}{
		{1, Before, ""},
		{1, After, "lock"},
		{2, After, "a.new lock"},
		{4, After, "a.new lock"},
		{5, After, "a.link a.new lock"},
		{6, Before, "a.link a.new lock"},
		{6, After, "a.link lock"},
		{8, After, ""},
		{9, After, "kept"},
	} {
		at := Moment{r.Points[c.n-1], c.side}
		if got := strings.Join(r.Made(at), " "); got != c.want {
			t.Errorf("%s point %d there was %q, expected %q", c.side, c.n, got, c.want)
		}
	}
	// The point that a run was struck at is told when it ends, if at all.
	short := Record{Points: r.Points[:1]}
	if got := strings.Join(short.MadeBy(Moment{r.Points[1], After}), " "); got != "a.new lock" {
		t.Errorf("struck behind a point that is not in the record there was %q", got)
	}
}
