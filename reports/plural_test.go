package reports

import "testing"

func TestPlural(t *testing.T) {
	for _, c := range []struct {
		n     int
		thing string
		want  string
	}{
		{1, "spec", "1 spec"},
		{0, "spec", "0 specs"},
		{2, "process", "2 processes"},
		{1, "process", "1 process"},
		{2, "process start", "2 process starts"},
		{3, "box", "3 boxes"},
		{3, "branch", "3 branches"},
		{3, "hash", "3 hashes"},
		{2, "entry", "2 entries"},
		{2, "retry", "2 retries"},
		{2, "key", "2 keys"},
		{2, "acknowledged write", "2 acknowledged writes"},
		{2, "y", "2 ys"},
	} {
		if got := Plural(c.n, c.thing); got != c.want {
			t.Errorf("Plural(%d, %q) is %q, expected %q", c.n, c.thing, got, c.want)
		}
	}
}
