package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// killsInWrites is DU-23: two rounds without a kill, and four kills at one place, while
// a temporary file stood there, which the next server takes away.
func killsInWrites() history.History {
	s := newStory()
	s.mark("rounds-unharmed", "rounds", 2, "entries", 0, "bytes", 40)
	for round := 1; round <= 4; round++ {
		run := fmt.Sprintf("r%d", round)
		s.call("write", value("struck "+run, "run", run, "moment", "killed"), unknown()) // c1, c4, c7, c10
		s.mark("killed-in-a-write", "run", run, "place", 1, "round", round, "hit", true, "side", "before", "call", "rename",
			"path", "notes.new", "made", list("notes.new"), "left", list("notes.new"))
		s.callOn("helper.2", "read", params("moment", "restarted", "run", run), readShows("early")) // c2, c5, c8, c11
		s.callOn("helper.2", "write", value("behind "+run, "run", run, "moment", "behind"), done()) // c3, c6, c9, c12
		s.mark("settled-behind-a-kill", "run", run, "place", 1, "round", round, "entries", 5, "bytes", 100+20*round, "stays", row())
	}
	return s.told()
}

// markOf edits a mark by its name and run.
func markOf(name, run string, change func(m *history.Mark)) edit {
	return each("the mark "+name+" of "+run, func(e history.Event) bool {
		return e.Kind == history.KindMark && e.Mark.Name == name && e.Mark.Data["run"] == run
	}, func(e *history.Event) { change(e.Mark) })
}

func missed(run string) edit {
	return markOf("killed-in-a-write", run, func(m *history.Mark) { m.Data["hit"] = false })
}

// notMade: the kill hit before the write had made anything.
func notMade(run string) edit {
	return markOf("killed-in-a-write", run, func(m *history.Mark) { m.Data["made"] = []any{} })
}

// laidBelow is what lay there behind a round, and what kills had left of it.
func laidBelow(run string, entries, bytes int, stays map[string]any) edit {
	return markOf("settled-behind-a-kill", run, func(m *history.Mark) {
		m.Data["entries"], m.Data["bytes"], m.Data["stays"] = float64(entries), float64(bytes), stays
	})
}

func TestKillsDoNotBlock(t *testing.T) {
	const clause, there = "DU-23", `killed before rename of notes.new (there then: "notes.new")`
	const summary = "behind 1 of 4 kills in the middle of a write the next server accepts no write"
	doesNotStart := edits(noCall("c11", "c12"), markOf("settled-behind-a-kill", "r4", func(m *history.Mark) {
		m.Name, m.Data["error"] = "restart-failed", "exit code 1"
	}))
	// Only the last kill is there.
	onlyLast := removed("the first kills", func(e history.Event) bool {
		return e.Kind == history.KindMark && e.Mark.Name == "killed-in-a-write" && e.Mark.Data["run"] != "r4"
	})
	rules(t, KillsDoNotBlock, killsInWrites(),
		variant{"a write is refused", edits(ends("c12", refused("", "locked"))),
			finds(broken(clause, summary, there+`: 1 write, the last one c12: refused: {"isError":true}`)), nil},
		variant{"nothing is answered", edits(ends("c11", unknown()), ends("c12", unknown())),
			finds(broken(clause, summary, there+": 1 write, the last one c12: unknown: no answer within 15s")), nil},
		variant{"the store is torn", edits(ends("c11", refused("", "damaged")), ends("c12", refused("", "damaged"))), nil, nil},
		variant{"the only kill tears the store", edits(onlyLast, ends("c11", refused("", "damaged")), ends("c12", refused("", "damaged"))), nil,
			[]string{`behind a kill (killed before rename of notes.new) the store cannot be read, which is DU-02's and DU-03's matter: {"isError":true}`}},
		variant{"it does not start", doesNotStart,
			finds(broken(clause, summary, there+": it does not start: exit code 1")), nil},
		variant{"it does not start, and nothing had been made", append(doesNotStart, notMade("r4"), onlyLast), nil,
			[]string{"behind a kill (killed before rename of notes.new) the server does not start again, which is DU-03's matter: exit code 1"}},
		variant{"nothing was tried", edits(noCall("c12")), nil, []string{"behind a kill (killed before rename of notes.new) no write was tried"}},
		variant{"few hit", edits(missed("r1"), missed("r2"), missed("r3")), nil, []string{"of 4 kills in the middle of a write 1 hit where they should have"}},
		variant{"one missed", edits(missed("r1"), noCall("c3")), nil, nil},
	)
}

func TestLeftoversDoNotPileUp(t *testing.T) {
	const clause, there = "DU-23", `killed before rename of notes.new (there then: "notes.new")`
	const counted = "5 files after 2 kills, %d after 4; as many rounds without a kill add 0"
	each4 := row("r1", list("notes.1"), "r2", list("notes.2"), "r3", list("notes.3"), "r4", list("notes.4"))
	piles := edits(laidBelow("r4", 7, 180, each4))
	thereAgain := ends("c11", readShows("early", "struck r4"))
	rules(t, LeftoversDoNotPileUp(4), killsInWrites(),
		variant{"one file a kill", piles, finds(broken(clause, "what kills leave piles up: 2 of the last 2 kills left something that stays",
			there, fmt.Sprintf(counted, 7), `left and still there: "notes.3", "notes.4"`)), nil},
		variant{"as much grows without a kill", append(piles, markData("rounds-unharmed", "entries", 2.0)), nil, nil},
		variant{"the killed write is there, in a file of its own", edits(laidBelow("r4", 8, 180, row("r4", list("note-4"))), thereAgain, markData("rounds-unharmed", "entries", 2.0)), nil, nil},
		variant{"no more than one", edits(laidBelow("r4", 6, 180, row("r4", list("notes.4")))), nil, nil},
		variant{"what grows is not what kills have left", edits(laidBelow("r4", 7, 180, row())), nil, nil},
		variant{"one file grows", edits(laidBelow("r4", 5, 100_000, row())), finds(broken(clause, "what kills leave piles up: 99820 bytes with the last 2 kills",
			there, fmt.Sprintf(counted, 5))), nil},
		variant{"a log grows", edits(laidBelow("r4", 5, 20_000, row())), nil, nil},
		variant{"a kill missed", edits(missed("r2")), nil,
			[]string{"of 4 kills within a write, 3 hit while something stood there that the write had made; 4 were needed"}},
		variant{"nothing stood there", edits(notMade("r2")), nil,
			[]string{"of 4 kills within a write, 3 hit while something stood there that the write had made; 4 were needed"}},
		variant{"no rounds without a kill", edits(noMark("rounds-unharmed")), nil,
			[]string{"what lies below {{dir}} was not seen after half of the kills, after all, and without any"}},
		variant{"nobody looked", edits(noMark("settled-behind-a-kill")), nil,
			[]string{"what lies below {{dir}} was not seen after half of the kills, after all, and without any"}},
		variant{"nobody was killed", edits(noMark("killed-in-a-write")), nil, []string{"nobody was killed in the middle of a write"}},
	)
}

// A kill that did not hit is tried once more, in the same round.
func TestTheLastTryOfAKillCounts(t *testing.T) {
	h := with(killsInWrites(), missed("r1"), func(events []history.Event) []history.Event {
		again := events[len(events)-1]
		again.Seq++
		again.Mark = &history.Mark{Name: "killed-in-a-write", Data: row("run", "r4", "place", 1.0, "round", 4.0, "hit", false)}
		return append(events, again)
	})
	all := writeKills(h)
	if len(all) != 4 || len(hits(all)) != 2 {
		t.Errorf("%d kills, of which %d hit; expected 4 and 2", len(all), len(hits(all)))
	}
}
