package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// sight is what the surfaces show of the draft d1 at a moment: what is stored, what
// a person sees, and the updates and lookups that came and passed.
type sight struct {
	revision        int
	receipts        []string
	visible, state  string
	updates, lookup [2]int // came, passed
}

// sees looks at all surfaces, at the editor of a session.
func (s *story) sees(when, session string, v sight) {
	about := params("draft", "d1")
	s.look("draft", when, about, row("revision", v.revision, "changed", "BOS", "other", "fair"))
	rows := []map[string]any{}
	for _, id := range v.receipts {
		rows = append(rows, row("command_id", id))
	}
	s.look("receipts", when, about, rows...)
	s.look("editor", when, params("draft", "d1", "editor", session), row("changed", v.visible, "other", "fair", "save_state", v.state, "revision", 1))
	s.look("server", when, about, row("request", "update", "came", v.updates[0], "passed", v.updates[1]), row("request", "lookup", "came", v.lookup[0], "passed", v.lookup[1]))
}

// replied is an answer with an outcome, whose content is there.
func replied(outcome, command string, fields ...any) ending {
	e := done(append([]any{"outcome", outcome, "command_id", command}, fields...)...)
	e.Answer = json.RawMessage(`{"outcome":"` + outcome + `"}`)
	if outcome != "confirmed" {
		e.Outcome = history.Refused
	}
	return e
}

// actOn are the parameters of an act on d1 under a command ID at a moment.
func actOn(command, moment string) map[string]string {
	p := params("draft", "d1", "command_id", command, "revision", "1", "text", "BOS")
	if moment != "" {
		p["moment"] = moment
	}
	return p
}

const ofK1 = `the update under command ID "k1", which expects revision 1`

// recheckedInVain tells of k1, whose answer was lost, and of a recheck that cannot know.
func recheckedInVain(passed int) history.History {
	s := newStory()
	s.call("update", actOn("k1", ""), replied("OUTCOME_UNKNOWN", "k1")) // c1
	s.sees("struck", "helper.1", sight{2, []string{"k1"}, "JFK", "unknown", [2]int{1, 1}, [2]int{}})
	s.look("server-end_sessions", "struck", params("user", "a"), row("user", "a", "status", 200))
	s.call("recheck_update", actOn("k1", "rechecked"), replied("OUTCOME_UNKNOWN", "k1")) // c2
	s.sees("rechecked", "helper.1", sight{2, []string{"k1"}, "JFK", "unknown", [2]int{1, 1}, [2]int{1, passed}})
	return s.told()
}

// counted changes what the wire counted of a kind of requests at a moment.
func countedAt(when, kind, column string, n int) edit {
	return each("requests "+kind, isLook("server", when), func(e *history.Event) {
		for _, r := range e.Look.Rows {
			if r["request"] == kind {
				r[column] = n
			}
		}
	})
}

func TestHungLookupEnds(t *testing.T) {
	rules(t, HungLookupEnds, recheckedInVain(0),
		variant{"it hangs too", edits(ends("c2", unknown())),
			finds(broken("RC-17", "a lookup that hangs leaves a recheck without an answer", ofK1, "the tool gave no answer: no answer within 15s")), nil},
		variant{"it gives up", edits(ends("c2", replied("refused", "k1"))),
			finds(broken("RC-17", "a lookup that hangs is taken for an answer to the recheck", ofK1, `work_recheck_update was answered with refused: {"outcome":"refused"}`, "expected OUTCOME_UNKNOWN")), nil},
		variant{"it names another command", edits(ends("c2", replied("OUTCOME_UNKNOWN", "k2"))),
			finds(broken("RC-17", "an outcome that is still unknown does not name its own command", ofK1, `the answer names "k2"`)), nil},
		variant{"the editor stays saving", edits(cell("editor", "rechecked", 0, "save_state", "saving")),
			finds(broken("RC-17", "a lookup that hangs leaves the editor saving", ofK1, `its label says "saving" behind the recheck`)), nil},
		variant{"the editor forgets", edits(cell("editor", "rechecked", 0, "save_state", "saved")),
			finds(broken("RC-17", "the editor does not show that an outcome is still unknown", ofK1, `its label says "saved" behind the recheck`)), nil},
		variant{"no lookup came", edits(countedAt("rechecked", "lookup", "came", 0)), nil,
			[]string{"the lookup of " + ofK1 + " was to hang; 0 came, and 0 passed"}},
		variant{"it passed", edits(countedAt("rechecked", "lookup", "passed", 1)), nil,
			[]string{"the lookup of " + ofK1 + " was to hang; 1 came, and 1 passed"}},
		variant{"nobody asked", edits(noCall("c2")), nil, []string{ofK1 + " was rechecked 0 times while it could not be known, expected once"}},
		variant{"the editor was not seen", edits(noLook("editor", "rechecked")), nil, []string{"the editor of draft d1 was not seen at the moment rechecked"}},
		variant{"the wire was not counted", edits(noLook("server", "struck")), nil,
			[]string{`the requests "lookup" about draft d1 were not counted at the moment struck`, `the requests "lookup" about draft d1 were not counted at the moment struck`}},
	)
}

func TestSignedOutReleases(t *testing.T) {
	rules(t, SignedOutReleases, recheckedInVain(1),
		variant{"the editor stays saving", edits(cell("editor", "rechecked", 0, "save_state", "saving")),
			finds(broken("RC-18", "a 401 leaves the editor saving", ofK1, `its label says "saving" behind the recheck`)), nil},
		variant{"told as refused", edits(ends("c2", replied("refused", "k1"))),
			finds(broken("RC-18", "a 401 is taken for an answer to the recheck", ofK1, `work_recheck_update was answered with refused: {"outcome":"refused"}`, "expected OUTCOME_UNKNOWN")), nil},
		variant{"no answer", edits(ends("c2", unknown())),
			finds(broken("RC-18", "a 401 leaves a recheck without an answer", ofK1, "the tool gave no answer: no answer within 15s")), nil},
		variant{"no lookup came", edits(countedAt("rechecked", "lookup", "came", 0)), nil,
			[]string{"no lookup of " + ofK1 + " came to the wire, so that none was answered with 401"}},
		variant{"it was let in", edits(ends("c2", replied("confirmed", "k1"))), nil,
			[]string{ofK1 + ` was confirmed although its session was to be over: work_recheck_update was answered with confirmed: {"outcome":"confirmed"}`}},
	)
}

func TestSessionsEnded(t *testing.T) {
	rules(t, SessionsEnded, recheckedInVain(1),
		variant{"nobody ended them", edits(noLook("server-end_sessions", "struck")), nil, []string{"the server did not say that it has ended the sessions: [] "}},
		variant{"the server refused", edits(cell("server-end_sessions", "struck", 0, "status", 401)), nil,
			[]string{"the server did not say that it has ended the sessions: [map[status:401 user:a]] "}},
		variant{"it was not reached", edits(lookFails("server-end_sessions", "struck")), nil,
			[]string{"the server did not say that it has ended the sessions: [] the look itself failed"}},
	)
}

// Where the sessions did not end, the editor is right to go on.
func TestOnceSessionsEnded(t *testing.T) {
	rules(t, OnceSessionsEnded(SignedOutReleases), recheckedInVain(1),
		variant{"no lookup came", edits(countedAt("rechecked", "lookup", "came", 0)), nil,
			[]string{"no lookup of " + ofK1 + " came to the wire, so that none was answered with 401"}},
		variant{"the label says refused", edits(cell("editor", "rechecked", 0, "save_state", "saved")),
			finds(broken("RC-18", "the editor does not show that an outcome is still unknown", ofK1, `its label says "saved" behind the recheck`)), nil},
		variant{"the label says refused, and nobody ended them", edits(cell("editor", "rechecked", 0, "save_state", "saved"), noLook("server-end_sessions", "struck")), nil,
			[]string{"the server did not say that it has ended the sessions: [] "}},
	)
}

// refusedWhileSignedOut tells of k1, which is answered with 401, and of k2, in a good session.
func refusedWhileSignedOut() history.History {
	s := newStory()
	s.sees("before", "helper.1", sight{1, nil, "JFK", "saved", [2]int{}, [2]int{}})
	s.call("update", actOn("k1", "struck"), replied("refused", "k1")) // c1
	s.sees("struck", "helper.1", sight{1, nil, "JFK", "saved", [2]int{1, 0}, [2]int{}})
	s.call("update", actOn("k2", "converged"), replied("confirmed", "k2")) // c2
	return s.told()
}

func TestSignedOutRefuses(t *testing.T) {
	rules(t, SignedOutRefuses, refusedWhileSignedOut(),
		variant{"told as unknown", edits(ends("c1", replied("OUTCOME_UNKNOWN", "k1"))),
			finds(broken("RC-19", "a 401 is not told as a refusal", ofK1, `work_update was answered with OUTCOME_UNKNOWN: {"outcome":"OUTCOME_UNKNOWN"}`, "expected refused")), nil},
		variant{"sent again", edits(countedAt("struck", "update", "came", 2)),
			finds(broken("RC-19", "a mutation is sent again behind a 401", ofK1, `2 requests "update" came, expected 1`)), nil},
		variant{"stored", edits(cell("draft", "struck", 0, "revision", 2), rowsLater("receipts", "struck", row("command_id", "k1"))),
			finds(broken("RC-19", "a mutation is stored that was answered with 401", ofK1, "stored is revision 2, before it was 1; there are 1 receipts of it")), nil},
		variant{"the editor stays saving", edits(cell("editor", "struck", 0, "save_state", "saving")),
			finds(broken("RC-19", "the editor does not come to rest behind a 401", ofK1, `its label says "saving"`)), nil},
		variant{"the editor shows it as unknown, and takes no other", edits(cell("editor", "struck", 0, "save_state", "unknown"), ends("c2", replied("refused", "k2"))),
			finds(broken("RC-19", "the editor does not come to rest behind a 401", ofK1, `its label says "unknown"`)), nil},
		variant{"no request came", edits(countedAt("struck", "update", "came", 0)), nil,
			[]string{"no request came to the wire for " + ofK1 + ", so that none was answered with 401"}},
		variant{"no other is confirmed", edits(ends("c2", replied("refused", "k2"))), nil,
			[]string{"no mutation was confirmed in a good session, so that its refusal shows nothing"}},
		variant{"none was made", edits(noCall("c1")), nil, []string{"no mutation was made that is answered with 401"}},
		variant{"the store was not seen", edits(noLook("receipts", "struck")), nil, []string{"the receipts of draft d1 were not seen at the moment struck"}},
	)
}
