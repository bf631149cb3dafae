package judge

import (
	"fmt"
	"slices"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// QueuedWithID (WR-01): while no item exists a start answers with an ID, state
// queued, and materialized false. The look that shows that no item was there
// names the call whose answer it followed.
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
			r.broke("WR-01", "a start was acknowledged without an item ID", "answer: "+answerOf(s))
			continue
		}
		if !absentBehind(h, s) {
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

// absentBehind says whether a look that names the call showed that its item was
// not there: the record itself, or the library's write log, which can be seen
// while nobody is signed in.
func absentBehind(h history.History, s history.Operation) bool {
	id := s.Text("item_id")
	if record, ok := lastLook(h, "item", whenEarly, map[string]string{"item_id": id, "call": s.Invoked.ID}); ok {
		return len(record.Rows) == 0
	}
	log, ok := lastLook(h, "writes", whenEarly, map[string]string{"call": s.Invoked.ID})
	return ok && !slices.ContainsFunc(log.Rows, func(row map[string]any) bool { return text(row, "item_id") == id })
}

// StableID (WR-01): every answer about one task key and idempotency key carries
// one ID, before and after the item exists.
func StableID(h history.History) Ruling {
	var r Ruling
	again, live := 0, false
	for _, same := range repetitions(h, "start") {
		r.refusedReplays("WR-01", same)
		var was *history.Operation
		for _, s := range same {
			switch {
			case s.Outcome() != history.Done:
				if !forGood(s) {
					r.doubted("call %s (start) was not answered with an ID: %s", s.Invoked.ID, s.Outcome())
				}
				continue
			case was == nil:
				was = &s
				continue
			}
			again++
			live = live || s.Field("materialized") == true
			if was.Text("item_id") != s.Text("item_id") {
				r.broke("WR-01", "the item ID of one start changed",
					fmt.Sprintf("call %s answered item %q", was.Invoked.ID, was.Text("item_id")),
					fmt.Sprintf("call %s with the same key answered item %q", s.Invoked.ID, s.Text("item_id")))
			}
		}
	}
	switch {
	case again == 0:
		r.doubted("no start was acknowledged twice under one key, so that its ID could not have changed")
	case !live:
		r.doubted("no start was acknowledged again once its item was there")
	}
	for _, g := range acknowledged(h, "get") {
		switch id := g.Text("item_id"); {
		case id == "":
			r.doubted("call %s (get) does not say which item it answers", g.Invoked.ID)
		case id != g.Param("item_id"):
			r.broke("WR-01", "a read of one item answered with another ID",
				fmt.Sprintf("asked for %q, answered %q", g.Param("item_id"), id))
		}
	}
	return r
}
