package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// Repeated is the positive control of the specs about replays: some call of the
// role was made again under its key and was acknowledged. One of them that is
// refused for good is a finding: the key did not give what it gives the first time.
func Repeated(role string) Rule {
	clause := "WR-07"
	if role == "start" {
		clause = "WR-06"
	}
	return func(h history.History) Ruling {
		var r Ruling
		answered := false
		for _, same := range repetitions(h, role) {
			r.refusedReplays(clause, same)
			for _, again := range same[1:] {
				answered = answered || again.Outcome() == history.Done
			}
		}
		if !answered && len(r.Findings) == 0 {
			r.doubted("no %s was acknowledged that was sent again under its key", role)
		}
		return r
	}
}

// repetitions are the calls of a role that were made more than once under one
// key with the same content, in the order in which they were first made.
func repetitions(h history.History, role string) [][]history.Operation {
	type content struct{ key, task, title, item, text, status string }
	var order []content
	groups := map[content][]history.Operation{}
	for _, o := range h.Operations(role) {
		if o.Param("key") == "" {
			continue
		}
		c := content{o.Param("key"), o.Param("task_key"), o.Param("title"), o.Param("item_id"), o.Param("text"), o.Param("status")}
		if groups[c] == nil {
			order = append(order, c)
		}
		groups[c] = append(groups[c], o)
	}
	var repeated [][]history.Operation
	for _, c := range order {
		if len(groups[c]) > 1 {
			repeated = append(repeated, groups[c])
		}
	}
	return repeated
}

// refusedReplays rules that none of several equal calls under one key is refused
// for good. Refused for a while with nothing stored is fine (WR-32).
func (r *Ruling) refusedReplays(clause string, same []history.Operation) {
	for _, o := range same {
		if forGood(o) {
			r.broke(clause, "one of several equal calls under one key was refused for good",
				fmt.Sprintf("call %s (%s), one of %d under key %q: class %q, code %q",
					o.Invoked.ID, o.Invoked.Role, len(same), o.Param("key"), o.Text("failure_class"), o.Text("failure_code")))
		}
	}
}

// OneItemPerKey (WR-06): all acknowledged starts under one idempotency key name
// one item; the store holds one anchor and one start intent for it, the library
// one item.
func OneItemPerKey(h history.History) Ruling {
	var r Ruling
	repeated := repetitions(h, "start")
	if len(repeated) == 0 {
		return doubt("no idempotency key was used twice")
	}
	for _, same := range repeated {
		r.refusedReplays("WR-06", same)
		var ids []string
		for _, o := range same {
			if o.Outcome() == history.Done {
				ids = append(ids, o.Text("item_id"))
			}
		}
		ids = distinct(ids)
		if len(ids) == 0 {
			r.doubted("no start under the repeated key %q was ever acknowledged", same[0].Param("key"))
		}
		if len(ids) > 1 {
			r.broke("WR-06", "one idempotency key led to several items",
				fmt.Sprintf("%d starts under key %q were answered with %d item IDs", len(same), same[0].Param("key"), len(ids)))
		}
		for _, id := range ids {
			r.oneOfEach(h, same[0], id)
		}
	}
	return r
}

// oneOfEach looks at the store and the library behind one repeated start.
func (r *Ruling) oneOfEach(h history.History, s history.Operation, id string) {
	task := map[string]string{"task_key": s.Param("task_key")}
	if look, ok := lastLook(h, "anchors", whenConverged, task); !ok {
		r.doubted("the anchors of task key %q were not seen at the end", s.Param("task_key"))
	} else if len(look.Rows) != 1 {
		r.broke("WR-06", "one repeated start left several anchors, or none",
			fmt.Sprintf("the store holds %d anchors under task key %q", len(look.Rows), s.Param("task_key")))
	} else if got := text(look.Rows[0], "item_id"); got != "" && got != id {
		r.broke("WR-06", "the anchor of a repeated start stands under another ID than the one answered", fmt.Sprintf("answered %q, in the store %q", id, got))
	}
	intents, ok := lastLook(h, "intents", whenConverged, item(id))
	if !ok {
		r.doubted("the intents of item %s were not seen at the end", id)
	} else if n := kinds(intents.Rows)["start"]; n != 1 && r.hasColumns(intents, "kind") {
		r.broke("WR-06", "one repeated start left several start intents, or none", fmt.Sprintf("item %s has %d start intents", id, n))
	}
	library, ok := lastLook(h, "items", whenConverged, nil)
	if !ok {
		r.doubted("the library's items were not seen at the end")
		return
	}
	if !r.hasColumns(library, "title") {
		return
	}
	n, other := 0, ""
	for _, row := range library.Rows {
		if text(row, "title") != s.Param("title") {
			continue
		}
		n++
		if got := text(row, "item_id"); got != "" && got != id {
			other = got
		}
	}
	switch {
	case n != 1:
		r.broke("WR-06", "one repeated start left several items, or none", fmt.Sprintf("the library holds %d items titled %q", n, s.Param("title")))
	case other != "":
		r.broke("WR-06", "the item of a repeated start stands under another ID than the one answered",
			fmt.Sprintf("answered %q, in the library %q", id, other))
	}
}
