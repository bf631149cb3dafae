package world

import "testing"

func TestAHandleThatWasNeverIssuedLooksLikeOneThatWas(t *testing.T) {
	for issued, want := range map[string]string{
		"item_ab2":                             "meti_ab2",
		"bsk_a1b2c3":                           "bsk_3c2b1a",
		"0b9e6c1e-58c4-4f6d-9a57-1c2d3e4f5a6b": "0b9e6c1e-58c4-4f6d-9a57-b6a5f4e3d2c1",
		"7":                                    "987654321",
		"987654321":                            "987654320",
		"aba":                                  "abax",
		"--":                                   "--x",
	} {
		if got := unlike(issued); got != want {
			t.Errorf("unlike %q is %q, want %q", issued, got, want)
		}
	}
}

func TestAHandleIsATextInATemplate(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{{nil, ""}, {"x", "x"}, {7, "7"}, {map[string]any{"a": 1}, `{"a":1}`}} {
		if got := textOf(c.v); got != c.want {
			t.Errorf("%v is %q, want %q", c.v, got, c.want)
		}
	}
}
