package reports

import (
	"strconv"
	"strings"
)

// Plural is a number of things in words, of which the last one is a noun with a
// regular plural: "1 spec", "2 specs", "2 processes", "2 entries".
func Plural(n int, thing string) string {
	if n != 1 {
		thing = plural(thing)
	}
	return strconv.Itoa(n) + " " + thing
}

func plural(thing string) string {
	for _, hissing := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(thing, hissing) {
			return thing + "es"
		}
	}
	stem, ends := strings.CutSuffix(thing, "y")
	if ends && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return thing + "s"
}
