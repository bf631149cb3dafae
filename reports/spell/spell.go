// Package spell tells how far what was written is from a word that is known.
package spell

// longest bounds the words that are compared, in characters: what is longer is no
// slip of a known word.
const longest = 64

// Slips counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b, in characters (optimal string alignment). A word of more
// than 64 characters is 64 slips away from every other.
func Slips(a, b string) int {
	x, y := []rune(a), []rune(b)
	switch {
	case a == b:
		return 0
	case len(x) > longest || len(y) > longest:
		return longest
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(x)][len(y)]
}
