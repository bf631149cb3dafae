package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

// HeldWithin is the positive control of DU-05's third shape: a server was held in the
// middle of a write of its own, and a second one was given a write meanwhile.
func HeldWithin(h history.History) Ruling {
	var r Ruling
	places, held, answered := 0, 0, 0
	for _, m := range h.Marks("held-in-a-write") {
		places++
		if m.Data["held"] == true {
			held++
		}
		if m.Data["answered"] == true {
			answered++
		}
	}
	r.Tried = append(r.Tried, fmt.Sprintf("held at %d of %s of a write; at %d of them the second server was answered before the first went on",
		held, reports.Plural(places, "place"), answered))
	if held == 0 {
		r.doubted("no server was held in the middle of a write, at %s that were tried", reports.Plural(places, "place"))
	}
	return r
}
