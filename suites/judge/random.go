package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

const (
	idPrefix  = "wf_"
	leastBits = 128
	// fewestIDs are so many that a random place shows at least half of an alphabet of
	// up to 64 symbols: 51 are expected, and fewer than 32 are seen less than once in
	// a billion places.
	fewestIDs = 100
)

// RandomIDs (WF-02): the IDs of operations that were started one after another begin
// with wf_, are all different, and hold at least 128 random bits by what they look
// like: a place that is always the same, that follows from another place of the ID, or
// from the same place of the ID before, as a counter's does, holds none.
func RandomIDs(h history.History) Ruling {
	var r Ruling
	var ids []string
	for _, o := range acknowledged(h, "start") {
		if id := o.Text("operation_id"); id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) < fewestIDs {
		r.doubted("%d operations were started, and %d IDs are needed to see what they are made of", len(ids), fewestIDs)
		return r
	}
	var bodies []string
	for i, id := range ids {
		body, ok := strings.CutPrefix(id, idPrefix)
		switch {
		case !ok:
			r.broke("WF-02", "an operation ID does not begin with wf_", fmt.Sprintf("%q", shortened(id, 80)))
			return r
		case slices.Contains(ids[:i], id):
			r.broke("WF-02", "two operations have the same ID", fmt.Sprintf("%q", shortened(id, 80)))
			return r
		}
		bodies = append(bodies, body)
	}
	bits, told := randomBits(bodies)
	if bits < leastBits {
		r.broke("WF-02", fmt.Sprintf("operation IDs hold fewer than %d random bits", leastBits), told, fmt.Sprintf("%q and %q follow each other", shortened(ids[0], 80), shortened(ids[1], 80)))
	}
	r.Tried = append(r.Tried, told)
	return r
}

// randomBits is how many random bits texts can hold at most that were made one after
// another, rounded down, and how that was found. Of texts of several lengths those of
// the most common one are looked at.
func randomBits(bodies []string) (int, string) {
	bodies = ofCommonLength(bodies)
	places := len(bodies[0])
	alphabet, seen := map[byte]bool{}, make([]map[byte]bool, places)
	for i := range places {
		seen[i] = map[byte]bool{}
		for _, b := range bodies {
			seen[i][b[i]] = true
		}
		if len(seen[i]) > 1 {
			for c := range seen[i] {
				alphabet[c] = true
			}
		}
	}
	bits, fixed, follow := 0.0, 0, 0
	for i := range places {
		switch {
		case len(seen[i]) == 1:
			fixed++
		case follows(bodies, i):
			follow++
		case 2*len(seen[i]) >= len(alphabet):
			bits += math.Log2(float64(len(alphabet)))
		default:
			bits += math.Log2(float64(len(seen[i])))
		}
	}
	whole := int(bits + 1e-9) // 32 places of 4 bits are 128 bits, whatever the logarithm rounds to
	return whole, fmt.Sprintf("%d random bits at most by %d IDs with %d symbols in %d places: %d places are always the same, %d follow from others", whole, len(bodies), len(alphabet), places, fixed, follow)
}

// ofCommonLength are the texts of the length that is the most common.
func ofCommonLength(bodies []string) []string {
	lengths, best := map[int]int{}, 0
	for _, b := range bodies {
		lengths[len(b)]++
		if n := len(b); lengths[n] > lengths[best] {
			best = n
		}
	}
	return slices.DeleteFunc(slices.Clone(bodies), func(b string) bool { return len(b) != best })
}

// follows says whether a place of the texts is told by another one before it, or by
// the same place of the text before.
func follows(bodies []string, place int) bool {
	for earlier := range place {
		if tells(bodies, bodies, earlier, place) {
			return true
		}
	}
	return tells(bodies[:len(bodies)-1], bodies[1:], place, place)
}

// tells says whether a symbol at one place of the causes always goes with the same
// one at a place of the effects. A place that never changes tells nothing.
func tells(causes, effects []string, from, to int) bool {
	with := map[byte]byte{}
	for i, cause := range causes {
		c, e := cause[from], effects[i][to]
		if known, there := with[c]; there && known != e {
			return false
		}
		with[c] = e
	}
	return len(with) > 1
}
