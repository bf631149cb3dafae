package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// exitOf tells of an operation that ends with an answer, and of the one behind it.
func exitOf(role, outcome, next string) history.History {
	s := newStory()
	updates, lookups := map[string]int{"update": 1}[role], map[string]int{"recheck_update": 1}[role]
	s.sees("entering", "helper.1", sight{2, []string{"k1"}, "JFK", "unknown", [2]int{}, [2]int{}})
	s.call(role, actOn("k1", "over"), replied(outcome, "k1")) // c1
	s.sees("over", "helper.1", sight{2, []string{"k1"}, "JFK", "unknown", [2]int{updates, 0}, [2]int{lookups, 0}})
	s.sees("late", "helper.1", sight{2, []string{"k1"}, "JFK", "unknown", [2]int{updates, 0}, [2]int{lookups, 0}})
	s.call(next, actOn("k1", "next"), replied("confirmed", "k1")) // c2
	s.sees("converged", "helper.1", sight{2, []string{"k1"}, "BOS", "saved", [2]int{updates + 1, 1}, [2]int{lookups + 1, 1}})
	return s.told()
}

const (
	updateK1  = `work_update of command ID "k1"`
	recheckK1 = `work_recheck_update of command ID "k1"`
	saving    = "the editor stays saving behind an operation that has ended"
	inTheWay  = "an operation that has ended stands in the way of the next one"
)

func TestReleasesItsOwn(t *testing.T) {
	t.Run("a refused update", func(t *testing.T) {
		rules(t, ReleasesItsOwn, exitOf("update", "refused", "update"),
			variant{"the editor stays saving", edits(cell("editor", "over", 0, "save_state", "saving")),
				finds(broken("RC-29", saving, updateK1, `work_update was answered with refused: {"outcome":"refused"}`, `its label says "saving" at the moment over`)), nil},
			variant{"the next is not let through", edits(ends("c2", replied("refused", "k1")), countedAt("converged", "update", "came", 1)),
				finds(broken("RC-29", inTheWay, updateK1, `work_update was answered with refused: {"outcome":"refused"}`, `no request "update" came to the wire`)), nil},
			variant{"the next one points to a recheck", edits(ends("c2", replied("refused", "k1", "recheck", "recheck_trip_update")), countedAt("converged", "update", "came", 1)), nil, nil},
			variant{"the editor stays saving behind the next", edits(cell("editor", "converged", 0, "save_state", "saving")),
				finds(broken("RC-29", saving, updateK1, `work_update was answered with confirmed: {"outcome":"confirmed"}`, `its label says "saving" at the moment converged`)), nil},
			variant{"it is never answered", edits(ends("c1", unknown())),
				finds(broken("RC-29", "an operation ends without an answer", updateK1, "the tool gave no answer: no answer within 15s")), nil},
			variant{"it was never sent", edits(countedAt("over", "update", "came", 0)), nil,
				[]string{"no request came to the wire for " + updateK1 + ", so that its end shows nothing"}},
			variant{"nothing came behind", edits(noCall("c2")), nil, []string{"1 operations were to end, and 0 came behind; one of each is needed"}},
			variant{"another editor was seen", edits(each("look", isLook("editor", "over"), func(e *history.Event) { e.Look.Params["editor"] = "helper.2" })), nil,
				[]string{"the editor helper.1 of draft d1 was not seen at the moment over"}},
		)
	})
	t.Run("a recheck that cannot know", func(t *testing.T) {
		rules(t, ReleasesItsOwn, exitOf("recheck_update", "OUTCOME_UNKNOWN", "recheck_update"),
			variant{"the editor stays saving", edits(cell("editor", "over", 0, "save_state", "saving")),
				finds(broken("RC-29", saving, recheckK1, `work_recheck_update was answered with OUTCOME_UNKNOWN: {"outcome":"OUTCOME_UNKNOWN"}`, `its label says "saving" at the moment over`)), nil},
			variant{"the next is not let through, and points to itself", edits(ends("c2", replied("refused", "k1", "recheck", "recheck_trip_update")), countedAt("converged", "lookup", "came", 1)),
				finds(broken("RC-29", inTheWay, recheckK1, `work_recheck_update was answered with refused: {"outcome":"refused"}`, `no request "lookup" came to the wire`)), nil},
		)
	})
	t.Run("a recheck behind an update", func(t *testing.T) {
		rules(t, ReleasesItsOwn, exitOf("update", "OUTCOME_UNKNOWN", "recheck_update"),
			variant{"a lookup that nobody counts", edits(ends("c2", replied("OUTCOME_UNKNOWN", "k1")), countedAt("converged", "lookup", "came", 0)), nil,
				[]string{recheckK1 + ` was taken, and no request "lookup" ever came to the wire; check profiles.receipts.requests.lookup in the target file`}},
			variant{"it is refused", edits(ends("c2", replied("refused", "k1")), countedAt("converged", "lookup", "came", 0)),
				finds(broken("RC-29", inTheWay, recheckK1, `work_recheck_update was answered with refused: {"outcome":"refused"}`, `no request "lookup" came to the wire`)), nil},
		)
	})
	t.Run("a cancelled one needs no answer", func(t *testing.T) {
		h := with(exitOf("update", "OUTCOME_UNKNOWN", "recheck_update"), ends("c1", unknown()), func(events []history.Event) []history.Event {
			return append(events, history.Event{Kind: history.KindMark, Mark: &history.Mark{Name: "cancelled", Data: map[string]any{"call": "c1"}}})
		})
		rules(t, ReleasesItsOwn, h)
	})
}

func TestLateAnswerChangesNothing(t *testing.T) {
	rules(t, LateAnswerChangesNothing, exitOf("recheck_update", "OUTCOME_UNKNOWN", "recheck_update"),
		variant{"it is applied", edits(cell("editor", "late", 0, "save_state", "saved"), cell("editor", "late", 0, "changed", "BOS")),
			finds(broken("RC-29", "a lookup's answer that comes after its recheck is over is applied", recheckK1, "the editor showed changed JFK before it came, and BOS behind it"),
				broken("RC-29", "a lookup's answer that comes after its recheck is over is applied", recheckK1, "the editor showed save_state unknown before it came, and saved behind it")), nil},
		variant{"nothing is left to recheck", edits(ends("c2", replied("refused", "k1"))),
			finds(broken("RC-29", "a lookup's answer that comes after its recheck is over leaves nothing to recheck", recheckK1, `work_recheck_update was answered with refused: {"outcome":"refused"}`, "expected confirmed")), nil},
		variant{"nobody looked", edits(noLook("editor", "late")), nil, []string{"the editor helper.1 of draft d1 was not seen at the moment late"}},
		variant{"nothing came behind", edits(noCall("c2")), nil, []string{"1 operations were to end, and 0 came behind; one of each is needed"}},
	)
}

// sideBySide tells of two editors of d1; the operation of the first ends while the
// second's is held.
func sideBySide() history.History {
	s := newStory()
	second := s.invokeOn("helper.2", "update", actOn("k2", "next"))                         // c1
	s.callOn("helper.1", "recheck_update", actOn("k1", "over"), replied("confirmed", "k1")) // c2
	s.sees("over", "helper.1", sight{2, []string{"k1"}, "BOS", "saved", [2]int{2, 1}, [2]int{1, 1}})
	s.sees("over", "helper.2", sight{2, []string{"k1"}, "JFK", "saving", [2]int{2, 1}, [2]int{1, 1}})
	s.end(second, replied("confirmed", "k2"))
	s.sees("converged", "helper.1", sight{3, []string{"k1", "k2"}, "BOS", "saved", [2]int{2, 2}, [2]int{1, 1}})
	s.sees("converged", "helper.2", sight{3, []string{"k1", "k2"}, "LAX", "saved", [2]int{2, 2}, [2]int{1, 1}})
	return s.told()
}

// labelIn changes what the label of one editor says at a moment.
func labelIn(editor, when, state string) edit {
	return each("label of "+editor, func(e history.Event) bool { return isLook("editor", when)(e) && e.Look.Params["editor"] == editor },
		func(e *history.Event) { e.Look.Rows[0]["save_state"] = state })
}

func TestLeavesOthersInFlight(t *testing.T) {
	const other = `work_update of command ID "k2"`
	rules(t, LeavesOthersInFlight, sideBySide(),
		variant{"the other is released", edits(labelIn("helper.2", "over", "saved")),
			finds(broken("RC-29", "the end of an operation releases another one", other, `its request was held, and the label of its editor said "saved" once `+recheckK1+" had ended")), nil},
		variant{"the first stays saving", edits(labelIn("helper.1", "over", "saving")),
			finds(broken("RC-29", saving, recheckK1, `work_recheck_update was answered with confirmed: {"outcome":"confirmed"}`, `its label says "saving" at the moment over`)), nil},
		variant{"the other stays saving", edits(labelIn("helper.2", "converged", "saving")),
			finds(broken("RC-29", saving, other, `work_update was answered with confirmed: {"outcome":"confirmed"}`, `its label says "saving" at the moment converged`)), nil},
		variant{"the other ended by itself", edits(ends("c1", replied("OUTCOME_UNKNOWN", "k2"))), nil,
			[]string{`both operations were to be confirmed in the end; work_recheck_update was answered with confirmed: {"outcome":"confirmed"}, and work_update was answered with OUTCOME_UNKNOWN: {"outcome":"OUTCOME_UNKNOWN"}`}},
		variant{"nobody looked at the other", edits(removed("look", func(e history.Event) bool {
			return isLook("editor", "over")(e) && e.Look.Params["editor"] == "helper.2"
		})), nil,
			[]string{"the editor helper.2 of draft d1 was not seen at the moment over"}},
		variant{"there is no other", edits(noCall("c1")), nil, []string{"1 operations were to end, and 0 came behind; one of each is needed"}},
	)
}
