package durability

import "strings"

// awkward are values that a text field may hold and that servers trip over;
// each carries a word of its own, so that it is told from all the others. A
// refusal of one is fine (DU-21 speaks of what was accepted).
func (s *scene) awkward() []string {
	shapes := []string{
		`"quoted" and \ back`, "two\nlines", "tab\tand\rreturn", "'; drop table notes; --",
		"<script>alert(1)</script>", "{{template}}", "emoji 🪨 and é combined", "line\u2028separator",
		`{"json": [1, 2`, "nul \u0000 inside", strings.Repeat("long ", 13_000), strings.Repeat("past 65,535 bytes ", 3_700), " spaces around ",
	}
	values := []string{}
	for i, shape := range shapes {
		values = append(values, s.Word("awkward-"+string(rune('a'+i)))+" "+shape)
	}
	return append(values, s.Target.Profiles.Durability.Awkward...)
}
