package world

import (
	"testing"

	. "github.com/onsi/gomega"
)

// A file of whole lines looks undamaged, however many were cut off behind them.
func TestTheFirstHalfEndsWithinALine(t *testing.T) {
	g := NewWithT(t)
	for was, want := range map[string]string{
		"":                       "",
		"one line without end":   "one line w",
		"abcd\nefgh\n":           "ab",       // the middle is behind a line
		"abcd\nef\ngh":           "ab",       // or before its end
		"abcd\nefgh\nij\nklmn\n": "abcd\nef", // of the line that the middle ends
		"abcdef\n\n\n\n\n\n":     "abc",
		"\n\n":                   "",
	} {
		g.Expect(string(firstHalf([]byte(was)))).To(Equal(want), "%q", was)
	}
}
