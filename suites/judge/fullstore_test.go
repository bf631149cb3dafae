package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// fullWrites is DU-10: one earlier write, and three that met a full disk: at their
// write, at the sync of their file, and at that of its folder.
func fullWrites() history.History {
	s := newStory()
	readsAtFirst(s)
	s.mark("crash-record", "points", []any{row("path", "store.new", "bytes", 9), row("path", "store.new", "to", "store.db"), row("path", ".")})
	s.call("write", value("earlier ~1"), done()) // c1
	for i, at := range [][2]string{{"write", "store.new"}, {"fsync", "store.db"}, {"fsync", "."}} {
		run := []string{"r1", "r2", "r3"}[i]
		s.call("write", value("struck ~2", "run", run), refused("", "")) // c2, c6, c10
		s.mark("crash-point", "run", run, "standing", "verified", "at",
			row("side", "before", "error", "ENOSPC", "point", row("n", i+1, "call", at[0], "path", at[1])))
		s.callOn("helper.2", "read", params("moment", "restarted", "run", run), readShows("earlier ~1"))        // c3, c7, c11
		s.callOn("helper.2", "write", value("room ~3", "run", run, "again", "yes"), done())                     // c4, c8, c12
		s.callOn("helper.2", "read", params("moment", "again", "run", run), readShows("earlier ~1", "room ~3")) // c5, c9, c13
	}
	return s.told()
}

func TestFullDiskWrite(t *testing.T) {
	at := func(place, wrong, name string, e ...edit) variant {
		return variant{name, e, finds(broken("DU-10", "a full disk was no clean error, at 1 of 3 crash points",
			place+": "+wrong, "3 runs, 3 of them struck where they should have been")), nil}
	}
	const write, sync = "point 1: ENOSPC instead of write of store.new", "point 2: ENOSPC instead of fsync of store.db"
	kept := []edit{ends("c6", done()), ends("c7", readShows("earlier ~1", "struck ~2"))}
	common := []variant{
		at(write, "the write got no answer: no answer within 15s", "no answer", ends("c2", unknown())),
		at(write, `"struck ~2" was acknowledged and is not there`, "acknowledged", ends("c2", done())),
		at(write, `acknowledged before and lost: "earlier ~1"`, "an earlier one lost", ends("c3", readShows())),
		at(write, "the store cannot be read: refused: refused: ", "the store is torn", ends("c3", refused("", ""))),
		at(write, "the server does not start again: exit code 1", "it does not start", marked("restart-failed", "run", "r1", "error", "exit code 1")),
		at(write, `with room again a write is not accepted: {"isError":true}`, "it takes no more", ends("c4", refused("", ""))),
		at(write, "with room again the store cannot be read: refused: refused: ", "it reads no more", ends("c5", refused("", ""))),
		at(write, `with room again "room ~3" was acknowledged and is not there`, "it keeps no more", ends("c5", readShows("earlier ~1"))),
		{"an error and there all the same", edits(ends("c3", readShows("earlier ~1", "struck ~2"))), nil, nil},
		{"a folder that is not synced", edits(ends("c10", done()), ends("c11", readShows("earlier ~1", "struck ~2"))), nil, nil},
		{"one got no answer with room again", edits(ends("c4", unknown())), nil, []string{write + ": the write with room again is not recorded, or got no answer"}},
		{"nothing was read behind one", edits(noCall("c3")), nil, []string{write + ": nothing was read behind it"}},
		{"nothing was read at the end of one", edits(noCall("c5")), nil, []string{write + ": nothing was read with room again"}},
		{"none was struck", edits(markData("crash-point", "standing", "drifted")), nil, []string{"of 3 runs at a full disk none was struck where it should have been"}},
		{"nothing earlier", edits(ends("c1", refused("", ""))), nil, []string{"no write was acknowledged before the disk was full"}},
		{"none met a full disk", edits(ends("c2", done()), ends("c3", readShows("earlier ~1", "struck ~2")), ends("c6", refused("", "")), ends("c10", refused("", ""))), nil, nil},
	}
	sample := marked("crash-points-sampled", "runs", 400, "tried", 3, "kinds", 5, "kinds tried", 3)
	some := at(write, `"struck ~2" was acknowledged and is not there`, "of a sample", ends("c2", done()), sample)
	some.finds[0].Facts = append(some.finds[0].Facts, "tried 3 of 400 runs at crash points, of 3 of 5 kinds (a kind is one call on one file), evenly over the write; profiles.durability.crash_points in the target file sets the bound")
	common = append(common, some, variant{"a sample that held", edits(sample), nil, nil})
	rules(t, FullDiskWrite(true), fullWrites(), append(common,
		at(sync, `"struck ~2" was acknowledged, and its file was never synced`, "acknowledged unsynced", kept...))...)
	rules(t, FullDiskWrite(false), fullWrites(), append(common, variant{"synced at another try", edits(kept...), nil, nil})...)
	everyOne := edits(ends("c2", done()), ends("c3", readShows("earlier ~1", "struck ~2")), ends("c6", done()), ends("c7", readShows("earlier ~1", "struck ~2")),
		ends("c10", done()), ends("c11", readShows("earlier ~1", "struck ~2")))
	rules(t, FullDiskWrite(false), fullWrites(), variant{"all are kept", everyOne, nil, []string{"every write was acknowledged, so that no full disk was met"}})
}
