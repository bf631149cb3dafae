package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// endings are the roles that end the work on an item.
var endings = []string{"complete", "cancel"}

// EarlyEndsInOrder (WR-37): where complete and cancel were accepted before the
// item existed, its record ends in the status of the last of them. Which word
// stands for which is read off the items that were ended once, by that alone.
func EarlyEndsInOrder(h history.History) Ruling {
	var r Ruling
	words, judged := map[string]string{}, 0
	several := []itemEnds{}
	for _, e := range endsOf(h) {
		switch {
		case len(e.roles) == 0:
		case !e.early:
			r.doubted("item %s was not seen to be missing when its ends were accepted", e.id)
		case len(e.roles) == 1 && !e.noted:
			if status, ok := r.statusAtEnd(h, e.id); ok {
				words[e.roles[0]] = status
			}
		default:
			several = append(several, e)
		}
	}
	if words["complete"] != "" && words["complete"] == words["cancel"] {
		r.doubted("complete and cancel end in the same status %q, so that their order cannot be told", words["complete"])
		return r
	}
	for _, e := range several {
		last := e.roles[len(e.roles)-1]
		want, known := words[last]
		status, ok := r.statusAtEnd(h, e.id)
		switch {
		case !ok:
			continue
		case !known:
			r.doubted("it is not known in which status a record ends that was ended by %s alone", last)
			continue
		}
		judged++
		if status != want {
			r.broke("WR-37", "a record did not end in the status that was asked for last",
				fmt.Sprintf("item %s: %s in this order; its status is %q, expected %q", e.id, quoted(e.roles), status, want))
		}
	}
	if judged == 0 && r.silent() {
		r.doubted("no item was ended more than once before it existed")
	}
	return r
}

// itemEnds is how the work on an item was ended: the acknowledged roles in the
// order of acceptance.
type itemEnds struct {
	id    string
	roles []string
	noted bool // a note was accepted after the first end
	early bool // all of it before anything was applied
}

func endsOf(h history.History) []itemEnds {
	var all []itemEnds
	for _, id := range items(h) {
		e := itemEnds{id: id, early: true}
		seen := nothingApplied(h, id)
		for _, o := range h.Operations("") {
			if o.Param("item_id") != id || o.Outcome() != history.Done {
				continue
			}
			switch {
			case o.Invoked.Role == "note":
				e.noted = e.noted || len(e.roles) > 0
			case o.Invoked.Role == endings[0] || o.Invoked.Role == endings[1]:
				e.roles = append(e.roles, o.Invoked.Role)
			default:
				continue
			}
			e.early = e.early && endedBefore(o, seen)
		}
		all = append(all, e)
	}
	return all
}

// statusAtEnd is the one status of a record; false if there is none to judge.
func (r *Ruling) statusAtEnd(h history.History, id string) (string, bool) {
	look, ok := lastLook(h, "item", whenConverged, item(id))
	switch {
	case !ok:
		r.doubted("the record of item %s was not seen at the end", id)
	case len(look.Rows) != 1:
		r.broke("WR-37", "an item that was ended before it existed is not there once", fmt.Sprintf("item %s stands in the library %d times", id, len(look.Rows)))
	case text(look.Rows[0], "status") == "":
		r.doubted("the record of item %s shows no status", id)
	default:
		return text(look.Rows[0], "status"), true
	}
	return "", false
}
