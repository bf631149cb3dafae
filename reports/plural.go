package reports

import "strconv"

// Plural is a number of things in words: "1 spec", "2 specs".
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
