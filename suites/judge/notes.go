package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// NotesOnRecord rules, under a clause, that the record of every item shows each
// acknowledged note once, in accepted order, and no other; a note whose outcome
// stayed unknown may be there once or not at all. least is how many
// acknowledged notes make a judgement.
func NotesOnRecord(clause string, least int) Rule {
	return func(h history.History) Ruling {
		var r Ruling
		judged := 0
		for _, notes := range notesByItem(h) {
			acked := notes.acknowledged()
			look, ok := lastLook(h, "item", whenConverged, item(notes.id))
			switch {
			case !ok && len(notes.commands) == 0:
				continue // nothing was sent, and nothing is said of it
			case !ok:
				r.doubted("the record of item %s was not seen at the end", notes.id)
				continue
			case len(look.Rows) == 0 && len(acked) > 0:
				r.broke(clause, "notes were acknowledged and there is no record",
					fmt.Sprintf("%d notes on item %s were acknowledged", len(acked), notes.id))
				continue
			case len(look.Rows) > 1:
				r.broke(clause, "one item ID has several records", fmt.Sprintf("item %s: %d records", notes.id, len(look.Rows)))
				continue
			case len(look.Rows) == 0:
				continue
			}
			shown, ok := texts(look.Rows[0], "notes")
			if !ok {
				r.doubted("the notes of item %s are no list: %v", notes.id, look.Rows[0]["notes"])
				continue
			}
			judged += len(acked)
			r.compareNotes(clause, notes, shown)
		}
		if judged < least && len(r.Findings) == 0 {
			r.doubted("%d acknowledged notes were needed for a judgement, %d were there", least, judged)
		}
		return r
	}
}

// compareNotes holds what a record shows against what was sent.
func (r *Ruling) compareNotes(clause string, sent itemNotes, shown []string) {
	least, most := sent.bounds()
	seen, acked := count(shown), sent.acknowledged()
	var missing, twice, strange []string
	for _, t := range distinct(acked) {
		for range least[t] - seen[t] {
			missing = append(missing, t)
		}
		if seen[t] > most[t] {
			twice = append(twice, t)
		}
	}
	for _, t := range shown {
		if least[t] == 0 && seen[t] > most[t] {
			strange = append(strange, t)
		}
	}
	if len(missing) > 0 {
		r.broke(clause, fmt.Sprintf("%d of %d acknowledged notes are not on the record", len(missing), len(acked)),
			"item "+sent.id, "missing: "+quoted(missing))
	}
	if len(twice) > 0 {
		r.broke(clause, fmt.Sprintf("%d of %d acknowledged notes are on the record more than once", len(twice), len(acked)),
			"item "+sent.id, "repeated: "+quoted(twice))
	}
	if len(strange) > 0 {
		r.broke(clause, "the record shows notes that nobody was told were accepted, or one of them twice", "item "+sent.id, "shown: "+quoted(strange))
	}
	r.compareOrder(clause, sent, shown)
}

// compareOrder looks for two notes that stand the wrong way round. A text that
// was sent or is shown more than once is passed over: which is which cannot be told.
func (r *Ruling) compareOrder(clause string, sent itemNotes, shown []string) {
	_, most := sent.bounds()
	seen := count(shown)
	var order []noteCommand
	for _, t := range shown {
		if most[t] == 1 && seen[t] == 1 {
			n := slices.IndexFunc(sent.commands, func(n noteCommand) bool { return n.text == t })
			order = append(order, sent.commands[n])
		}
	}
	for i, later := range order {
		for _, earlier := range order[i+1:] {
			if earlier.precedes(later) {
				r.broke(clause, "the notes are not in the order in which they were accepted", "item "+sent.id,
					fmt.Sprintf("%s was accepted before %s was sent, and stands behind it", quoted([]string{earlier.text}), quoted([]string{later.text})),
					"on the record: "+quoted(shown))
				return
			}
		}
	}
}

// distinct are the values without repetitions, in their order.
func distinct(values []string) []string {
	var out []string
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
