package clauses

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/spell"
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
		if d := spell.Slips(typed, clause.ID); d <= farthest {
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
