package spell

import (
	"strings"
	"testing"
)

func TestSlips(t *testing.T) {
	long := strings.Repeat("x", longest+1)
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"helper", "helper", 0},
		{"", "helper", 6},
		{"helpr", "helper", 1},
		{"helpers", "helper", 1},
		{"halper", "helper", 1},
		{"hlepr", "helper", 2},
		{"ehlper", "helper", 1},
		{"app", "helper", 5},
		{"größe", "grosse", 3},
		{"größe", "größer", 1},
		{long, long, 0},
		{long, "x", longest},
	} {
		if got, back := Slips(tt.a, tt.b), Slips(tt.b, tt.a); got != tt.want || back != tt.want {
			t.Errorf("from %q to %q there are %d slips, and %d back; expected %d", tt.a, tt.b, got, back, tt.want)
		}
	}
}
