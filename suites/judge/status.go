package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// statusChanges are the roles whose calls change a status.
var statusChanges = append([]string{"status"}, endings...)

// statusSurfaces are the probes that show the statuses of a record.
var statusSurfaces = []string{"item", "card"}

// changesOf are the accepted changes of an item's status in the order in which
// their acceptance was answered.
func changesOf(h history.History, id string) []history.Operation {
	var all []history.Operation
	for _, role := range statusChanges {
		for _, o := range acknowledged(h, role) {
			if o.Param("item_id") == id {
				all = append(all, o)
			}
		}
	}
	slices.SortFunc(all, func(a, b history.Operation) int { return cmp.Compare(a.ReturnedAt.Seq, b.ReturnedAt.Seq) })
	return all
}

// statusesIn are the statuses that a row shows; listed says that its probe lists
// them, so that two would be seen.
func statusesIn(row map[string]any) (all []string, listed bool) {
	if _, there := row["statuses"]; there {
		all, listed = texts(row, "statuses")
		return all, listed
	}
	if one := text(row, "status"); one != "" {
		return []string{one}, false
	}
	return nil, false
}

// endWords tells in which status a record ends that was completed, or cancelled:
// read off those that were changed by that alone, seen at a moment.
func endWords(h history.History, when string) map[string]string {
	words := map[string]string{}
	for _, id := range items(h) {
		look, ok := lastLook(h, "item", when, item(id))
		if changes := changesOf(h, id); ok && len(changes) == 1 && len(look.Rows) == 1 && changes[0].Invoked.Role != "status" {
			words[changes[0].Invoked.Role] = text(look.Rows[0], "status")
		}
	}
	return words
}

// wanted is the status that an accepted change asks for, "" if that is not known.
func wanted(change history.Operation, words map[string]string) string {
	if change.Invoked.Role == "status" {
		return change.Param("status")
	}
	return words[change.Invoked.Role]
}

// OneStatus (WR-30): no look at a record, on any surface, shows two statuses; at
// the end each record has one, that of the change that was accepted last. The
// controls: the surfaces list statuses, so that two would be seen; a record was
// changed at least least times, by two callers; and its changes reached the library.
func OneStatus(least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		for _, surface := range statusSurfaces {
			r.neverTwo(h, surface)
		}
		words, changed := endWords(h, whenConverged), false
		writes, okW := lastLook(h, "writes", whenConverged, nil)
		if !okW {
			r.doubted("the library's write log was not seen at the end")
		}
		for _, id := range items(h) {
			changes := changesOf(h, id)
			if len(changes) == 0 {
				continue
			}
			r.endsIn(h, id, changes[len(changes)-1], words)
			if okW && !slices.ContainsFunc(writes.Rows, func(row map[string]any) bool { return text(row, "item_id") == id && text(row, "op") == "update" }) {
				r.doubted("the library's write log shows no update of item %s, whose status was changed %d times", id, len(changes))
			}
			changed = changed || len(changes) >= least && slices.ContainsFunc(changes, func(o history.Operation) bool { return o.Invoked.Session != changes[0].Invoked.Session })
		}
		if !changed {
			r.doubted("no record's status was changed %d times by two callers", least)
		}
		return r
	}
}

// neverTwo follows a surface through all looks at it. Of each record the first
// look that shows two is told.
func (r *Ruling) neverTwo(h history.History, surface string) {
	told, seen := map[string]bool{}, false
	for _, look := range h.Looks(surface, "") {
		id := look.Params["item_id"]
		for _, row := range look.Rows {
			all, listed := statusesIn(row)
			seen = seen || listed && len(all) > 0
			if len(all) > 1 && !told[id] {
				told[id] = true
				r.broke("WR-30", "a record has more than one status", fmt.Sprintf("item %s: the %s shows %s", id, surface, quoted(all)), "moment: "+look.When)
			}
		}
	}
	if !seen && len(told) == 0 {
		r.doubted("the probe %s lists no statuses (column statuses), so that two would not be seen", surface)
	}
}

// endsIn judges the statuses of a record at the end.
func (r *Ruling) endsIn(h history.History, id string, last history.Operation, words map[string]string) {
	want := wanted(last, words)
	if want == "" {
		r.doubted("it is not known in which status a record ends that was ended by %s alone", last.Invoked.Role)
		return
	}
	for _, surface := range statusSurfaces {
		look, ok := lastLook(h, surface, whenConverged, item(id))
		if !ok || len(look.Rows) != 1 {
			r.doubted("item %s was not seen once on the %s at the end", id, surface)
			continue
		}
		if all, _ := statusesIn(look.Rows[0]); len(all) < 2 && !slices.Equal(all, []string{want}) {
			r.broke("WR-30", "a record does not end in the status that was accepted last",
				fmt.Sprintf("item %s: the %s shows %s; call %s (%s) asked for %q", id, surface, quoted(all), last.Invoked.ID, last.Invoked.Role, want))
		}
	}
}

// OneStatusAtEachPoint (WR-30): killed at any crash point of a change of status, an
// app that is started again never shows two, and ends with the one that was
// accepted last.
func OneStatusAtEachPoint(h history.History) Ruling {
	words := endWords(h, whenEarly)
	return atEachPoint(h, "WR-30", "killed while it changes a status, the app does not end with that one alone", func(c Crash) (string, string, error) {
		var change history.Operation
		found := false
		for _, role := range statusChanges {
			if o, ok := lastIn(h, role, c.Run); ok {
				change, found = o, true
			}
		}
		if !found {
			return "", "", errors.New("the change of the run was not acknowledged")
		}
		want := wanted(change, words)
		if want == "" {
			return "", "", fmt.Errorf("it is not known in which status a record ends that was ended by %s alone", change.Invoked.Role)
		}
		return statusesBehind(h, c.Run, change.Param("item_id"), want)
	})
}

// statusesBehind follows the record through the looks behind a run.
func statusesBehind(h history.History, run, id, want string) (left, wrong string, err error) {
	of := map[string]string{"run": run, "item_id": id}
	end, ok := lastLook(h, "item", whenConverged, of)
	if !ok {
		return "", "", errors.New("the record was not seen behind it")
	}
	var shown []string
	listed := false
	for _, look := range h.Looks("item", "") {
		if !includes(look.Params, of) || look.Error != "" {
			continue
		}
		for _, row := range look.Rows {
			all, list := statusesIn(row)
			listed = listed || list
			shown = append(shown, quoted(all))
			if len(all) > 1 && wrong == "" {
				wrong = "the record has two statuses: " + quoted(all)
			}
		}
	}
	left = "status " + strings.Join(distinct(shown), ", then ")
	switch {
	case wrong != "":
		return left, wrong, nil
	case len(end.Rows) != 1:
		return left, fmt.Sprintf("the record stands in the library %d times", len(end.Rows)), nil
	case !listed:
		return left, "", errors.New("the probe item lists no statuses (column statuses), so that two would not be seen")
	}
	if all, _ := statusesIn(end.Rows[0]); !slices.Equal(all, []string{want}) {
		return left, fmt.Sprintf("the record ends in %s, and %q was accepted last", quoted(all), want), nil
	}
	return left, "", nil
}
