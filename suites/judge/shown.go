package judge

import (
	"encoding/json"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// WhereEffectsShow is a rule for histories in which the outside log is known to show
// what takes effect: at the end it holds a write that was made for that alone. A log
// that showed nothing would make every step look as if it had never taken effect.
func WhereEffectsShow(rule Rule) Rule {
	return func(h history.History) Ruling {
		var texts []string
		for _, o := range acknowledged(h, "control") {
			if err := json.Unmarshal([]byte(o.Param("texts")), &texts); err != nil {
				return doubt("the control %s does not say what it wrote: %v", o.Invoked.ID, err)
			}
		}
		if len(texts) == 0 {
			return doubt("no write was made to see whether the outside log shows any")
		}
		var r Ruling
		applied, seen := r.effects(h, whenConverged)
		if !seen {
			return r
		}
		for _, text := range texts {
			if applied[text] == 0 {
				return doubt("the outside log does not show the write %q, which nothing was done to, so that it says nothing of others", shortened(text, 60))
			}
		}
		return rule(h)
	}
}
