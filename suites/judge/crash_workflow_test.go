package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// workflowCrash is one run of a workflow of the steps "one" and "two".
type workflowCrash struct {
	run          string
	acknowledged bool
	crashed      []string // the steps in the checkpoint that it left, nil for none
	end          string   // the state behind the resumes
	applied      []string // what the run had applied by the crash
	later        []string // and behind that
}

// crashedFlows tells of runs; what one has applied is there for those behind it.
func crashedFlows(runs ...workflowCrash) history.History {
	s := newStory()
	rows := []map[string]any{row("text", "one"), row("text", "two")} // of the recorded run
	apply := func(texts []string) {
		for _, t := range texts {
			rows = append(rows, row("text", t))
		}
	}
	for i, c := range runs {
		s.call("start", params("texts", `["one","two"]`, "run", c.run), done("operation_id", "wf_"+c.run))
		s.look("effects", "ready", nil, rows...)
		struck(s, c.run, i+1, "renameat", "before", "verified", c.acknowledged)
		stored := func(when, state string) {
			if c.crashed != nil {
				s.look("checkpoint", when, params("run", c.run, "operation_id", "wf_"+c.run), row("state", state, "steps", list(c.crashed...)))
			}
		}
		apply(c.applied)
		stored("crashed", "running")
		s.look("effects", "crashed", params("run", c.run), rows...)
		apply(c.later)
		stored("ended", c.end)
		s.look("effects", "ended", params("run", c.run), rows...)
	}
	return s.told()
}

// reviewedRuns are one run of each kind.
func reviewedRuns() []workflowCrash {
	return []workflowCrash{
		{run: "r1"},
		{run: "r2", acknowledged: true, crashed: []string{"pending", "pending"}, end: "completed", later: []string{"one", "two"}},
		{run: "r3", acknowledged: true, crashed: []string{"in_flight", "pending"}, end: "needs_review", applied: []string{"one"}},
		{run: "r4", acknowledged: true, crashed: []string{"done", "in_flight"}, end: "needs_review", applied: []string{"one"}},
	}
}

// otherwise is reviewedRuns with one run changed.
func otherwise(n int, change func(*workflowCrash)) history.History {
	runs := reviewedRuns()
	change(&runs[n])
	return crashedFlows(runs...)
}

func TestReviewedExactly(t *testing.T) {
	const summary = "a crash does not end as the checkpoint says, at 1 of 4 crash points"
	at := func(n, wrong string) []string {
		return []string{"point " + n + ": killed before renameat of store.db: " + wrong, "4 runs, 4 of them struck where they should have been"}
	}
	for _, c := range []struct {
		name          string
		h             history.History
		point, wrong  string
		doubts, tried []string
	}{
		{name: "a right world", h: crashedFlows(reviewedRuns()...),
			tried: []string{"crash points judged: 4, of them 2 with a step in doubt, 1 with none, 1 with nothing stored; doubts that were not reviewed: 0; reviews without a doubt: 0"}},
		{name: "a doubt is not reviewed", h: otherwise(2, func(c *workflowCrash) { c.end = "completed" }),
			point: "3", wrong: "step 1 was in flight, and the operation is completed",
			tried: []string{"crash points judged: 4, of them 2 with a step in doubt, 1 with none, 1 with nothing stored; doubts that were not reviewed: 1; reviews without a doubt: 0"}},
		{name: "a step takes effect twice", h: otherwise(2, func(c *workflowCrash) { c.later = []string{"one"} }),
			point: "3", wrong: "step 1 took effect 2 times"},
		{name: "a step goes out late", h: otherwise(3, func(c *workflowCrash) { c.later = []string{"two"} }),
			point: "4", wrong: "step 2 was in flight, and the effects of the steps went from [1 0] to [1 1]"},
		{name: "a review without a doubt", h: otherwise(1, func(c *workflowCrash) { c.end, c.later = "needs_review", nil }),
			point: "2", wrong: "no step was in flight, and the operation is left to a review",
			tried: []string{"crash points judged: 4, of them 2 with a step in doubt, 1 with none, 1 with nothing stored; doubts that were not reviewed: 0; reviews without a doubt: 1"}},
		{name: "it stays where it is", h: otherwise(1, func(c *workflowCrash) { c.end, c.later = "interrupted", nil }),
			point: "2", wrong: "no step was in flight, and the operation is interrupted with the effects [0 0]"},
		{name: "it took effect and nothing is stored", h: otherwise(0, func(c *workflowCrash) { c.applied = []string{"one"} }),
			point: "1", wrong: "step 1 took effect and nothing is stored"},
		{name: "an acknowledged start is not stored", h: otherwise(0, func(c *workflowCrash) { c.acknowledged = true }),
			doubts: []string{"of 4 runs at crash points 0 were verified before the acknowledgement and 4 behind it; at least one of each is needed",
				"point 1: killed before renameat of store.db: the start was acknowledged and no checkpoint of it is seen"}},
		{name: "there was no doubt", h: crashedFlows(reviewedRuns()[:2]...),
			doubts: []string{"0 crash points left a step in doubt and 1 none; at least one of each is needed"}},
		{name: "no start was made", h: newStory().told(), doubts: []string{"no start of a workflow was made at a crash point"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.wrong == "" {
				expectRuling(t, ReviewedExactly, c.h, nil, c.doubts)
			} else {
				expectRuling(t, ReviewedExactly, c.h, finds(broken("WF-14", summary, at(c.point, c.wrong)...)), nil)
			}
			if got := ReviewedExactly(c.h).Tried; c.tried != nil && (len(got) != 1 || got[0] != c.tried[0]) {
				t.Errorf("tried %q, expected %q", got, c.tried)
			}
		})
	}
}
