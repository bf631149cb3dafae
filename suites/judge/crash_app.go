package judge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// The two stores that an app writes to and that share no transaction, as target
// files name them.
var twoStores = []string{"library", "sidecar"}

// wrote says where a run was struck: 0 before either store had all that was
// recorded, 1 between, with all of one and not of the other, 2 behind both.
func (c Crash) wrote() int {
	whole := 0
	for _, store := range twoStores {
		if s := c.Stores[store]; s.Of > 0 && s.Made == s.Of {
			whole++
		}
	}
	return whole
}

// CoveredBetween doubts a history in which no run was struck before an app had
// written to its two stores, none between them, or none behind both. What a
// caller had been told says nothing here, because the app works behind answers.
func CoveredBetween(h history.History) Ruling {
	all, err := crashes(h)
	if err != nil {
		return doubt("the runs at crash points cannot be read: %v", err)
	}
	var at [3]int
	counted := 0
	for _, c := range all {
		if c.Counts() && c.At.Error == "" {
			counted++
			at[c.wrote()]++
		}
	}
	switch only := h.Marks("one-crash-point"); {
	case len(only) > 0 && counted == 0:
		return doubt("the run at the one crash point asked for (%v) was not struck there", only[0].Data["point"])
	case len(only) > 0:
		return Ruling{}
	case slices.Contains(at[:], 0):
		return doubt("of %d runs at crash points %d were verified before the library and the sidecar were written, %d between the two, and %d behind both; at least one of each is needed", len(all), at[0], at[1], at[2])
	}
	return Ruling{}
}

// atEachPoint is eachCrash for an app that is led through writes to two stores.
func atEachPoint(h history.History, clause, summary string, rule func(Crash) (left, wrong string, err error)) Ruling {
	r := CoveredBetween(h)
	if rest := h.Marks("came-to-no-rest"); len(rest) > 0 {
		r = Ruling{} // the runs that are missing were not made; that one says enough
	}
	r = eachRun(h, r, clause, summary, func(c Crash) (string, string, error) {
		for _, m := range h.Marks("restart-failed") {
			if text(m.Data, "run") == c.Run {
				return "does not start again", fmt.Sprintf("the app does not start again: %v", m.Data["error"]), nil
			}
		}
		return rule(c)
	})
	if len(r.Findings) == 0 {
		for _, m := range h.Marks("came-to-no-rest") {
			r.doubted("behind run %s nothing came to rest, so that %d more were not made", text(m.Data, "run"), number(m.Data, "not tried"))
		}
	}
	return r
}

// RepairedAtEachPoint (WR-11): killed at any crash point of applying a start, an
// app that is started again leaves a live anchor, one start that was applied, and
// one item under the issued ID.
func RepairedAtEachPoint(h history.History) Ruling {
	return atEachPoint(h, "WR-11", "killed while it applies a start, the app does not bring anchor and item together again", func(c Crash) (string, string, error) {
		start, ok := lastIn(h, "start", c.Run)
		if !ok {
			return "", "", errors.New("the start of the run was not acknowledged")
		}
		id := start.Text("item_id")
		of := map[string]string{"run": c.Run, "item_id": id}
		killed, okK := lastLook(h, "anchor", whenCrashed, of)
		anchor, okA := lastLook(h, "anchor", whenConverged, of)
		intents, okI := lastLook(h, "intents", whenConverged, of)
		items, okL := lastLook(h, "items", whenConverged, map[string]string{"run": c.Run})
		if !okK || !okA || !okI || !okL {
			return "", "", errors.New("anchor, intents and items were not all seen behind it")
		}
		var missing Ruling
		if !missing.hasColumns(anchor, "state") || !missing.hasColumns(intents, "kind", "state") || !missing.hasColumns(items, "item_id") {
			return "", "", errors.New(missing.Doubts[0])
		}
		left := fmt.Sprintf("anchor %s, then %s with %d items", stateIn(killed), stateIn(anchor), len(items.Rows))
		return left, joined(h, id, anchor, intents, items), nil
	})
}

// joined says what is wrong with what stands under an issued ID, "" for nothing.
func joined(h history.History, id string, anchor, intents, items history.Look) string {
	own := count(columns(items.Rows, "item_id"))[id]
	var starts []map[string]any
	for _, row := range intents.Rows {
		if text(row, "kind") == "start" {
			starts = append(starts, row)
		}
	}
	strange := slices.DeleteFunc(columns(items.Rows, "item_id"), func(other string) bool { return other == id || prepared(h, other) })
	switch {
	case own == 0:
		return fmt.Sprintf("the library has no item %s; its anchor is %s", id, stateIn(anchor))
	case own > 1:
		return fmt.Sprintf("the library shows item %s %d times", id, own)
	case len(strange) > 0:
		return fmt.Sprintf("beside item %s the library has items that no start was answered with: %s", id, quoted(strange))
	case stateIn(anchor) != "live":
		return fmt.Sprintf("item %s is in the library and its anchor is %s", id, stateIn(anchor))
	case len(starts) != 1 || text(starts[0], "state") != "applied":
		return fmt.Sprintf("item %s has the start intents %s, expected one that is applied", id, quoted(columns(starts, "state")))
	}
	return ""
}

// stateIn is the state that a look at one anchor shows.
func stateIn(look history.Look) string {
	if len(look.Rows) == 0 {
		return "missing"
	}
	return text(look.Rows[0], "state")
}

// lastIn is the last call of a role that was made in a run, if it was acknowledged.
// A run whose first strike had drifted is made a second time, under the same name
// and on a fresh copy of the stores, and only that one counts.
func lastIn(h history.History, role, run string) (last history.Operation, ok bool) {
	for _, o := range h.Operations(role) {
		if o.Param("run") == run {
			last, ok = o, o.Outcome() == history.Done
		}
	}
	return last, ok
}

// prepared says whether a start was answered with an item ID before the runs:
// each begins with a copy of the same stores.
func prepared(h history.History, id string) bool {
	return slices.ContainsFunc(acknowledged(h, "start"), func(o history.Operation) bool {
		return o.Text("item_id") == id && o.Param("run") == ""
	})
}
