package judge

import (
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The moments of a spec at which surfaces are looked at.
const (
	whenEarly     = "early"         // before anything could have been materialized
	whenHeld      = "held"          // while the guard is shut, behind at least one attempt
	whenOther     = "other-account" // while another account is signed in
	whenRestarted = "restarted"     // after a killed process came back
	whenConverged = "converged"     // after everything was healed and came to rest
)

// lastLook is the last look through a probe at a moment whose parameters
// include want. A look that failed by itself says nothing, and an older one
// says nothing of what came later; so neither stands for it.
func lastLook(h history.History, probe, when string, want map[string]string) (history.Look, bool) {
	looks := h.Looks(probe, when)
	for i := len(looks) - 1; i >= 0; i-- {
		if includes(looks[i].Params, want) {
			return looks[i], looks[i].Error == ""
		}
	}
	return history.Look{}, false
}

// lastLooks are the last looks through a probe at a moment, one an item, in the
// order in which the items were first looked at. A failed one is doubted and
// left out.
func (r *Ruling) lastLooks(h history.History, probe, when string) []history.Look {
	var ids []string
	for _, look := range h.Looks(probe, when) {
		if id := look.Params["item_id"]; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	var looks []history.Look
	for _, id := range ids {
		want := item(id)
		if id == "" {
			want = nil
		}
		look, ok := lastLook(h, probe, when, want)
		if !ok {
			r.doubted("the look at the %s of item %s failed: %s", probe, id, look.Error)
			continue
		}
		looks = append(looks, look)
	}
	return looks
}

// includes says whether all of want is there; what is wanted must be named.
func includes(have, want map[string]string) bool {
	for k, v := range want {
		if got, there := have[k]; !there || got != v || v == "" {
			return false
		}
	}
	return true
}

// item asks for looks at one item.
func item(id string) map[string]string { return map[string]string{"item_id": id} }

// hasColumns doubts a look whose rows lack a column altogether: what a probe
// does not show is no fact about the target.
func (r *Ruling) hasColumns(look history.Look, names ...string) bool {
	if len(look.Rows) == 0 {
		return true
	}
	all := true
	for _, name := range names {
		if !slices.ContainsFunc(look.Rows, func(row map[string]any) bool { _, there := row[name]; return there }) {
			r.doubted("the probe %s shows no column %q", look.Probe, name)
			all = false
		}
	}
	return all
}
