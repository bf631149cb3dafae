package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// wholeLife is WR-40: an anchor from its issue to its end, and its successor.
func wholeLife() history.History {
	s := newStory()
	task := params("task_key", "t1")
	anchor := func(id, state string) map[string]any { return row("item_id", id, "state", state) }
	answer := func(id, state string) ending { return done("item_id", id, "anchor", state) }
	s.call("start", and(task, "key", "k1"), answer("i1", "provisional")) // c1
	s.look("anchors", "held", task, anchor("i1", "provisional"))
	out := s.invoke("get", item("i1")) // c2, answered late
	s.look("anchors", "held", task, anchor("i1", "live"))
	s.end(out, answer("i1", "provisional"))
	s.call("get", item("i1"), answer("i1", "live")) // c3
	s.look("anchor", "early", item("i1"), anchor("i1", "dead"))
	s.call("start", and(task, "key", "k2"), answer("i2", "provisional")) // c4
	s.look("intents", "converged", item("i2"), row("seq", 2, "kind", "start", "state", "applied"))
	s.look("anchors", "converged", task, anchor("i1", "dead"), anchor("i2", "live"))
	s.call("get", item("i1"), refused("permanent", "item_deleted", "item_id", "i1", "anchor", "dead")) // c5
	s.look("anchors", "all", nil, anchor("i1", "dead"), anchor("i2", "live"))
	return s.told()
}

func TestOnlyForward(t *testing.T) {
	back := func(name, before, then string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-40", "an anchor stepped back", "anchor i1", "before: "+before, "then: "+then)), nil}
	}
	const dead, live = `dead (look "early" at the anchor)`, `live (look "held" at the anchors)`
	several := func(name string, facts []string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-40", "one task key has several usable anchors", append([]string{`task key "t1"`}, facts...)...)), nil}
	}
	gone := func(name string, e edit) variant {
		return variant{name, edits(e), finds(broken("WR-40", "an anchor is gone from the store", "anchor i1", "before: "+dead)), nil}
	}
	unseen := func(state string) string { return "no anchor was seen in the store that is " + state }
	const noSecond = "no task key was seen to have a second anchor"
	rules(t, OnlyForward, wholeLife(),
		back("a dead one is live in the store", dead, `live (look "all" at the anchors)`, cell("anchors", "all", 0, "state", "live")),
		back("a dead one is provisional in the store", dead, `provisional (look "all" at the anchors)`, cell("anchors", "all", 0, "state", "provisional")),
		back("a dead one is live in an answer", dead, "live (answer of call c5)", field("c5", "anchor", "live")),
		back("a live one is provisional in an answer", live, "provisional (answer of call c3)", field("c3", "anchor", "provisional")),
		several("two are usable", []string{"i1 is live", "i2 is live"},
			lookOf("i1", "anchor", "early", func(l *history.Look) { l.Rows[0]["state"] = "live" }), cell("anchors", "converged", 0, "state", "live"),
			cell("anchors", "all", 0, "state", "dead"), ends("c5", done())),
		variant{"one of two failed at its start", edits(
			cell("anchors", "converged", 1, "state", "provisional"), rowsLater("anchors", "converged", row("item_id", "i3", "state", "live")),
			rowsLater("anchors", "all", row("item_id", "i3", "state", "live")), cell("intents", "converged", 0, "state", "failed")), nil, nil},
		gone("one vanishes", noRow("anchors", "all", 0)),
		variant{"a look at one task shows that task's only", edits(noRow("anchors", "converged", 0)), nil, nil},
		variant{"an answer names no anchor", edits(noField("c5", "anchor")), nil, nil},
		variant{"no dead one was seen", edits(noLook("anchor", "early"), cell("anchors", "converged", 0, "state", "dead"), noLook("anchors", "all"),
			noLook("anchors", "converged")), nil, []string{unseen("dead"), noSecond}},
		variant{"nothing was seen", edits(noLook("anchor", "early"), noLook("anchors", "held"), noLook("anchors", "all"), noLook("anchors", "converged")), nil,
			[]string{unseen("provisional"), unseen("live"), unseen("dead"), noSecond}},
		variant{"a look failed", edits(lookFails("anchors", "converged")), nil, []string{"a look at the anchors failed: the look itself failed", noSecond}},
		variant{"a word that is no state", edits(cell("anchors", "all", 1, "state", "asleep")), nil, []string{`anchor i2 is "asleep", which is no state of an anchor`}},
		variant{"an answer's word that is no state", edits(field("c4", "anchor", "asleep")), nil,
			[]string{`call c4 answers that anchor i2 is "asleep", which is no state of an anchor`}},
		variant{"the probe shows no state", edits(noColumn("anchors", "all", "state")), nil, []string{`the probe anchors shows no column "state"`}},
	)
}
