package judge

import (
	"fmt"
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
	"github.com/holdfast-mcp/holdfast/reports/verdict"
)

// struck marks a run at a crash point.
func struck(s *story, run string, n int, call, side, standing string, acknowledged bool) {
	s.mark("crash-point", "run", run, "standing", standing, "acknowledged", acknowledged,
		"at", row("side", side, "point", row("n", n, "call", call, "path", "store.db")))
}

// started is a start that was struck, with what the store showed behind it.
type crashedStart struct {
	anchors []map[string]any
	intents []map[string]any
}

func anchorOf(id string) map[string]any { return row("item_id", id, "task_key", "task "+id) }
func startOf(id string) map[string]any  { return row("item_id", id, "kind", "start") }

// crashedStarts is WR-03: a first item, and the second one's start struck before
// its commit, behind it, and behind its answer.
func crashedStarts(runs ...crashedStart) history.History {
	s := newStory()
	for i, r := range runs {
		name, acked := fmt.Sprintf("r%d", i+1), i == len(runs)-1
		e := unknown()
		if acked {
			e = done("item_id", "i2")
		}
		s.call("start", params("task_key", "task i2", "run", name), e)
		struck(s, name, i+1, "pwrite64", "after", "verified", acked)
		s.look("anchors", "crashed", params("run", name), r.anchors...)
		s.look("intents", "crashed", params("run", name), r.intents...)
	}
	return s.told()
}

func TestNeverHalf(t *testing.T) {
	before := crashedStart{[]map[string]any{anchorOf("i1")}, []map[string]any{startOf("i1")}}
	behind := crashedStart{[]map[string]any{anchorOf("i1"), anchorOf("i2")}, []map[string]any{startOf("i1"), startOf("i2")}}
	const summary = "anchor and start intent were not stored together, at 1 of 3 crash points"
	for name, c := range map[string]struct {
		runs  []crashedStart
		facts []string
	}{
		"whole or not at all": {[]crashedStart{before, behind, behind}, nil},
		"an anchor alone": {[]crashedStart{before, {behind.anchors, before.intents}, behind},
			[]string{`point 2: killed after pwrite64 of store.db: anchors without exactly one start intent: "i2"`, "3 runs, 3 of them struck where they should have been"}},
		"an intent alone": {[]crashedStart{before, {before.anchors, behind.intents}, behind},
			[]string{`point 2: killed after pwrite64 of store.db: start intents without an anchor: "i2"`, "3 runs, 3 of them struck where they should have been"}},
		"two start intents": {[]crashedStart{before, {behind.anchors, append(slices.Clone(behind.intents), startOf("i2"))}, behind},
			[]string{`point 2: killed after pwrite64 of store.db: anchors without exactly one start intent: "i2"`, "3 runs, 3 of them struck where they should have been"}},
		"acknowledged and not there": {[]crashedStart{before, behind, before},
			[]string{`point 3: killed after pwrite64 of store.db: the start of task key "task i2" was acknowledged and has no anchor`, "3 runs, 3 of them struck where they should have been"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.facts == nil {
				expectRuling(t, NeverHalf, crashedStarts(c.runs...), nil, nil)
				return
			}
			expectRuling(t, NeverHalf, crashedStarts(c.runs...), finds(broken("WR-03", summary, c.facts...)), nil)
		})
	}
}

func TestARunWhoseStoreWasNotSeenIsDoubted(t *testing.T) {
	s := newStory()
	struck(s, "r1", 1, "pwrite64", "before", "verified", false)
	struck(s, "r2", 2, "write", "after", "verified", true)
	h := s.told()
	expectRuling(t, NeverHalf, h, nil, []string{
		"point 1: killed before pwrite64 of store.db: the store was not seen behind it",
		"point 2: killed after write of store.db: the store was not seen behind it",
	})
	for _, p := range NeverHalf(h).Points {
		if p.Verdict != verdict.Inconclusive && p.Verdict != "" {
			t.Errorf("run %s is %s", p.Run, p.Verdict)
		}
	}
}

func TestCovered(t *testing.T) {
	for name, c := range map[string]struct {
		tell  func(*story)
		doubt string
	}{
		"one of each": {func(s *story) {
			struck(s, "r1", 1, "write", "before", "verified", false)
			struck(s, "r2", 1, "write", "after", "re-addressed", true)
		}, ""},
		"none was struck behind the answer": {func(s *story) {
			struck(s, "r1", 1, "write", "before", "verified", false)
			struck(s, "r2", 1, "write", "after", "drifted", true)
		}, "of 2 runs at crash points 1 were verified before the acknowledgement and 0 behind it; at least one of each is needed"},
		"nothing was struck": {func(*story) {}, "of 0 runs at crash points 0 were verified before the acknowledgement and 0 behind it; at least one of each is needed"},
		"a sample": {func(s *story) {
			s.mark("crash-points-sampled", "runs", 400, "tried", 2, "kinds", 3, "kinds tried", 2)
			struck(s, "r1", 1, "write", "before", "verified", false)
			struck(s, "r2", 1, "write", "after", "verified", true)
		}, "nothing was found, and not every crash point was tried: tried 2 of 400 runs at crash points, of 2 of 3 kinds (a kind is one call on one file), evenly over the write; profiles.durability.crash_points in the target file sets the bound"},
		"one point was asked for": {func(s *story) {
			s.mark("one-crash-point", "point", "1:before")
			struck(s, "r1", 1, "write", "before", "verified", false)
		}, ""},
		"one point was asked for and not struck": {func(s *story) {
			s.mark("one-crash-point", "point", "1:before")
			struck(s, "r1", 1, "write", "before", "drifted", false)
		}, "the run at the one crash point asked for (1:before) was not struck there"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory()
			c.tell(s)
			var doubts []string
			if c.doubt != "" {
				doubts = []string{c.doubt}
			}
			expectRuling(t, Covered, s.told(), nil, doubts)
		})
	}
}

// crashedWrites is DU-02 and DU-03: one earlier write, and another one struck
// before and behind its answer, with what a new server read behind each.
func crashedWrites(behind ...ending) history.History {
	s := newStory()
	readsAtFirst(s)
	s.call("write", value("earlier ~1"), done()) // c1
	for i, e := range behind {
		run, acked := fmt.Sprintf("r%d", i+1), i == len(behind)-1
		end := unknown()
		if acked {
			end = done()
		}
		s.call("write", value("struck ~2", "run", run), end)
		struck(s, run, i+1, "write", "after", "verified", acked)
		if e.Outcome == "" {
			s.mark("restart-failed", "run", run, "error", "exit code 1")
			continue
		}
		s.callOn("helper.2", "read", params("moment", "restarted", "run", run), e)
	}
	return s.told()
}

func readShows(values ...string) ending { return done("values", list(values...)) }

func TestStartsAgainAndWholeAtEachPoint(t *testing.T) {
	const (
		lost = "killed in the middle of a write, the server lost an earlier one or does not start, at 1 of 2 crash points"
		part = "killed in the middle of a write, it is there in part, or acknowledged and gone, or the store cannot be read, at 1 of 2 crash points"
		all  = "2 runs, 2 of them struck where they should have been"
	)
	whole := readShows("earlier ~1", "struck ~2")
	for name, c := range map[string]struct {
		behind []ending
		again  string // what StartsAgain says of it, "" for nothing
		piece  string // what WholeAtEachPoint says of it
	}{
		"sound":                            {[]ending{readShows("earlier ~1"), whole}, "", ""},
		"an earlier one lost":              {[]ending{readShows("struck ~2"), whole}, `point 1: killed after write of store.db: acknowledged before and lost: "earlier ~1"`, ""},
		"half a value":                     {[]ending{readShows("earlier ~1", "struck"), whole}, "", `point 1: killed after write of store.db: written "struck ~2", read back "struck"`},
		"a value without its text":         {[]ending{readShows("earlier ~1", ""), whole}, "", `point 1: killed after write of store.db: written "struck ~2", read back 1 value without any text more than beside a whole one`},
		"what always stands there is none": {[]ending{readShows("earlier ~1", ""), readShows("", "earlier ~1", "struck ~2")}, "", ""},
		"twice":                            {[]ending{readShows("earlier ~1", "struck ~2", "struck ~2"), whole}, "", `point 1: killed after write of store.db: "struck ~2" is there 2 times`},
		"acknowledged, gone":               {[]ending{readShows("earlier ~1"), readShows("earlier ~1")}, "", `point 2: killed after write of store.db: "struck ~2" was acknowledged and is gone`},
		"does not start": {[]ending{{}, whole}, "point 1: killed after write of store.db: the server does not start again: exit code 1",
			"point 1: killed after write of store.db: the server does not start again: exit code 1"},
		"cannot be read": {[]ending{refused("", ""), whole}, "point 1: killed after write of store.db: the store cannot be read: refused: ",
			"point 1: killed after write of store.db: the store cannot be read: refused: "},
	} {
		t.Run(name, func(t *testing.T) {
			h := crashedWrites(c.behind...)
			for _, r := range []struct {
				clause, summary, fact string
				rule                  Rule
			}{{"DU-03", lost, c.again, StartsAgain}, {"DU-02", part, c.piece, WholeAtEachPoint}} {
				got := r.rule(h)
				switch {
				case len(got.Doubts) > 0:
					t.Errorf("%s: doubts %q", r.clause, got.Doubts)
				case r.fact == "" && len(got.Findings) > 0:
					t.Errorf("%s: %+v", r.clause, got.Findings)
				case r.fact != "" && (len(got.Findings) != 1 || got.Findings[0].Summary != r.summary ||
					len(got.Findings[0].Facts) != 2 || got.Findings[0].Facts[1] != all || got.Findings[0].Facts[0][:len(r.fact)] != r.fact):
					t.Errorf("%s: %+v\nexpected %q", r.clause, got.Findings, r.fact)
				}
			}
		})
	}
}

func TestNothingIsHeldAgainstWhoAcknowledgedNothing(t *testing.T) {
	accuse := func(history.History) Ruling {
		var r Ruling
		r.broke("DU-21", "something is wrong")
		return r
	}
	s := newStory()
	s.call("setup", params(), done())
	s.call("write", value("v"), refused("", ""))
	expectRuling(t, func(h history.History) Ruling { return Ruled(accuse, h) }, s.told(), nil, []string{
		"the target acknowledged nothing, so that nothing can be held against it (it seemed that: something is wrong); check the predicates accepted and refused"})

	s.call("write", value("w"), done())
	expectRuling(t, func(h history.History) Ruling { return Ruled(accuse, h) }, s.told(), finds(broken("DU-21", "something is wrong")), nil)
}

func TestProbeSees(t *testing.T) {
	for name, c := range map[string]struct {
		rows  []map[string]any
		doubt string
	}{
		"it does":     {[]map[string]any{row("value", "v")}, ""},
		"it is blind": {nil, `the probe values does not show the acknowledged value "v", so that it shows nothing when it shows none`},
		"other words": {[]map[string]any{row("value", "x")}, `the probe values does not show the acknowledged value "v", so that it shows nothing when it shows none`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory()
			s.look("values", "control", params("value", "v"), c.rows...)
			var doubts []string
			if c.doubt != "" {
				doubts = []string{c.doubt}
			}
			expectRuling(t, ProbeSees("values"), s.told(), nil, doubts)
		})
	}
	expectRuling(t, ProbeSees("values"), newStory().told(), nil, []string{"the probe values was not tried on a value that is there"})
}

// digested is DU-20 on a target whose file says what counts as state.
func digested(afterInvalid, afterWrite string) history.History {
	s := newStory()
	around := func(pair, before, after string, role string, e ending, values ...string) {
		s.call("read", params("moment", "before", "pair", pair), readShows())
		s.look("state", "before", params("pair", pair), row("digest", before))
		s.call(role, value("v", "pair", pair), e)
		s.call("read", params("moment", "after", "pair", pair), readShows(values...))
		s.look("state", "after", params("pair", pair), row("digest", after))
	}
	around("p1", "a", afterInvalid, "invalid", refused("", ""))
	around("p2", "a", afterWrite, "write", done(), "v")
	return s.told()
}

func TestErrorChangedNoDeclaredState(t *testing.T) {
	expectRuling(t, ErrorChangedNothing, digested("a", "b"), nil, nil)
	expectRuling(t, ErrorChangedNothing, digested("a", "a"), nil, []string{
		"no valid write was seen to change the declared state; does the target file's state include match the store?"})
	got := ErrorChangedNothing(digested("c", "b"))
	if len(got.Findings) != 1 || got.Findings[0].Summary != "a call that was answered with an error changed the declared state of the store" {
		t.Errorf("%+v", got.Findings)
	}
}
