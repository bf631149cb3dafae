package judge

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// wordFields are the fields of an answer whose words a caller decides by, with
// the words of the contract that a run has to have seen.
var wordFields = []struct {
	field string
	words []string
}{
	{"state", []string{"queued", "retrying", "applied", "failed"}},
	{"anchor", []string{"provisional", "live", "dead"}},
	{"failure_class", []string{"transient", "permanent", "blocked"}},
	{"failure_code", nil},
}

// WordsAreListed (WR-41): each state, class and code that was answered is in the
// enumerations of its tool's outputSchema, wherever in the answer it stands. The
// control is that every state and class of the contract was answered.
func WordsAreListed(h history.History) Ruling {
	var r Ruling
	lists := toolLists(h)
	if len(lists) == 0 {
		return doubt("tools/list was not seen, so that no outputSchema is known")
	}
	r.wordsListed(h, lists)
	answered := map[string]bool{}
	for _, o := range h.Operations("") {
		for _, f := range wordFields {
			answered[f.field+" "+o.Text(f.field)] = true
		}
	}
	for _, f := range wordFields {
		for _, word := range f.words {
			if !answered[f.field+" "+word] {
				r.doubted("no answer had the %s %q", f.field, word)
			}
		}
	}
	return r
}

// wordsListed holds each answer to what its own session was told by tools/list.
func (r *Ruling) wordsListed(h history.History, lists []toolList) {
	names := map[string]bool{}
	unlisted := map[string]string{} // by tool and word, told once
	for _, o := range h.Operations("") {
		list, known := listOf(lists, o.Invoked.Session)
		for _, f := range wordFields {
			word := o.Text(f.field)
			if word == "" || !known {
				continue
			}
			places := placesOf(o, list, word)
			for _, p := range places {
				if p.words != nil {
					names[path.Base(p.path)] = true
				}
			}
			if len(places) > 0 && !slices.ContainsFunc(places, place.listed) {
				unlisted[o.Invoked.Tool+" "+word] = fmt.Sprintf("%s: %q as %s", o.Invoked.Tool, word, f.field)
			}
		}
	}
	for _, o := range h.Operations("") {
		list, known := listOf(lists, o.Invoked.Session)
		if !known {
			continue
		}
		for _, p := range allPlaces(o, list) {
			key := o.Invoked.Tool + " " + p.word
			if names[path.Base(p.path)] && p.words != nil && !p.listed() && unlisted[key] == "" {
				unlisted[key] = fmt.Sprintf("%s: %q at %s", o.Invoked.Tool, p.word, p.path)
			}
		}
	}
	if len(unlisted) > 0 {
		r.broke("WR-41", fmt.Sprintf("%d answered words are in no enumeration of the outputSchema", len(unlisted)), most(slices.Sorted(maps.Values(unlisted)))...)
	}
}

// listOf is what a session was told, or what all that asked were told alike; false
// where they were told different things and this one nothing.
func listOf(lists []toolList, session string) (toolList, bool) {
	same := true
	for _, l := range lists {
		if l.session == session {
			return l, true
		}
		same = same && reflect.DeepEqual(l.tools, lists[0].tools)
	}
	return lists[0], same
}

// listed says that the word is one of those that the schema has for its place.
func (p place) listed() bool { return slices.Contains(p.words, p.word) }

// OfferedIsApplied (WR-41): each value that an enumeration of an inputSchema
// offers is accepted and applied, and a status is the one that the record shows.
func OfferedIsApplied(h history.History) Ruling {
	var r Ruling
	lists := toolLists(h)
	if len(lists) == 0 {
		return doubt("tools/list was not seen, so that it is not known what is offered")
	}
	tried, tools := map[string]bool{}, map[string]bool{}
	for _, o := range h.Operations("") {
		tools[o.Invoked.Tool] = true
		if o.Param("offered") == "" {
			continue
		}
		tried[o.Invoked.Tool+" "+o.Param("property")+" "+o.Param("offered")] = true
		call := fmt.Sprintf("call %s: %s with %s %q", o.Invoked.ID, o.Invoked.Tool, o.Param("property"), o.Param("offered"))
		switch o.Outcome() {
		case history.Unknown:
			r.doubted("%s got no answer, so that it is not known to be accepted", call)
		case history.Refused:
			r.broke("WR-41", "a value that the inputSchema offers was refused", call, "answer: "+answerOf(o))
		default:
			r.offeredApplied(h, o, call)
		}
	}
	if len(tried) == 0 && r.silent() {
		r.doubted("no value of an enumeration was tried")
	}
	for _, missed := range offers(lists[0], tools) {
		if !tried[missed] {
			r.doubted("the offered value was not tried: %s", missed)
		}
	}
	return r
}

func (r *Ruling) offeredApplied(h history.History, o history.Operation, call string) {
	id := cmp.Or(o.Param("item_id"), o.Text("item_id"))
	intents, okI := lastLook(h, "intents", whenConverged, item(id))
	record, okR := lastLook(h, "item", whenConverged, item(id))
	if !okI || !okR {
		r.doubted("%s: its intents and its record were not both seen at the end", call)
		return
	}
	if len(intents.Rows) == 0 {
		r.broke("WR-41", "an offered value was acknowledged, and nothing of it is stored", call)
	}
	for _, row := range intents.Rows {
		if text(row, "state") != "applied" {
			r.broke("WR-41", "a value that the inputSchema offers was not applied", call,
				fmt.Sprintf("intent %s is %q, code %q: %s", text(row, "seq"), text(row, "state"), text(row, "code"), text(row, "reason")))
			return
		}
	}
	if o.Invoked.Role != "status" || o.Param("property") != "status" {
		return
	}
	if len(record.Rows) != 1 || text(record.Rows[0], "status") != o.Param("offered") {
		r.broke("WR-41", "an offered status was applied and is not on the record", call, "the record shows "+quoted(columns(record.Rows, "status")))
	}
}

// offers are the values that the enumerations of the called tools offer.
func offers(list toolList, tools map[string]bool) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		in, _ := list.inputs[name].(map[string]any)
		properties, _ := in["properties"].(map[string]any)
		for _, property := range slices.Sorted(maps.Keys(properties)) {
			one, _ := properties[property].(map[string]any)
			words, _ := one["enum"].([]any)
			for _, word := range words {
				all = append(all, fmt.Sprintf("%s %s %v", name, property, word))
			}
		}
	}
	return all
}
