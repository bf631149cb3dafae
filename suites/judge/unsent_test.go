package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// neverLeft tells of k1, which was over before its dispatch, and of k2, which was sent.
func neverLeft(ended ending, faulty bool) history.History {
	s := newStory()
	if faulty {
		s.fault("f1", "server-away", hit("absent")...)
	}
	s.seenAt("ready", "helper.1", atFirst)
	s.call("update", and(firstUpdate, "moment", "unsent"), ended) // c1
	s.seenAt("unsent", "helper.1", atFirst)
	s.call("update", params("draft", "d1", "revision", "1", "command_id", "k2", "text", "BOS"), confirmedAs("k2", 1, 2)) // c2
	s.seenAt("converged", "helper.1", atLast)
	return s.told()
}

func notSent() ending {
	e := refusedWith("k1", "unreachable")
	e.Fields["outcome"] = "not_sent"
	return e
}

const notTold = "a command that never left is not told as not sent"

func TestNotSent(t *testing.T) {
	rules(t, NotSent, neverLeft(notSent(), true),
		variant{"it is sent all the same", edits(wireOf("unsent", "update", "came", 1), wireOf("converged", "update", "came", 2)),
			finds(broken("RC-08", "a command that was over before its dispatch is sent all the same", lostUpdate, `1 requests "update" came to the wire, expected none`)), nil},
		variant{"it takes effect", edits(cell("draft", "unsent", 0, "revision", 2)),
			finds(broken("RC-08", "a command that was over before its dispatch takes effect", lostUpdate, `stored was map[changed:JFK other:fair revision:1], and is map[changed:JFK other:fair revision:2]`)), nil},
		variant{"told as unknown", edits(ends("c1", inDoubt("k1"))),
			finds(broken("RC-08", notTold, lostUpdate, `work_update was answered with OUTCOME_UNKNOWN: {"isError":true}`, "expected not_sent")), nil},
		variant{"told as refused", edits(field("c1", "outcome", "refused")),
			finds(broken("RC-08", notTold, lostUpdate, `work_update was answered with refused: {"isError":true}`, "expected not_sent")), nil},
		variant{"no answer", edits(ends("c1", unknown())),
			finds(broken("RC-08", notTold, lostUpdate, "the tool gave no answer: no answer within 15s")), nil},
		variant{"the editor shows a doubt", edits(cell("editor", "unsent", 0, "save_state", "unknown")),
			finds(broken("RC-08", "the editor shows a command that never left as not known, or as under way", lostUpdate, `its label says "unknown"`)), nil},
		variant{"the editor stays saving", edits(cell("editor", "unsent", 0, "save_state", "saving")),
			finds(broken("RC-08", "the editor shows a command that never left as not known, or as under way", lostUpdate, `its label says "saving"`)), nil},
		variant{"the counter stands still", edits(wireOf("converged", "update", "came", 0)), nil,
			[]string{`the update under command ID "k2", which expects revision 1 was to be sent and counted: 0 requests came; work_update was answered with confirmed: `}},
		variant{"nothing was sent afterwards", edits(noCall("c2")), nil,
			[]string{"a command that is not to leave was tried: true; one that is to: false; both are needed"}},
		variant{"the wire was not looked at", edits(noLook("server", "ready")), nil, []string{
			`the requests "update" about draft d1 were not counted at the moment ready`, `the requests "update" about draft d1 were not counted at the moment ready`}},
	)
}

func TestNotSentWhereTheEditorRefuses(t *testing.T) {
	rules(t, NotSent, neverLeft(refusedWith("k1", "invalid"), false),
		variant{"told as not sent", edits(field("c1", "outcome", "not_sent")), nil, nil},
		variant{"refused in other words", edits(noField("c1", "outcome")), nil, nil},
		variant{"told as a conflict", edits(field("c1", "outcome", "conflict")),
			finds(broken("RC-08", notTold, lostUpdate, `work_update was answered with conflict: {"isError":true}`, "expected refused or not_sent")), nil},
		variant{"told as confirmed", edits(ends("c1", confirmedAs("k1", 1, 2))),
			finds(broken("RC-08", notTold, lostUpdate, "work_update was answered with confirmed: ", "expected refused or not_sent")), nil},
	)
}

// cancelledOnTheWay tells of k1, which was cancelled while its request was held.
func cancelledOnTheWay(ended ending) history.History {
	s := newStory()
	s.seenAt("before", "helper.1", atFirst)
	id := s.invoke("update", firstUpdate)
	s.mark("cancelled", "call", id)
	s.end(id, ended)
	s.seenAt("struck", "helper.1", onTheWay)
	return s.told()
}

func TestCancelledIsUnknown(t *testing.T) {
	rules(t, CancelledIsUnknown, cancelledOnTheWay(inDoubt("k1")),
		variant{"told as not sent", edits(ends("c1", notSent())),
			finds(broken("RC-21", "a cancelled command that had left is not told as an unknown outcome", lostUpdate, `work_update was answered with not_sent: {"isError":true}`, "expected OUTCOME_UNKNOWN")), nil},
		variant{"under another ID", edits(field("c1", "command_id", "k2")),
			finds(broken("RC-21", "the unknown outcome of a cancelled command does not say how to ask again", lostUpdate, `the answer names command "k2" and the tool "work_recheck_update"`)), nil},
		variant{"without a way to ask", edits(noField("c1", "recheck")),
			finds(broken("RC-21", "the unknown outcome of a cancelled command does not say how to ask again", lostUpdate, `the answer names command "k1" and the tool ""`)), nil},
		variant{"the transport gives no answer", edits(ends("c1", unknown())), nil, nil},
		variant{"nor the editor a doubt", edits(ends("c1", unknown()), cell("editor", "struck", 0, "save_state", "saved")),
			finds(broken("RC-21", noDoubtShown, lostUpdate, `its label says "saved" at the moment struck`)), nil},
		variant{"it had not left", edits(wireOf("struck", "update", "came", 0)), nil,
			[]string{lostUpdate + " was to be cancelled behind its dispatch; 0 requests had come, and cancelled it was: true"}},
		variant{"nobody cancelled it", edits(noMark("cancelled")), nil,
			[]string{lostUpdate + " was to be cancelled behind its dispatch; 1 requests had come, and cancelled it was: false"}},
	)
}

func TestNotSentWhereACancelIsNotAnswered(t *testing.T) {
	s := newStory()
	s.fault("f1", "server-held", hit("absent")...)
	s.seenAt("ready", "helper.1", atFirst)
	id := s.invoke("update", and(firstUpdate, "moment", "unsent"))
	s.mark("cancelled", "call", id)
	s.end(id, unknown())
	s.seenAt("unsent", "helper.1", atFirst)
	s.call("update", params("draft", "d1", "revision", "1", "command_id", "k2", "text", "BOS"), confirmedAs("k2", 1, 2)) // c2
	s.seenAt("converged", "helper.1", atLast)
	rules(t, NotSent, s.told(),
		variant{"nobody cancelled it", edits(noMark("cancelled")),
			finds(broken("RC-08", notTold, lostUpdate, "the tool gave no answer: no answer within 15s")), nil},
		variant{"it is answered as unknown", edits(ends("c1", inDoubt("k1"))),
			finds(broken("RC-08", notTold, lostUpdate, `work_update was answered with OUTCOME_UNKNOWN: {"isError":true}`, "expected not_sent")), nil},
	)
}
