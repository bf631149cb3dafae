package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// reloaded tells of a recheck of k1 that may ask, and of one behind a reload.
func reloaded() history.History {
	s := newStory()
	s.seenAt("before", "helper.1", atFirst)
	s.call("update", firstUpdate, inDoubt("k1")) // c1
	s.seenAt("struck", "helper.1", committed)
	s.call("recheck_update", asksAgain("rechecked"), inDoubt("k1")) // c2
	asked := committed
	asked.lookup = 1
	s.seenAt("rechecked", "helper.1", asked)
	asked.shown = 2
	s.seenAt("reloaded", "helper.1", asked.showing("BOS", "fair", "unknown"))
	s.call("recheck_update", asksAgain("renewed"), refusedWith("k1", "stale_generation")) // c3
	s.call("read", readsAt("renewed"), readAs(false, "BOS", "fair", 2, "unknown"))        // c4
	s.seenAt("renewed", "helper.1", asked.showing("BOS", "fair", "unknown"))
	return s.told()
}

func TestOlderGenerationIsRefused(t *testing.T) {
	rules(t, OlderGenerationIsRefused(1), reloaded(),
		variant{"it is confirmed", edits(ends("c3", confirmedAs("k1", 1, 2)), cell("server", "renewed", 2, "came", 2)),
			finds(broken("RC-23", "a recheck from an older generation is not refused", lostUpdate, "work_recheck_update was answered with confirmed: "),
				broken("RC-23", "a recheck from an older generation asks the server", lostUpdate, "1 lookups came")), nil},
		variant{"it asks before it refuses", edits(cell("server", "renewed", 2, "came", 2)),
			finds(broken("RC-23", "a recheck from an older generation asks the server", lostUpdate, "1 lookups came")), nil},
		variant{"it is told as a failure", edits(field("c3", "outcome", "not_applied")),
			finds(broken("RC-23", "a recheck from an older generation is not refused", lostUpdate, `work_recheck_update was answered with not_applied: {"isError":true}`)), nil},
		variant{"nobody rechecked", edits(noCall("c3")), nil, []string{"1 rechecks in a later generation were needed, 0 were made"}},
		variant{"no lookup is ever counted", edits(cell("server", "rechecked", 2, "came", 0), cell("server", "renewed", 2, "came", 0)), nil,
			[]string{"the recheck in the generation of " + lostUpdate + " sent no lookup, so that the counter shows nothing"}},
		variant{"the allowed recheck was not made", edits(noCall("c2")), nil, []string{"no recheck in the generation of " + lostUpdate + " has left it unknown"}},
		variant{"the wire was not looked at", edits(noLook("server", "renewed")), nil, []string{`the requests "lookup" about draft d1 were not counted at the moment renewed`}},
	)
}

func TestReloadClaimsNothing(t *testing.T) {
	rules(t, ReloadClaimsNothing, reloaded(),
		variant{"the label says saved", edits(cell("editor", "renewed", 0, "save_state", "saved")),
			finds(broken("RC-23", "behind a reload the editor claims that everything is saved", lostUpdate, `its label says "saved": at the moment renewed`)), nil},
		variant{"the label says saved until somebody asks", edits(cell("editor", "reloaded", 0, "save_state", "saved")),
			finds(broken("RC-23", "behind a reload the editor claims that everything is saved", lostUpdate, `its label says "saved": at the moment reloaded`)), nil},
		variant{"the label says that it failed", edits(cell("editor", "renewed", 0, "save_state", "Could not save: FAILED")),
			finds(broken("RC-23", "behind a reload the editor claims that saving has failed", lostUpdate, `its label says "Could not save: FAILED": at the moment renewed`)), nil},
		variant{"the label says something else", edits(cell("editor", "renewed", 0, "save_state", "Draft")), nil,
			[]string{`behind a reload the label of the editor says "Draft" (at the moment renewed), for which the target's vocabulary has no word of the contract`}},
		variant{"a read says saved", edits(field("c4", "save_state", "saved")),
			finds(broken("RC-23", "behind a reload a read claims that everything is saved", lostUpdate, `its label says "saved": `)), nil},
		variant{"a read says that it failed", edits(field("c4", "save_state", "Save failed")),
			finds(broken("RC-23", "behind a reload a read claims that saving has failed", lostUpdate, `its label says "Save failed": `)), nil},
		variant{"the label never says saved", edits(cell("editor", "before", 0, "save_state", "unsaved")), nil,
			[]string{`the editor's label said "unsaved" before anything was asked for, expected saved`}},
		variant{"the editor was not seen", edits(noLook("editor", "renewed")), nil, []string{"the editor of draft d1 was not seen at the moment renewed"}},
	)
}

func TestSameUserGoesOn(t *testing.T) {
	s := newStory()
	s.call("update", firstUpdate, inDoubt("k1"))                              // c1
	s.call("recheck_update", asksAgain("rechecked"), inDoubt("k1"))           // c2
	s.call("recheck_update", asksAgain("converged"), confirmedAs("k1", 1, 2)) // c3
	rules(t, SameUserGoesOn, s.told(),
		variant{"it is refused", edits(ends("c3", refusedWith("k1", "stale_generation"))),
			finds(broken("RC-23", "signing in again as the same user ends what can be rechecked", lostUpdate, `work_recheck_update was answered with refused: {"isError":true}`)), nil},
		variant{"the session had not ended", edits(ends("c2", confirmedAs("k1", 1, 2))), nil, []string{"no recheck of a session that had ended has left " + lostUpdate + " unknown"}},
		variant{"nobody asked again", edits(noCall("c3")), nil, []string{"nobody asked what came of " + lostUpdate + " once the same user had signed in again"}},
	)
}
