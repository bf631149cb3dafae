package clauses

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// suggestions is how many near misses are worth reading.
const suggestions = 3

// farthest is the largest number of edits that still counts as a near miss.
const farthest = 2

var loose = regexp.MustCompile(`^([A-Z]+)[^A-Z0-9]*([0-9]+)$`)

// Suggest returns the clause IDs that somebody may have meant who typed id,
// nearest first, at most three. Case, separator and leading zeros do not
// matter: "wr6" gives WR-06 alone. It is empty where nothing is near.
func (c *Catalogue) Suggest(id string) []string {
	typed := strings.ToUpper(strings.TrimSpace(id))
	if m := loose.FindStringSubmatch(typed); m != nil {
		if n, err := strconv.Atoi(m[2]); err == nil {
			typed = fmt.Sprintf("%s-%02d", m[1], n)
		}
	}
	if _, ok := c.byID[typed]; ok {
		return []string{typed}
	}
	type near struct {
		id    string
		edits int
	}
	var found []near
	for _, clause := range c.clauses {
		if d := edits(typed, clause.ID); d <= farthest {
			found = append(found, near{clause.ID, d})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].edits < found[j].edits })
	var ids []string
	for i := 0; i < len(found) && i < suggestions; i++ {
		ids = append(ids, found[i].id)
	}
	return ids
}

// edits counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b.
func edits(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
