package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// anyRun is a history of any spec: an anchor that comes to live, and an answer.
func anyRun() history.History {
	w := &spoken{story: newStory()}
	w.listed("helper.1")
	w.asked("helper.1", `{"state":"queued"}`, done("state", "queued", "item_id", "i1", "anchor", "provisional")) // c1
	w.look("anchor", "early", item("i1"), row("item_id", "i1", "state", "provisional"))
	w.asked("helper.1", `{"state":"queued"}`, done("state", "queued", "item_id", "i1", "anchor", "live")) // c2
	w.look("anchors", "converged", nil, row("item_id", "i1", "state", "live"))
	return w.told()
}

func TestOverTheRun(t *testing.T) {
	rules(t, OverTheRun, anyRun(),
		variant{"an anchor steps back", edits(cell("anchors", "converged", 0, "state", "provisional")), finds(broken("WR-40", "an anchor stepped back", "anchor i1",
			"before: live (answer of call c2)", `then: provisional (look "converged" at the anchors)`)), nil},
		variant{"an anchor vanishes", edits(shows("anchors", "converged")),
			finds(broken("WR-40", "an anchor is gone from the store", "anchor i1", "before: live (answer of call c2)")), nil},
		variant{"an anchor that was only answered is not there", edits(noLook("anchor", "early"), shows("anchors", "converged")), nil, nil},
		variant{"a word of no schema is answered", edits(answered("c2", `"queued"`, `"gone"`), field("c2", "state", "gone")),
			finds(broken("WR-41", "1 answered words are in no enumeration of the outputSchema", `work_note: "gone" as state`)), nil},
		variant{"nobody asked for the tools", edits(message(`"method":"tools/list"`, 1, "tools/list", "ping"), answered("c2", `"queued"`, `"gone"`), field("c2", "state", "gone")), nil, nil},
		variant{"a look failed", edits(lookFails("anchors", "converged")), nil, nil},
		variant{"nothing was seen", edits(noLook("anchor", "early"), noLook("anchors", "converged")), nil, nil},
	)
}

// Two sessions of helpers that were told different things are held each to its own.
func TestWordsAreThoseOfTheirSession(t *testing.T) {
	w := &spoken{story: newStory()}
	older := func(session, words string) {
		w.exchange(session, "tools/list", "{}", `{"tools":[{"name":"work_note","outputSchema":{"properties":{"state":{"enum":[`+words+`]}}}}]}`)
	}
	older("helper.1", `"late"`)
	older("helper.2", `"queued"`)
	w.asked("helper.1", `{"state":"late"}`, done("state", "late"))     // c1
	w.asked("helper.2", `{"state":"queued"}`, done("state", "queued")) // c2
	w.asked("helper.3", `{"state":"odd"}`, done("state", "odd"))       // c3, which nobody can hold to anything
	rules(t, OverTheRun, w.told(),
		variant{"one speaks like the other", edits(answered("c2", `"queued"`, `"late"`), field("c2", "state", "late")),
			finds(broken("WR-41", "1 answered words are in no enumeration of the outputSchema", `work_note: "late" as state`)), nil},
	)
}

// Each run at a crash point has stores of its own.
func TestRunsAreApart(t *testing.T) {
	s := newStory()
	look := func(run, state string) {
		p := item("i1")
		if run != "" {
			p["run"] = run
		}
		s.look("anchor", "crashed", p, row("item_id", "i1", "state", state))
	}
	look("", "provisional")
	for n, states := range [][]string{{"live", "dead"}, {"provisional", "live"}} {
		run := fmt.Sprintf("%d:after", n+1)
		for _, state := range states {
			look(run, state)
		}
		s.call("get", and(item("i1"), "run", run), done("item_id", "i1", "anchor", states[1]))
		look("", "provisional")
	}
	rules(t, OverTheRun, s.told(),
		variant{"one steps back within its run", edits(each("the last look of the second run", func(e history.Event) bool {
			return e.Look != nil && e.Look.Params["run"] == "1:after" && e.Look.Rows[0]["state"] == "dead"
		}, func(e *history.Event) { e.Look.Rows[0]["state"] = "provisional" })), finds(broken("WR-40", "an anchor stepped back", "anchor i1",
			`before: live (look "crashed" at the anchor)`, `then: provisional (look "crashed" at the anchor)`)), nil},
	)
}
