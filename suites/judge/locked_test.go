package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// leftTask is what an older version left of a task in a run, and what came of it.
type leftTask struct {
	anchors, intents []map[string]any // behind the kill
	id               string           // that the later start is answered with
	now              []map[string]any // anchors at the end
	items            []map[string]any // in the library at the end
}

func (s *story) leaves(run string, l leftTask) {
	s.look("anchors", "crashed", params("run", run, "task_key", "t1"), l.anchors...)
	s.look("intents", "crashed", params("run", run), l.intents...)
	s.call("start", params("task_key", "t1", "key", "k "+run, "run", run, "anew", "yes"), done("item_id", l.id, "state", "queued"))
	s.look("anchors", "converged", params("run", run, "task_key", "t1"), l.now...)
	s.look("items", "converged", params("run", run), l.items...)
}

func anchorIs(id, state string) map[string]any { return row("item_id", id, "state", state) }
func startIs(id, state string) map[string]any {
	return row("item_id", id, "kind", "start", "state", state)
}

func rowsOf(rows ...map[string]any) []map[string]any { return rows }

var (
	noStart    = leftTask{rowsOf(anchorIs("i1", "provisional")), nil, "i1", rowsOf(anchorIs("i1", "live")), rowsOf(row("item_id", "i1"))}
	itemGone   = leftTask{rowsOf(anchorIs("i1", "provisional")), rowsOf(startIs("i1", "applied")), "i2", rowsOf(anchorIs("i1", "dead"), anchorIs("i2", "live")), rowsOf(row("item_id", "i2"))}
	nothing    = leftTask{nil, nil, "i1", rowsOf(anchorIs("i1", "live")), rowsOf(row("item_id", "i1"))}
	stillThere = leftTask{rowsOf(anchorIs("i1", "provisional")), rowsOf(startIs("i1", "applied")), "i1", rowsOf(anchorIs("i1", "live")), rowsOf(row("item_id", "i1"))}
	hadFailed  = leftTask{rowsOf(anchorIs("i1", "provisional")), rowsOf(startIs("i1", "failed")), "i2", rowsOf(anchorIs("i1", "provisional"), anchorIs("i2", "live")), rowsOf(row("item_id", "i2"))}
)

func killedTwice(first, second leftTask) history.History {
	s := newStory()
	for n, l := range []leftTask{first, second} {
		run := fmt.Sprintf("r%d", n+1)
		struck(s, run, n+1, "pwrite64", "after", "verified", false)
		s.leaves(run, l)
	}
	return s.told()
}

func TestTaskKeyFree(t *testing.T) {
	const summary = "behind a killed process of an older version a task key stays locked, at 1 of 2 crash points"
	wrong := func(name, what string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-12", summary, "point 1: killed after pwrite64 of store.db: "+what, "2 runs, 2 of them struck where they should have been")), nil}
	}
	once := func(do edit) edit { // in the first run alone
		return func(events []history.Event) []history.Event {
			for n, e := range events {
				if e.Kind == history.KindMark && e.Mark.Data["run"] == "r2" {
					return append(do(append([]history.Event{}, events[:n]...)), events[n:]...)
				}
			}
			return events
		}
	}
	restartFailed := func(events []history.Event) []history.Event {
		return append(events, history.Event{Kind: history.KindMark, Mark: &history.Mark{Name: "restart-failed", Data: row("run", "r1", "error", "no such column")}})
	}
	rules(t, TaskKeyFree("no start"), killedTwice(noStart, nothing),
		wrong("it stays queued", `left: no start; call c1 under the task key was answered with item i1, state "queued"; its anchor is provisional, and the task has the records nothing`,
			once(shows("anchors", "converged", anchorIs("i1", "provisional"))), once(shows("items", "converged"))),
		wrong("it is refused", `left: no start; call c1 under the task key was answered: {"isError":true}`, ends("c1", refused("permanent", "start_failed"))),
		wrong("there are two records", `left: no start; call c1 under the task key led to item i1, and the task has 2 live anchors and the records "i1", "i2"`,
			once(shows("anchors", "converged", anchorIs("i1", "live"), anchorIs("i2", "live"))), once(shows("items", "converged", row("item_id", "i1"), row("item_id", "i2")))),
		wrong("it does not start again", "the target does not start again: no such column", restartFailed),
		variant{"it got no answer", edits(ends("c1", unknown())), nil, []string{"point 1: killed after pwrite64 of store.db: call c1 got no answer"}},
		variant{"it was not started anew", edits(noCall("c1")), nil, []string{"point 1: killed after pwrite64 of store.db: the task was not started anew"}},
		variant{"the end was not seen", edits(once(noLook("items", "converged"))), nil, []string{
			"point 1: killed after pwrite64 of store.db: what was left of the task, and what came of it, was not all seen", "no run left the state that is to be led out of: no start"}},
	)
	t.Run("item gone", func(t *testing.T) { rules(t, TaskKeyFree("item gone"), killedTwice(itemGone, stillThere)) })
	t.Run("the state was not reached", func(t *testing.T) {
		expectRuling(t, TaskKeyFree("item gone"), killedTwice(nothing, stillThere), nil, []string{"no run left the state that is to be led out of: item gone"})
	})
}

func leftOnce(l leftTask) history.History {
	s := newStory()
	s.leaves("once", l)
	return s.told()
}

func TestFailedStartFree(t *testing.T) {
	rules(t, FailedStartFree, leftOnce(hadFailed),
		variant{"it stays queued", edits(field("c1", "item_id", "i1"), shows("anchors", "converged", anchorIs("i1", "provisional")), shows("items", "converged")),
			finds(broken("WR-12", "behind what an older version has left a task key stays locked",
				`left: start failed; call c1 under the task key was answered with item i1, state "queued"; its anchor is provisional, and the task has the records nothing`)), nil},
		variant{"nothing failed", edits(shows("intents", "crashed", startIs("i1", "pending"))), nil, []string{`the older version was to leave the state "start failed", and left "start waits"`}},
		variant{"it was not seen", edits(noLook("anchors", "crashed")), nil, []string{"what was left of the task, and what came of it, was not all seen"}},
	)
	t.Run("a record of an older app", func(t *testing.T) { rules(t, RecordFree, leftOnce(stillThere)) })
}

// madeByOlder is WR-11 for an item that an older app made.
func madeByOlder() history.History {
	s := newStory()
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1"))
	s.look("items", "early", nil, row("item_id", "i1"))
	s.look("anchors", "crashed", params("run", "once"), anchorIs("i1", "provisional"))
	of := params("run", "once", "item_id", "i1")
	s.look("anchor", "converged", of, anchorIs("i1", "live"))
	s.look("intents", "converged", of, startIs("i1", "applied"))
	s.look("items", "converged", params("run", "once"), row("item_id", "i1"))
	return s.told()
}

func TestOlderAppRepaired(t *testing.T) {
	wrong := func(name, what string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-11", "an item that an older app made was not brought together with its anchor", what)), nil}
	}
	rules(t, OlderAppRepaired, madeByOlder(),
		wrong("the anchor stays provisional", "item i1 is in the library and its anchor is provisional", shows("anchor", "converged", anchorIs("i1", "provisional"))),
		wrong("a second item is made", `beside item i1 the library has items that no start was answered with: "i2"`, rowsLater("items", "converged", row("item_id", "i2"))),
		wrong("the item is gone", "the library has no item i1; its anchor is live", shows("items", "converged")),
		variant{"the anchor was not provisional", edits(shows("anchors", "crashed", anchorIs("i1", "live"))), nil,
			[]string{`the older app was to leave one item and a provisional anchor, and left 1 items and the anchors "live"`}},
		variant{"it was not seen", edits(noLook("anchor", "converged")), nil, []string{"anchor, intents and items were not all seen before and after"}},
	)
}
