package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// lookups counts the lookups about a draft at a moment.
func (s *story) lookups(when, draft string, n int) {
	s.look("server", when, params("draft", draft), row("request", "lookup", "came", n, "passed", n))
}

// asksForStrangers tells of rechecks of another command and of another draft while
// k1 is unresolved, and of its own one.
func asksForStrangers() history.History {
	s := newStory()
	s.seenAt("before", "helper.1", atFirst)
	s.call("update", firstUpdate, inDoubt("k1")) // c1
	s.lookups("ready", "d1", 0)
	s.lookups("ready", "d2", 0)
	s.call("recheck_update", params("draft", "d1", "command_id", "k9", "moment", "strange"), refusedWith("k9", "no_such_outcome")) // c2
	s.call("recheck_update", params("draft", "d2", "command_id", "k1", "moment", "strange"), refusedWith("k1", "no_such_outcome")) // c3
	s.lookups("strange", "d1", 0)
	s.lookups("strange", "d2", 0)
	s.call("recheck_update", asksAgain("converged"), confirmedAs("k1", 1, 2)) // c4
	s.seenAt("converged", "helper.1", atLast)
	return s.told()
}

// lookupsOf changes how many lookups about a draft were counted at a moment.
func lookupsOf(when, draft string, n int) edit {
	return each("lookups "+draft, func(e history.Event) bool { return isLook("server", when)(e) && e.Look.Params["draft"] == draft }, func(e *history.Event) {
		for _, r := range e.Look.Rows {
			if r["request"] == "lookup" {
				r["came"] = n
			}
		}
	})
}

func TestServesOnlyItsOwn(t *testing.T) {
	const notRefused, k9, k1 = "a recheck of what is not attached is not refused", `command ID "k9", draft d1`, `command ID "k1", draft d2`
	rules(t, ServesOnlyItsOwn, asksForStrangers(),
		variant{"another command is confirmed", edits(ends("c2", confirmedAs("k9", 1, 2))),
			finds(broken("RC-12", notRefused, k9, "work_recheck_update was answered with confirmed: ")), nil},
		variant{"another command is in doubt", edits(ends("c2", inDoubt("k9"))),
			finds(broken("RC-12", notRefused, k9, `work_recheck_update was answered with OUTCOME_UNKNOWN: {"isError":true}`)), nil},
		variant{"no answer", edits(ends("c3", unknown())),
			finds(broken("RC-12", "a recheck of what is not attached gets no answer", k1, "no answer within 15s")), nil},
		variant{"refused in other words", edits(noField("c2", "outcome")), nil, nil},
		variant{"refused behind a lookup", edits(lookupsOf("strange", "d1", 1)),
			finds(broken("RC-12", "a recheck of what is not attached sends a lookup", "1 lookups about draft d1 came to the wire, expected none")), nil},
		variant{"a lookup about the other draft", edits(lookupsOf("strange", "d2", 2)),
			finds(broken("RC-12", "a recheck of what is not attached sends a lookup", "2 lookups about draft d2 came to the wire, expected none")), nil},
		variant{"the counter stands still", edits(lookupsOf("converged", "d1", 0)), nil,
			[]string{`the recheck of the attached command "k1" sent no lookup that was counted, so that the counter shows nothing`}},
		variant{"nobody asked for the own command", edits(noCall("c4")), nil, []string{"nobody rechecked the command that is attached"}},
		variant{"the own command is refused too", edits(ends("c4", refusedWith("k1", "no_such_outcome"))), nil,
			[]string{`the recheck of the attached command "k1" was to be confirmed; work_recheck_update was answered with refused: {"isError":true}`}},
		variant{"nobody asked for another one", edits(noCall("c2", "c3")), nil, []string{"nobody rechecked anything but the attached command"}},
		variant{"lookups were not counted before", edits(noLook("server", "ready")), nil,
			[]string{"the lookups were counted 0 times before and 2 times behind what is to send none"}},
		variant{"the wire counts no lookups", edits(shows("server", "ready")), nil,
			[]string{"the lookups about draft d1 were not counted", "the lookups about draft d2 were not counted"}},
	)
}

// twoKinds tells of k1, an update, and of k2, a submission, whose answers are lost;
// each is asked for by the recheck of the other kind, and then by its own.
func twoKinds() history.History {
	s := newStory()
	s.seenAt("before", "helper.1", atFirst)
	for n, kind := range []string{"update", "submit"} {
		own, other := []string{"recheck_update", "recheck_submit"}[n], []string{"recheck_submit", "recheck_update"}[n]
		id, revision := []string{"k1", "k2"}[n], []string{"1", "2"}[n]
		lost := inDoubt(id)
		lost.Fields["recheck"] = "work_" + own
		s.call(kind, params("draft", "d1", "revision", revision, "command_id", id), lost) // c1, c4
		s.lookups("ready", "d1", n)
		s.call(other, params("draft", "d1", "command_id", id, "moment", "strange"), refusedWith(id, "no_such_outcome")) // c2, c5
		s.lookups("strange", "d1", n)
		s.call(own, params("draft", "d1", "command_id", id, "moment", "converged"), confirmedAs(id, n+1, n+2)) // c3, c6
		end := atLast
		end.submits, end.lookup = n, n+1
		s.seenAt("converged", "helper.1", end)
	}
	return s.told()
}

func TestKindsToldApart(t *testing.T) {
	const submission = `the submit under command ID "k2", which expects revision 2`
	rules(t, KindsToldApart, twoKinds(),
		variant{"an unknown submission points to the other recheck", edits(field("c4", "recheck", "work_recheck_update")),
			finds(broken("RC-20", "an unknown outcome does not point to the recheck of its own kind", submission, `the answer names "work_recheck_update", expected "work_recheck_submit"`)), nil},
		variant{"an unknown update points nowhere", edits(noField("c1", "recheck")),
			finds(broken("RC-20", "an unknown outcome does not point to the recheck of its own kind", lostUpdate, `the answer names "", expected "work_recheck_update"`)), nil},
		variant{"the other recheck serves it", edits(ends("c5", confirmedAs("k2", 2, 3))),
			finds(broken("RC-20", "a recheck of what is not attached is not refused", `command ID "k2", draft d1`, "work_recheck_update was answered with confirmed: ")), nil},
		variant{"a recheck submits again", edits(wireOf("converged", "submit", "came", 2)),
			finds(broken("RC-20", "a recheck sends the submission again", submission, "2 submissions of draft d1 came, expected 1")), nil},
		variant{"submissions are not counted", edits(wireOf("converged", "submit", "came", 0)), nil,
			[]string{"no request came to the wire for " + submission + ", so that the counter shows nothing"}},
		variant{"only updates", edits(noCall("c4", "c5", "c6")), nil, []string{"an update and a submission were to be told apart, and not both were made"}},
		variant{"nobody asked for the submission", edits(noCall("c6")), nil,
			[]string{"nobody asked what came of " + submission, "an update and a submission were to be told apart, and not both were made"}[:1]},
	)
}
