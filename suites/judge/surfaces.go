package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// SurfacesAgree (WR-36): at the end answer, sidecar, library and card tell the
// same of every started item.
func SurfacesAgree(h history.History) Ruling { return surfacesAgree(h, "card", "card") }

// SurfacesAgreeInBrowser is SurfacesAgree with the card as a browser shows it.
func SurfacesAgreeInBrowser(h history.History) Ruling {
	return surfacesAgree(h, cardInBrowser, "card in the browser")
}

// surfacesAgree judges with the card that a probe has seen, under the name that it
// has for a person.
func surfacesAgree(h history.History, probe, name string) Ruling {
	var r Ruling
	starts := acknowledged(h, "start")
	if len(starts) == 0 {
		return doubt("no start was acknowledged")
	}
	for _, o := range h.Operations("") {
		if o.Invoked.Role != "get" && o.Outcome() != history.Done {
			r.doubted("call %s (%s) was not acknowledged: %s", o.Invoked.ID, o.Invoked.Role, o.Outcome())
		}
	}
	seen := map[string]bool{}
	for _, s := range starts {
		id := s.Text("item_id")
		if seen[id] {
			continue
		}
		seen[id] = true
		anchor, okA := lastLook(h, "anchor", whenConverged, item(id))
		library, okL := lastLook(h, "item", whenConverged, item(id))
		card, okC := lastLook(h, probe, whenConverged, item(id))
		answer := lastGet(h, id)
		if !okA || !okL || !okC || answer == nil {
			r.doubted("a surface was not seen at the end for item %s: answer %t, sidecar %t, library %t, %s %t", id, answer != nil, okA, okL, name, okC)
			continue
		}
		if answer.Field("materialized") != true || answer.Text("anchor") != "live" {
			r.broke("WR-36", "the answer does not say that the record is live",
				fmt.Sprintf("%s: materialized %v, anchor %q", answer.Outcome(), answer.Field("materialized"), answer.Text("anchor")))
		}
		if len(anchor.Rows) != 1 || text(anchor.Rows[0], "state") != "live" {
			r.broke("WR-36", "the sidecar does not hold one live anchor", fmt.Sprintf("item %s: %s", id, quoted(columns(anchor.Rows, "state"))))
		}
		r.sameRecord(id, s.Param("title"), answer, library, card, name)
	}
	return r
}

// lastGet is the last read of an item at the end that was answered, be it by a refusal.
func lastGet(h history.History, id string) *history.Operation {
	var last *history.Operation
	for _, o := range h.Operations("get") {
		if o.Param("item_id") == id && o.Param("moment") == whenConverged && o.Outcome() != history.Unknown {
			last = &o
		}
	}
	return last
}

// surface is one place to look, with what it shows of a record.
type surface struct {
	name   string
	record map[string]any
}

// sameRecord judges one item; name is the card's for a person.
func (r *Ruling) sameRecord(id, title string, answer *history.Operation, library, card history.Look, name string) {
	if len(library.Rows) != 1 || len(card.Rows) != 1 {
		r.broke("WR-36", "the record is not there once in the library and once as a card",
			fmt.Sprintf("item %s: %d in the library, %d cards", id, len(library.Rows), len(card.Rows)))
		return
	}
	if answer.Outcome() != history.Done {
		return // that it shows nothing is found already
	}
	all := []surface{{"library", library.Rows[0]}, {"answer", answer.Returned.Fields}, {name, card.Rows[0]}}
	for _, column := range []string{"title", "status"} {
		var values, told []string
		for _, s := range all {
			if _, shows := s.record[column]; !shows {
				r.doubted("the %s of item %s shows no %s", s.name, id, column)
			}
			values = append(values, text(s.record, column))
			told = append(told, s.name+": "+quoted(values[len(values)-1:]))
		}
		if len(distinct(values)) > 1 {
			r.broke("WR-36", "the surfaces disagree about the "+column, told...)
		}
	}
	if got := text(library.Rows[0], "title"); got != title {
		r.broke("WR-36", "the record has another title than the one sent", "sent: "+quoted([]string{title}), "library: "+quoted([]string{got}))
	}
	r.sameNotes(id, all)
}

func (r *Ruling) sameNotes(id string, all []surface) {
	var lists [][]string
	for _, s := range all {
		notes, ok := texts(s.record, "notes")
		if !ok {
			r.doubted("the notes of item %s in the %s are no list", id, s.name)
			return
		}
		lists = append(lists, notes)
	}
	for i, s := range all[1:] {
		if !slices.Equal(lists[0], lists[i+1]) {
			r.broke("WR-36", "the surfaces disagree about the notes", all[0].name+": "+quoted(lists[0]), s.name+": "+quoted(lists[i+1]))
		}
	}
}
