package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// lockedSidecar is WR-32: a start and a note that met a lock and were refused,
// and were made again without it.
func lockedSidecar() history.History {
	s := newStory()
	start, note := params("task_key", "t1", "text", "first", "key", "k1", "under", "lock"), and(item("i1"), "text", "n", "key", "k2", "under", "lock")
	hold := hit("committed")
	hold[len(hold)-1].Stage = history.Fired
	s.fault("f1", "store-busy", hold[:5]...)
	s.call("start", start, refused("transient", "sidecar_busy")) // c1
	s.call("note", note, refused("transient", "sidecar_busy"))   // c2
	s.fault("f1", "store-busy", history.Fault{Stage: history.Observed}, history.Fault{Stage: history.Healed})
	s.look("anchors", "released", nil, row("item_id", "i1", "task_key", "t0"))
	s.look("intents", "released", nil, row("seq", 1, "kind", "start", "item_id", "i1", "text", nil))
	s.call("start", and(start, "again", "yes"), done("item_id", "i2")) // c3
	s.call("note", and(note, "again", "yes"), done())                  // c4
	s.look("anchors", "again", nil, row("item_id", "i1", "task_key", "t0"), row("item_id", "i2", "task_key", "t1"))
	s.look("intents", "again", nil, row("seq", 1, "kind", "start", "item_id", "i1", "text", nil), row("seq", 2, "kind", "start", "item_id", "i2", "text", nil),
		row("seq", 3, "kind", "note", "item_id", "i2", "text", "first"), row("seq", 4, "kind", "note", "item_id", "i1", "text", "n"))
	return s.told()
}

// addRows adds rows to a look.
func addRows(probe, when string, rows ...map[string]any) edit {
	return each("look "+probe, isLook(probe, when), func(e *history.Event) { e.Look.Rows = append(e.Look.Rows, rows...) })
}

func TestLockedOut(t *testing.T) {
	anchor := addRows("anchors", "released", row("item_id", "i2", "task_key", "t1"))
	intents := addRows("intents", "released", row("seq", 2, "kind", "start", "item_id", "i2"), row("seq", 3, "kind", "note", "item_id", "i2", "text", "first"))
	note := addRows("intents", "released", row("seq", 4, "kind", "note", "item_id", "i1", "text", "n"))
	rules(t, LockedOut, lockedSidecar(),
		variant{"they are accepted later", edits(ends("c1", done("item_id", "i2")), endedLate("c1"), ends("c2", done()), endedLate("c2"), anchor, intents, note, noCall("c3", "c4")), nil, nil},
		variant{"one is acknowledged and gone", edits(ends("c2", done())),
			finds(broken("WR-32", "a call that met a locked sidecar was acknowledged and is not stored", "call c2 (note)", "the store holds nothing of it")), nil},
		variant{"one is stored in part", edits(anchor),
			finds(broken("WR-32", "a call that met a locked sidecar is stored in part", "call c1 (start)", "the store holds 1 of its 3 parts")), nil},
		variant{"one lacks its first note", edits(anchor, addRows("intents", "released", row("seq", 2, "kind", "start", "item_id", "i2"))),
			finds(broken("WR-32", "a call that met a locked sidecar is stored in part", "call c1 (start)", "the store holds 2 of its 3 parts")), nil},
		variant{"one is refused and stored", edits(note),
			finds(broken("WR-32", "a call that met a locked sidecar was refused and is stored", "call c2 (note)", "the store holds all of it")), nil},
		variant{"one is refused for good", edits(ends("c2", refused("permanent", "sidecar_unreadable"))),
			finds(broken("WR-32", "a locked sidecar was not told as a transient error", "call c2 (note)", `class "permanent", code "sidecar_unreadable"`)), nil},
		variant{"one is not accepted afterwards", edits(ends("c4", refused("transient", "sidecar_busy"))),
			finds(broken("WR-32", "a call is not accepted although the sidecar is free again", "call c4 (note)", `answer: {"isError":true}`)), nil},
		variant{"one is stored twice in the end", edits(addRows("intents", "again", row("seq", 5, "kind", "note", "item_id", "i1", "text", "n"))),
			finds(broken("WR-32", "a call that was made again behind a lock is not stored once", "call c4 (note)", "the store holds it more than once")), nil},
		variant{"one got no answer", edits(ends("c2", unknown())), nil, []string{"call c2 (note) got no answer while the sidecar was locked"}},
		variant{"the lock held nobody up", edits(ends("c1", done("item_id", "i2")), ends("c2", done()), anchor, intents, note, noCall("c3", "c4")), nil,
			[]string{"the lock held nobody up: every call was acknowledged under it"}},
		variant{"no call was made under it", edits(noCall("c1", "c2")), nil, []string{"no call was made while the sidecar was locked"}},
		variant{"none was made again", edits(noCall("c3", "c4")), nil,
			[]string{"call c1 (start) was refused and not made again without the lock", "call c2 (note) was refused and not made again without the lock"}},
		variant{"one is refused without the lock as well", edits(ends("c2", refused("permanent", "never_issued")), ends("c4", refused("permanent", "never_issued"))), nil,
			[]string{`call c2 (note) was refused without the lock as well, code "never_issued"`}},
		variant{"the store was not seen", edits(noLook("anchors", "released")), nil, []string{"the store was not seen behind the lock", "the store was not seen behind the lock"}},
		variant{"the store was not seen in the end", edits(lookFails("intents", "again")), nil, []string{
			"call c3 (start) was made again, and its answer or the store behind it was not seen", "call c4 (note) was made again, and its answer or the store behind it was not seen"}},
	)
}

// fullDisks is WR-33: an earlier record, and two runs of a note: one that found
// no room and was refused, one that was acknowledged all the same.
func fullDisks() history.History {
	s := newStory()
	s.call("start", params("task_key", "t0"), done("item_id", "i1")) // c1
	note := and(item("i1"), "text", "n")
	start := row("seq", 1, "kind", "start", "item_id", "i1", "text", nil)
	stored := row("seq", 2, "kind", "note", "item_id", "i1", "text", "n")
	for i, outcome := range []ending{refused("transient", "sidecar_storage"), done()} {
		run := fmt.Sprintf("r%d", i+1)
		s.call("note", and(note, "run", run), outcome) // c2, c4
		s.mark("crash-point", "run", run, "standing", "verified", "acknowledged", outcome.Outcome == history.Done,
			"at", row("side", "before", "error", "ENOSPC", "point", row("n", i+1, "call", "pwrite64", "path", "sidecar.db-wal")))
		look := func(moment string, intents ...map[string]any) {
			s.look("anchors", moment, params("run", run), row("item_id", "i1", "task_key", "t0"))
			s.look("intents", moment, params("run", run), intents...)
		}
		if outcome.Outcome == history.Done {
			look("crashed", start, stored)
		} else {
			look("crashed", start)
		}
		s.call("note", and(note, "run", run, "again", "yes"), done()) // c3, c5
		look("restarted", start, stored)
	}
	return s.told()
}

func inRun(run, probe, when string, rows ...map[string]any) edit {
	return each("look "+probe+" of "+run, func(e history.Event) bool { return isLook(probe, when)(e) && e.Look.Params["run"] == run },
		func(e *history.Event) { e.Look.Rows = rows })
}

func TestFullDisk(t *testing.T) {
	start := row("seq", 1, "kind", "start", "item_id", "i1")
	at := func(n int, wrong string) variant {
		return variant{finds: finds(broken("WR-33", "a full disk was no clean error, at 1 of 2 crash points",
			fmt.Sprintf("point %d: ENOSPC instead of pwrite64 of sidecar.db-wal: %s", n, wrong), "2 runs, 2 of them struck where they should have been"))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, FullDisk, fullDisks(),
		named(at(2, "it was acknowledged, and the store holds nothing of it"), "one is acknowledged and gone", inRun("r2", "intents", "crashed", start)),
		variant{"one gets no answer", edits(ends("c2", unknown())), finds(broken("WR-33", "a full disk was no clean error, at 1 of 2 crash points",
			"point 1: ENOSPC instead of pwrite64 of sidecar.db-wal: it got no answer", "2 runs, 2 of them struck where they should have been")),
			[]string{"no call was answered with an error, so that no full disk was met"}},
		named(at(1, "of the earlier call c1 the store holds nothing of it"), "an earlier record is gone", inRun("r1", "anchors", "crashed"), inRun("r1", "intents", "crashed")),
		named(at(1, "of the earlier call c1 the store holds 1 of its 2 parts"), "half of an earlier record is gone in the end", inRun("r1", "intents", "restarted")),
		named(at(2, `with room again the same call is not accepted: {"isError":true}`), "one is not accepted afterwards", ends("c5", refused("transient", "sidecar_storage"))),
		named(at(2, "with room again the call was not made"), "the helper does not answer afterwards", noCall("c5")),
		named(at(2, "with room again the same call was accepted, and the store holds it more than once"), "one is stored twice in the end",
			inRun("r2", "intents", "restarted", start, row("kind", "note", "text", "n"), row("kind", "note", "text", "n"))),
		named(at(2, "with room again the helper does not start: no"), "the helper does not start", func(events []history.Event) []history.Event {
			last := events[len(events)-1]
			last.Kind, last.Look, last.Mark = history.KindMark, nil, &history.Mark{Name: "restart-failed", Data: row("run", "r2", "error", "no")}
			last.Seq++
			return append(events, last)
		}),
		variant{"refused and stored as a whole is not half", edits(inRun("r1", "intents", "crashed", start, row("kind", "note", "text", "n"))), nil, nil},
		variant{"nothing was there before", edits(noCall("c1")), nil, []string{"nothing was acknowledged before the disk was full"}},
		variant{"no call was refused", edits(ends("c2", done()), inRun("r1", "intents", "crashed", start, row("kind", "note", "text", "n"))), nil,
			[]string{"no call was answered with an error, so that no full disk was met"}},
		variant{"no run was struck", edits(markData("crash-point", "standing", "drifted")), nil, []string{"of 2 runs at a full disk none was struck where it should have been"}},
		variant{"the store was not seen", edits(noLook("intents", "crashed")), nil, []string{
			"point 1: ENOSPC instead of pwrite64 of sidecar.db-wal: the store was not seen behind it", "point 2: ENOSPC instead of pwrite64 of sidecar.db-wal: the store was not seen behind it"}},
	)
}
