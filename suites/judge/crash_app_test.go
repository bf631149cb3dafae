package judge

import (
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// killedAt marks a run in which an app was killed with so many of the ten writes
// to the library and of the five to the sidecar made.
func killedAt(s *story, run string, n, library, sidecar int, standing string) {
	path := "library.db"
	if library == 10 {
		path = "sidecar.db"
	}
	s.mark("crash-point", "run", run, "standing", standing, "acknowledged", true,
		"at", row("side", "after", "point", row("n", n, "call", "pwrite64", "path", path)),
		"stores", row("library", row("made", library, "of", 10), "sidecar", row("made", sidecar, "of", 5)))
}

// asked is what a repro of one point tells.
func asked(point string) func(*story) {
	return func(s *story) { s.mark("one-crash-point", "point", point) }
}

func TestCoveredBetween(t *testing.T) {
	for name, c := range map[string]struct {
		tell  func(*story)
		doubt string
	}{
		"one of each": {func(s *story) {
			killedAt(s, "r1", 1, 4, 0, "verified")
			killedAt(s, "r2", 2, 10, 0, "re-addressed")
			killedAt(s, "r3", 3, 10, 5, "verified")
		}, ""},
		"the sidecar comes first": {func(s *story) {
			killedAt(s, "r1", 1, 0, 4, "verified")
			killedAt(s, "r2", 2, 0, 5, "verified")
			killedAt(s, "r3", 3, 10, 5, "verified")
		}, ""},
		"none between that counts": {func(s *story) {
			killedAt(s, "r1", 1, 4, 0, "verified")
			killedAt(s, "r2", 2, 10, 0, "drifted")
			killedAt(s, "r3", 3, 10, 5, "verified")
		}, "of 3 runs at crash points 1 were verified before the library and the sidecar were written, 0 between the two, and 1 behind both; at least one of each is needed"},
		"nothing was struck": {func(*story) {}, "of 0 runs at crash points 0 were verified before the library and the sidecar were written, 0 between the two, and 0 behind both; at least one of each is needed"},
		"one point was asked for": {func(s *story) {
			asked("2:after")(s)
			killedAt(s, "r2", 2, 10, 0, "verified")
		}, ""},
		"one point was asked for and not struck": {func(s *story) {
			asked("2:after")(s)
			killedAt(s, "r2", 2, 10, 0, "drifted")
		}, "the run at the one crash point asked for (2:after) was not struck there"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory()
			c.tell(s)
			var doubts []string
			if c.doubt != "" {
				doubts = []string{c.doubt}
			}
			expectRuling(t, CoveredBetween, s.told(), nil, doubts)
		})
	}
}

// threeMoments are before an app wrote to its stores, between them, and behind both.
var threeMoments = []struct {
	run              string
	library, sidecar int
}{{"r1", 4, 0}, {"r2", 10, 0}, {"r3", 10, 5}}

// appliesKilled is WR-11: an item from before, and a start whose app was killed
// before the item was made, between item and anchor, and behind both.
func appliesKilled() history.History {
	s := newStory()
	s.call("start", params("task_key", "t0"), done("item_id", "i0")) // c1
	for i, at := range threeMoments {
		id := "i" + at.run
		run := params("run", at.run, "item_id", id)
		s.call("start", params("task_key", "t1", "run", at.run), done("item_id", id)) // c2, c3, c4
		killedAt(s, at.run, i+1, at.library, at.sidecar, "verified")
		s.look("anchor", "crashed", run, row("item_id", id, "state", "provisional"))
		s.look("anchor", "converged", run, row("item_id", id, "state", "live"))
		s.look("intents", "converged", run, row("seq", 2, "kind", "start", "state", "applied"))
		s.look("items", "converged", params("run", at.run), row("item_id", "i0"), row("item_id", id))
	}
	return s.told()
}

// marked adds a mark at the end.
func marked(name string, pairs ...any) edit {
	return func(events []history.Event) []history.Event {
		last := events[len(events)-1]
		last.Kind, last.Look, last.Call, last.Mark = history.KindMark, nil, nil, &history.Mark{Name: name, Data: row(pairs...)}
		last.Seq++
		return append(events, last)
	}
}

// atTheSecond makes cases of a rule over killed apps, which finds something wrong
// with the second of three runs.
func atTheSecond(clause, summary string) func(wrong, name string, e ...edit) variant {
	return func(wrong, name string, e ...edit) variant {
		return variant{name, e, finds(broken(clause, summary+", at 1 of 3 crash points",
			"point 2: killed after pwrite64 of sidecar.db: "+wrong, "3 runs, 3 of them struck where they should have been")), nil}
	}
}

func TestRepairedAtEachPoint(t *testing.T) {
	const summary = "killed while it applies a start, the app does not bring anchor and item together again"
	wrong := atTheSecond("WR-11", summary)
	const unseen = "anchor, intents and items were not all seen behind it"
	rules(t, RepairedAtEachPoint, appliesKilled(),
		wrong("item ir2 is in the library and its anchor is provisional", "the anchor stays provisional", inRun("r2", "anchor", "converged", row("state", "provisional"))),
		wrong("item ir2 is in the library and its anchor is missing", "the anchor is gone", inRun("r2", "anchor", "converged")),
		wrong(`beside item ir2 the library has items that no start was answered with: "ix"`, "another item",
			inRun("r2", "items", "converged", row("item_id", "i0"), row("item_id", "ir2"), row("item_id", "ix"))),
		wrong(`beside item ir2 the library has items that no start was answered with: "ir1"`, "the item of another run",
			inRun("r2", "items", "converged", row("item_id", "ir2"), row("item_id", "ir1"))),
		wrong("the library shows item ir2 2 times", "the item twice", inRun("r2", "items", "converged", row("item_id", "ir2"), row("item_id", "ir2"))),
		wrong("the library has no item ir2; its anchor is live", "no item", inRun("r2", "items", "converged", row("item_id", "i0"))),
		wrong(`item ir2 has the start intents "retrying", expected one that is applied`, "the start is not settled",
			inRun("r2", "intents", "converged", row("kind", "start", "state", "retrying"))),
		wrong(`item ir2 has the start intents "applied", "applied", expected one that is applied`, "two starts",
			inRun("r2", "intents", "converged", row("kind", "start", "state", "applied"), row("kind", "start", "state", "applied"))),
		wrong("the app does not start again: exit code 1", "it does not start again", marked("restart-failed", "run", "r2", "error", "exit code 1")),
		variant{"a run that came to no rest", edits(inRun("r3", "anchor", "converged", row("state", "provisional")), marked("came-to-no-rest", "run", "r3", "not tried", 7)),
			finds(broken("WR-11", summary+", at 1 of 3 crash points", "point 3: killed after pwrite64 of sidecar.db: item ir3 is in the library and its anchor is provisional",
				"3 runs, 3 of them struck where they should have been", "behind run r3 nothing came to rest, so that 7 more were not made")), nil},
		variant{"a run that came to no rest and is right all the same", edits(marked("came-to-no-rest", "run", "r3", "not tried", 7)), nil,
			[]string{"behind run r3 nothing came to rest, so that 7 more were not made"}},
		variant{"a run that was made twice", edits(func(events []history.Event) []history.Event {
			s := newStory()
			s.n = 90 // numbers that no call of the history has
			s.call("start", params("task_key", "t1", "run", "r2"), done("item_id", "drifted"))
			at := slices.IndexFunc(events, isCall("c3", history.Invoked))
			return slices.Insert(events, at, s.told().Events...)
		}), nil, nil},
		variant{"a start without an answer", edits(ends("c3", unknown())), nil,
			[]string{"point 2: killed after pwrite64 of sidecar.db: the start of the run was not acknowledged"}},
		variant{"the anchors were not looked at", edits(noLook("anchor", "converged")), nil, []string{
			"point 1: killed after pwrite64 of library.db: " + unseen, "point 2: killed after pwrite64 of sidecar.db: " + unseen, "point 3: killed after pwrite64 of sidecar.db: " + unseen}},
		variant{"the probe shows no state", edits(noColumn("anchor", "converged", "state")), nil, []string{
			`point 1: killed after pwrite64 of library.db: the probe anchor shows no column "state"`, `point 2: killed after pwrite64 of sidecar.db: the probe anchor shows no column "state"`,
			`point 3: killed after pwrite64 of sidecar.db: the probe anchor shows no column "state"`}},
		variant{"no run was struck", edits(markData("crash-point", "standing", "drifted")), nil, []string{
			"of 3 runs at crash points 0 were verified before the library and the sidecar were written, 0 between the two, and 0 behind both; at least one of each is needed"}},
	)
}
