package judge

import (
	"maps"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// OverTheRun is what WR-40 and WR-41 say of the history of any spec, whatever it is
// about: no anchor steps back or vanishes, no task key has two usable anchors, and
// each state, class and code that was answered is in the outputSchema's
// enumerations. A spec has stores of its own, so that no anchor is in two of them
// and these rules over each are those over the whole run. It doubts nothing: the
// controls are in the clauses' own specs.
func OverTheRun(h history.History) Ruling {
	var all Ruling
	for _, part := range byStores(h) {
		var r Ruling
		r.followAnchors(part)
		all.Findings = append(all.Findings, r.Findings...)
	}
	if lists := toolLists(h); len(lists) > 0 {
		all.wordsListed(h, lists)
	}
	return all
}

// byStores takes a history apart by the stores that it is about: each run at a crash
// point, told by the parameter "run", is on a copy of its own, and what comes before
// the first of them is on what they are copies of.
func byStores(h history.History) []history.History {
	runOf := map[string]string{} // by call
	parts := map[string]*history.History{}
	for _, e := range h.Events {
		run := ""
		switch {
		case e.Kind == history.KindLook:
			run = e.Look.Params["run"]
		case e.Kind == history.KindCall && e.Call.Phase == history.Invoked:
			run = e.Call.Params["run"]
			runOf[e.Call.ID] = run
		case e.Kind == history.KindCall:
			run = runOf[e.Call.ID]
		}
		if run == "" && len(parts) > 0 && !(len(parts) == 1 && parts[""] != nil) {
			continue // between the runs
		}
		if parts[run] == nil {
			parts[run] = &history.History{}
		}
		parts[run].Events = append(parts[run].Events, e)
	}
	var all []history.History
	for _, run := range slices.Sorted(maps.Keys(parts)) {
		all = append(all, *parts[run])
	}
	return all
}
