package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// StartFirst (WR-05): the start intent of every started item stands before its
// follow-ups in the order of acceptance, once, and all of them came to be applied.
func StartFirst(h history.History) Ruling {
	var r Ruling
	looks := r.lastLooks(h, "intents", whenConverged)
	seen := map[string]bool{}
	for _, look := range looks {
		id := look.Params["item_id"]
		seen[id] = len(look.Rows) > 0
		if !r.hasColumns(look, "kind", "state") {
			continue
		}
		for i, row := range look.Rows {
			if (text(row, "kind") == "start") != (i == 0) {
				r.broke("WR-05", "the start is not the first intent of its item",
					fmt.Sprintf("item %s: intent %d is a %s", id, i+1, text(row, "kind")))
			}
			if text(row, "state") != "applied" {
				r.broke("WR-05", "an accepted intent was not applied", intentOf(row)+fmt.Sprintf(" is %q, code %q", text(row, "state"), text(row, "code")))
			}
		}
	}
	started := items(h)
	for _, id := range started {
		if !seen[id] {
			r.doubted("the intents of item %s were not seen at the end", id)
		}
	}
	if len(started) == 0 {
		r.doubted("no start was acknowledged")
	}
	return r
}

// AllApplied rules, under a clause, that at the end every stored intent was
// applied, and that there are at least least of them.
func AllApplied(clause string, least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		n := 0
		for _, look := range r.lastLooks(h, "intents", whenConverged) {
			if !r.hasColumns(look, "state") {
				continue
			}
			for _, row := range look.Rows {
				n++
				if text(row, "state") != "applied" {
					r.broke(clause, "an accepted intent was not applied",
						intentOf(row)+fmt.Sprintf(" is %q, code %q", text(row, "state"), text(row, "code")))
				}
			}
		}
		if n < least {
			r.doubted("%d intents were expected in the store at the end, %d were seen", least, n)
		}
		return r
	}
}

// intentOf names an intent in a finding.
func intentOf(row map[string]any) string {
	return fmt.Sprintf("intent %s (%s)", text(row, "seq"), text(row, "kind"))
}
