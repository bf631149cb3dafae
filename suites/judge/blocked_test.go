package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// lockedByItsUser is WR-23: two notes on an old record wait behind the lock.
func lockedByItsUser() history.History {
	s := newStory()
	start := row("seq", 1, "kind", "start", "state", "applied", "class", nil, "attempts", 1)
	note := func(seq int, state string, class any, attempts int) map[string]any {
		return row("seq", seq, "kind", "note", "state", state, "class", class, "attempts", attempts)
	}
	s.look("intents", "early", item("i1"), start)
	s.look("writes", "early", nil, row("seq", 1, "op", "create"))
	s.mark("person", "action", "lock")
	s.call("note", and(item("i1"), "text", "n", "key", "k"), done("state", "queued")) // c1
	s.look("intents", "held", item("i1"), start, note(2, "pending", "blocked", 1), note(3, "pending", nil, 0))
	s.rec.Record(history.Event{Kind: history.KindProcess, Process: &history.Process{Name: "app", Instance: 2, State: history.Started}})
	s.call("note", and(item("i1"), "text", "n", "key", "k", "moment", "held"), done("state", "queued", "failure_class", "blocked")) // c2
	s.look("intents", "held", item("i1"), start, note(2, "pending", "blocked", 2), note(3, "pending", nil, 0))
	s.look("writes", "held", nil, row("seq", 1, "op", "create"))
	s.mark("person", "action", "unblock")
	s.look("intents", "converged", item("i1"), start, note(2, "applied", nil, 2), note(3, "applied", nil, 1))
	return s.told()
}

func TestBlockedUntilPerson(t *testing.T) {
	held := func(n int, column string, value any) edit { return cell("intents", "held", n, column, value) }
	// restarted changes the look behind the restart alone.
	restarted := func(n int, column string, value any) edit {
		return func(events []history.Event) []history.Event {
			looks := 0
			return each("the second look", func(e history.Event) bool {
				if !isLook("intents", "held")(e) {
					return false
				}
				looks++
				return looks == 2
			}, func(e *history.Event) { e.Look.Rows[n][column] = value })(events)
		}
	}
	person := func(action string) edit {
		return removed("mark of "+action, func(e history.Event) bool {
			return e.Kind == history.KindMark && e.Mark.Data["action"] == action
		})
	}
	unkept := func(name, fact string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-23", "an intent that only a person can free is not kept pending and blocked", fact)), nil}
	}
	answered := func(name, fact string, e edit) variant {
		return variant{name, edits(e), finds(broken("WR-23", "an answer does not call a blocked command queued", "call c2 (note): "+fact)), nil}
	}
	const noPerson = "the person was not seen to lock the library and to unblock it later"
	const writesUnseen = "the library's write log was not seen both before and while the library was locked"
	rules(t, BlockedUntilPerson, lockedByItsUser(),
		variant{"it is ended", edits(held(1, "state", "failed"), held(1, "class", "permanent"), held(1, "code", "library_locked")),
			finds(broken("WR-23", "a blocked intent was ended before the person acted", `intent 2 (note): class "permanent", code "library_locked"`)), nil},
		variant{"it is applied", edits(held(1, "state", "applied")),
			finds(broken("WR-23", "a blocked intent was applied before the person acted", "intent 2 (note)")), nil},
		variant{"one behind it is applied", edits(held(2, "state", "applied")),
			finds(broken("WR-23", "a blocked intent was applied before the person acted", "intent 3 (note)")), nil},
		unkept("a restarted app calls it transient", `intent 2 (note) is "retrying", class "transient"`, restarted(1, "state", "retrying"), restarted(1, "class", "transient")),
		variant{"a restarted app applies it", edits(restarted(1, "state", "applied")),
			finds(broken("WR-23", "a blocked intent was applied before the person acted", "intent 2 (note)")), nil},
		variant{"the app was not started again", edits(removed("start of the app", func(e history.Event) bool { return e.Kind == history.KindProcess })), nil,
			[]string{"the app was not started again between two looks at a blocked intent"}},
		unkept("it is retried", `intent 2 (note) is "retrying", class "transient"`, held(1, "state", "retrying"), held(1, "class", "transient")),
		unkept("it is pending of another class", `intent 2 (note) is "pending", class "transient"`, held(1, "class", "transient")),
		unkept("it is pending of no class", `intent 2 (note) is "pending", class ""`, held(1, "class", nil)),
		variant{"the library is written", edits(rowsLater("writes", "held", row("seq", 2, "op", "update"))),
			finds(broken("WR-23", "the library was written while its user had locked it", "1 write before, 2 after")), nil},
		answered("an answer calls it failed", `state "failed", class "permanent", code "library_locked"`, ends("c2", refused("permanent", "library_locked", "state", "failed"))),
		answered("an answer calls it applied", `state "applied", class "blocked", code ""`, field("c2", "state", "applied")),
		answered("an answer calls it retried", `state "retrying", class "blocked", code ""`, field("c2", "state", "retrying")),
		variant{"the answer is lost", edits(ends("c2", unknown())), nil,
			[]string{"call c2 (note) got no answer, so that it is not known what it says of the blocked intent"}},
		variant{"nobody asked", edits(noCall("c2")), nil, []string{"nobody asked about a blocked command before the person acted"}},
		variant{"it is not applied afterwards", edits(cell("intents", "converged", 1, "state", "pending")),
			finds(broken("WR-23", "a blocked intent was not applied after the person had acted", `intent 2 (note) is "pending", code ""`)), nil},
		variant{"it is gone afterwards", edits(noRow("intents", "converged", 2)),
			finds(broken("WR-23", "a blocked intent is gone after the person had acted", "intent 3 (note)")), nil},
		variant{"nothing was tried", edits(held(1, "attempts", 0), held(1, "class", nil)), nil, []string{"no attempt at a blocked intent was seen"}},
		variant{"nothing waited", edits(noRow("intents", "held", 2), noRow("intents", "held", 1)), nil,
			[]string{"no intent was seen to wait while the library was locked"}},
		variant{"the intents were not seen meanwhile", edits(lookFails("intents", "held")), nil,
			[]string{"the look at the intents of item i1 failed: the look itself failed", "the look at the intents of item i1 failed: the look itself failed", "no intent was seen to wait while the library was locked"}},
		variant{"the intents were not seen at the end", edits(noLook("intents", "converged")), nil, []string{"the intents were not seen at the end"}},
		variant{"the person did not lock", edits(person("lock")), nil, []string{noPerson}},
		variant{"the person did not unblock", edits(person("unblock")), nil, []string{noPerson}},
		variant{"the write log was not seen", edits(noLook("writes", "early")), nil, []string{writesUnseen}},
		variant{"no write was ever seen", edits(shows("writes", "early"), shows("writes", "held")), nil,
			[]string{"no library write was ever seen, so that one would not have been noticed either"}},
		variant{"the probe shows no class", edits(noColumn("intents", "held", "class")), nil,
			[]string{`the probe intents shows no column "class"`, `the probe intents shows no column "class"`, "no intent was seen to wait while the library was locked"}},
	)
}
