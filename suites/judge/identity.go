package judge

import (
	"fmt"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// QueuedWithID (WR-01): while no item exists a start answers with an ID, state
// queued, and materialized false.
func QueuedWithID(h history.History) Ruling {
	var r Ruling
	starts := acknowledged(h, "start")
	if len(starts) == 0 {
		return doubt("no start was acknowledged")
	}
	judged := 0
	for _, s := range starts {
		id := s.Text("item_id")
		if id == "" {
			r.broke("WR-01", "a start was acknowledged without an item ID", "answer: "+string(s.Returned.Answer))
			continue
		}
		early, ok := lastLook(h, "item", whenEarly, item(id))
		if !ok || len(early.Rows) > 0 || early.Params["call"] != s.Invoked.ID {
			continue
		}
		judged++
		if s.Text("state") != "queued" || s.Field("materialized") != false {
			r.broke("WR-01", "a start answered as if its item were there, and it was not",
				fmt.Sprintf("answer %s: state %v, materialized %v", s.Invoked.ID, s.Field("state"), s.Field("materialized")),
				"the app's own store holds no item "+id)
		}
	}
	if judged == 0 && len(r.Findings) == 0 {
		r.doubted("no start was answered at a moment at which its item was seen not to exist")
	}
	return r
}

// StableID (WR-01): every answer about one task key and idempotency key carries
// one ID, before and after the item exists.
func StableID(h history.History) Ruling {
	var r Ruling
	first := map[string]history.Operation{}
	for _, s := range acknowledged(h, "start") {
		key := s.Param("task_key") + "\x00" + s.Param("key")
		was, seen := first[key]
		if !seen {
			first[key] = s
			continue
		}
		if was.Text("item_id") != s.Text("item_id") {
			r.broke("WR-01", "the item ID of one start changed",
				fmt.Sprintf("call %s answered item %q", was.Invoked.ID, was.Text("item_id")),
				fmt.Sprintf("call %s with the same key answered item %q", s.Invoked.ID, s.Text("item_id")))
		}
	}
	for _, g := range acknowledged(h, "get") {
		if id := g.Text("item_id"); id != g.Param("item_id") {
			r.broke("WR-01", "a read of one item answered with another ID",
				fmt.Sprintf("asked for %q, answered %q", g.Param("item_id"), id))
		}
	}
	return r
}

// OneItemPerKey (clause WR-06): all acknowledged starts under one idempotency
// key name one item; the store holds one start intent for it, the library one item.
func OneItemPerKey(h history.History) Ruling {
	var r Ruling
	ids, attempts := map[string]map[string]bool{}, map[string]int{}
	for _, s := range h.Operations("start") {
		attempts[s.Param("key")]++
		if s.Outcome() != history.Done {
			continue
		}
		if ids[s.Param("key")] == nil {
			ids[s.Param("key")] = map[string]bool{}
		}
		ids[s.Param("key")][s.Text("item_id")] = true
	}
	repeated := 0
	for key, n := range attempts {
		if n < 2 {
			continue
		}
		repeated++
		if len(ids[key]) == 0 {
			r.doubted("no start under the repeated key was ever acknowledged")
		}
		if len(ids[key]) > 1 {
			r.broke("WR-06", "one idempotency key led to several items",
				fmt.Sprintf("%d starts under key %q were answered with %d item IDs", n, key, len(ids[key])))
		}
	}
	if repeated == 0 {
		return doubt("no idempotency key was used twice")
	}
	for _, s := range acknowledged(h, "start") {
		if attempts[s.Param("key")] > 1 {
			r.oneOfEach(h, s)
		}
	}
	return r
}

// oneOfEach looks at the store and the library behind one repeated start.
func (r *Ruling) oneOfEach(h history.History, s history.Operation) {
	id, task := s.Text("item_id"), map[string]string{"task_key": s.Param("task_key")}
	if look, ok := lastLook(h, "anchors", whenConverged, task); !ok {
		r.doubted("the anchors of task key %q were not seen at the end", s.Param("task_key"))
	} else if len(look.Rows) != 1 {
		r.broke("WR-06", "one repeated start left several anchors, or none",
			fmt.Sprintf("the store holds %d anchors under task key %q", len(look.Rows), s.Param("task_key")))
	}
	intents, ok := lastLook(h, "intents", whenConverged, item(id))
	if !ok {
		r.doubted("the intents of item %s were not seen at the end", id)
	} else if n := kinds(intents.Rows)["start"]; n != 1 {
		r.broke("WR-06", "one repeated start left several start intents, or none", fmt.Sprintf("item %s has %d start intents", id, n))
	}
	items, ok := lastLook(h, "items", whenConverged, nil)
	if !ok {
		r.doubted("the library's items were not seen at the end")
		return
	}
	n := 0
	for _, row := range items.Rows {
		if text(row, "title") == s.Param("title") {
			n++
		}
	}
	if n != 1 {
		r.broke("WR-06", "one repeated start left several items, or none", fmt.Sprintf("the library holds %d items titled %q", n, s.Param("title")))
	}
}

func kinds(intents []map[string]any) map[string]int {
	n := map[string]int{}
	for _, row := range intents {
		n[text(row, "kind")]++
	}
	return n
}

// NewAfterDead (WR-14): a start under the task key of a dead anchor is given a
// new ID, and the old anchor stays dead.
func NewAfterDead(h history.History) Ruling {
	var r Ruling
	deleted := h.Marks("deleted")
	if len(deleted) == 0 {
		return doubt("no item was deleted")
	}
	for _, m := range deleted {
		old, _ := m.Data["item_id"].(string)
		task, _ := m.Data["task_key"].(string)
		again := laterStart(h, task, old)
		if again == nil {
			r.doubted("no start under task key %q was acknowledged with a new key after the deletion", task)
			continue
		}
		if id := again.Text("item_id"); id == old || id == "" {
			r.broke("WR-14", "a start after the deletion was given the dead ID again",
				fmt.Sprintf("item %s was deleted; the later start under task key %q answered %q", old, task, id))
		}
		look, ok := lastLook(h, "anchor", whenConverged, item(old))
		switch {
		case !ok:
			r.doubted("the old anchor was not seen at the end")
		case len(look.Rows) == 0:
			r.broke("WR-14", "the dead anchor was forgotten", "the store holds no anchor for item "+old)
		case text(look.Rows[0], "state") != "dead":
			r.broke("WR-14", "the dead anchor did not stay dead", fmt.Sprintf("anchor %s is %q at the end", old, text(look.Rows[0], "state")))
		}
	}
	return r
}

// laterStart is the acknowledged start that was made after the deletion, told
// by the spec with the parameter "after".
func laterStart(h history.History, task, deleted string) *history.Operation {
	for _, s := range acknowledged(h, "start") {
		if s.Param("task_key") == task && s.Param("after") == deleted {
			return &s
		}
	}
	return nil
}
