package judge

import (
	"encoding/json"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// attachmentGone is WR-22.
func attachmentGone() history.History {
	s := newStory()
	doomed := and(item("i1"), "text", "doomed", "key", "d", "attachment", "a.txt")
	s.call("start", params("task_key", "t1", "key", "k1"), done("item_id", "i1"))          // c1
	s.call("note", doomed, done("state", "queued"))                                        // c2
	s.call("note", and(item("i1"), "text", "behind", "key", "b"), done("state", "queued")) // c3
	s.mark("swapped for a link", "file", "a.txt", "leads to", "outside.txt")
	s.call("note", and(doomed, "moment", "converged"), // c4
		done("state", "failed", "failure_class", "permanent", "failure_code", "outside_staging", "failure_reason", "it leads outside"))
	s.look("intents", "converged", item("i1"),
		row("seq", 1, "kind", "start", "text", nil, "state", "applied", "class", nil, "attempts", 1),
		row("seq", 2, "kind", "note", "text", "doomed", "state", "failed", "class", "permanent", "code", "outside_staging", "reason", "it leads outside", "attempts", 1),
		row("seq", 3, "kind", "note", "text", "behind", "state", "applied", "class", nil, "attempts", 1))
	s.look("item", "converged", item("i1"), row("item_id", "i1", "notes", list("behind")))
	return s.told()
}

func TestPermanentOnce(t *testing.T) {
	told := func(state, class, reason string) variant {
		return variant{finds: finds(broken("WR-22", "a replay does not tell the permanent failure by structure",
			`call c4: state "`+state+`", class "`+class+`", reason "`+reason+`"`))}
	}
	notOnce := func(n string) variant {
		return variant{finds: finds(broken("WR-22", "an intent with a permanent cause was not tried exactly once", "intent 2: "+n+" attempts"))}
	}
	notFailed := func(state, class string) variant {
		return variant{finds: finds(broken("WR-22", "a permanent cause did not end its intent as failed", `intent 2 is "`+state+`", class "`+class+`"`))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, PermanentOnce, attachmentGone(),
		named(notOnce("2"), "it is tried twice", cell("intents", "converged", 1, "attempts", 2)),
		named(notOnce("0"), "it is failed untried", cell("intents", "converged", 1, "attempts", 0)),
		variant{"its attempts come as a text", edits(cell("intents", "converged", 1, "attempts", "1")), nil, nil},
		named(notFailed("retrying", "permanent"), "it is tried on", cell("intents", "converged", 1, "state", "retrying")),
		named(notFailed("failed", "transient"), "its class is another", cell("intents", "converged", 1, "class", "transient")),
		named(notFailed("failed", ""), "its class is missing", cell("intents", "converged", 1, "class", nil)),
		variant{"it keeps no reason", edits(cell("intents", "converged", 1, "reason", "")),
			finds(broken("WR-22", "a permanent failure keeps no readable reason", "intent 2")), nil},
		variant{"it is dropped", edits(noRow("intents", "converged", 1)),
			finds(broken("WR-22", "an acknowledged intent that could not be applied was dropped", `item i1, note "doomed"`)), nil},
		variant{"it is stored again", edits(func(events []history.Event) []history.Event {
			return each("intents", isLook("intents", "converged"), func(e *history.Event) {
				e.Look.Rows = append(e.Look.Rows, row("seq", 4, "text", "doomed", "state", "failed", "class", "permanent", "reason", "r", "attempts", 1))
			})(events)
		}), finds(broken("WR-22", "an intent with a permanent cause was stored again", `item i1, note "doomed": 2 intents`)), nil},
		variant{"it holds up what is behind it", edits(cell("intents", "converged", 2, "state", "pending")),
			finds(broken("WR-22", "a permanently failed follow-up was not passed over", "nothing behind it on item i1 was applied")), nil},
		variant{"nothing was sent behind it", edits(noRow("intents", "converged", 2)), nil,
			[]string{"nothing stood behind the failed note of item i1, so that it was not seen to be passed over"}},
		variant{"it stands on the record all the same", edits(recordShows("doomed", "behind")),
			finds(broken("WR-22", "a note that failed for good stands on the record", `item i1, note "doomed"`)), nil},
		named(told("queued", "permanent", "it leads outside"), "a replay says queued", field("c4", "state", "queued")),
		named(told("failed", "", "it leads outside"), "a replay has no class", noField("c4", "failure_class")),
		named(told("failed", "permanent", ""), "a replay has no reason", noField("c4", "failure_reason")),
		variant{"a replay is refused with the failure", edits(ends("c4", refused("permanent", "outside_staging", "state", "failed", "failure_reason", "r"))), nil, nil},
		variant{"a replay gets no answer", edits(ends("c4", unknown())), nil, []string{"the failed note was not asked about again"}},
		variant{"nobody asked again", edits(noCall("c4")), nil, []string{"the failed note was not asked about again"}},
		variant{"the note was refused at once", edits(ends("c2", refused("permanent", "outside_staging"))), nil,
			[]string{"no note was accepted whose attachment was then swapped for a link"}},
		variant{"the file was never swapped", edits(noMark("swapped for a link")), nil, []string{"no note was accepted whose attachment was then swapped for a link"}},
		variant{"another file was swapped", edits(markData("swapped for a link", "file", "b.txt")), nil, []string{"no note was accepted whose attachment was then swapped for a link"}},
		variant{"the intents were not looked at", edits(noLook("intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end"}},
		variant{"the look failed", edits(lookFails("intents", "converged")), nil, []string{"the intents of item i1 were not seen at the end"}},
		variant{"the record was not looked at", edits(noLook("item", "converged")), nil, []string{"the record of item i1 was not seen at the end"}},
		variant{"there is no record at all", edits(shows("item", "converged")), nil, []string{"item i1 has no record on which the failed note could stand"}},
		variant{"the probe shows no attempts", edits(noColumn("intents", "converged", "attempts")), nil, []string{`the probe intents shows no column "attempts"`}},
	)
}

func TestStructured(t *testing.T) {
	s := newStory()
	s.call("start", params("key", "k1"), done("item_id", "i1"))                                                                                                      // c1
	s.call("note", params("text", "never"), refused("permanent", "never_issued", "failure_reason", "no such ID"))                                                    // c2
	s.call("note", params("text", "doomed"), done("state", "failed", "failure_class", "permanent", "failure_code", "outside", "failure_reason", "it leads outside")) // c3
	s.look("intents", "held", item("i1"), row("seq", 1, "state", "retrying", "class", "transient", "code", "account_unresolved", "reason", "nobody is signed in"), row("seq", 2, "state", "pending"))
	s.look("intents", "converged", item("i1"), row("seq", 1, "state", "applied"), row("seq", 2, "state", "failed", "class", "permanent", "code", "outside", "reason", "it leads outside"))
	words := func(call, class, code, answer string) variant {
		return variant{finds: finds(broken("WR-25", "a failure is told by words only",
			"call "+call+` (note): class "`+class+`", code "`+code+`"`, "answer: "+answer))}
	}
	stored := func(n, state, class, code string) variant {
		return variant{finds: finds(broken("WR-25", "a stored failure lacks class or code",
			"intent "+n+` is "`+state+`" with class "`+class+`", code "`+code+`"`))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, Structured, s.told(),
		named(words("c2", "", "never_issued", `{"isError":true}`), "a refusal lacks its class", noField("c2", "failure_class")),
		named(words("c2", "permanent", "", `{"isError":true}`), "a refusal lacks its code", noField("c2", "failure_code")),
		named(words("c2", "fatal", "never_issued", `{"isError":true}`), "a class of no contract", field("c2", "failure_class", "fatal")),
		variant{"a refusal in prose", edits(each("c2", isCall("c2", history.Returned), func(e *history.Event) {
			e.Call.Fields, e.Call.Answer = nil, json.RawMessage(`{"content":[{"type":"text","text":"never issued"}],"isError":true}`)
		})), finds(broken("WR-25", "a failure is told by words only", `call c2 (note): class "", code ""`,
			`answer: {"content":[{"type":"text","text":"never issued"}],"isError":true}`)), nil},
		named(words("c3", "", "outside", ""), "an answered failure lacks its class", noField("c3", "failure_class")),
		named(stored("2", "failed", "", "outside"), "a stored failure lacks its class", cell("intents", "converged", 1, "class", nil)),
		named(stored("2", "failed", "permanent", ""), "a stored failure lacks its code", cell("intents", "converged", 1, "code", "")),
		named(stored("1", "retrying", "", "account_unresolved"), "a retried intent lacks its class", cell("intents", "held", 0, "class", nil)),
		variant{"an answer gives no reason", edits(noField("c3", "failure_reason")),
			finds(broken("WR-25", "a failure has no reason that a person can read", `call c3 (note): class "permanent", code "outside"`, "answer: ")), nil},
		variant{"the store keeps no reason", edits(cell("intents", "held", 0, "reason", nil)),
			finds(broken("WR-25", "a stored failure keeps no reason that a person can read", `intent 1 is "retrying" with class "transient", code "account_unresolved"`)), nil},
		variant{"nothing was refused", edits(ends("c2", done())), nil, []string{"nothing was refused"}},
		variant{"the refusal never came", edits(ends("c2", unknown())), nil,
			[]string{"call c2 (note) got no answer, so that it is not known how it would tell a failure", "nothing was refused"}},
		variant{"the store was not looked at", edits(noLook("intents", "held"), noLook("intents", "converged")), nil,
			[]string{"no stored intent was seen that is retrying", "no stored intent was seen that is failed"}},
		variant{"the store was looked at only in the end", edits(noLook("intents", "held")), nil, []string{"no stored intent was seen that is retrying"}},
		variant{"the looks failed", edits(lookFails("intents", "held"), lookFails("intents", "converged")), nil, []string{
			"the look at the intents of item i1 failed: the look itself failed", "the look at the intents of item i1 failed: the look itself failed",
			"no stored intent was seen that is retrying", "no stored intent was seen that is failed"}},
	)
}

func TestBlockedStructured(t *testing.T) {
	s := newStory()
	told := []any{"state", "queued", "failure_class", "blocked", "failure_code", "library_locked", "failure_reason", "it is locked"}
	s.call("note", and(item("i1"), "text", "n", "key", "k"), done("state", "queued")) // c1
	s.look("intents", "held", item("i1"), row("seq", 1, "kind", "start", "state", "applied", "attempts", 1),
		row("seq", 2, "kind", "note", "state", "pending", "attempts", 1, "class", "blocked", "code", "library_locked", "reason", "it is locked"),
		row("seq", 3, "kind", "note", "state", "pending", "attempts", 0))
	s.call("note", and(item("i1"), "text", "n", "key", "k", "moment", "held"), done(told...)) // c2
	s.call("get", and(item("i1"), "moment", "held"), done(told...))                           // c3
	words := func(name, class, code string, e edit) variant {
		return variant{name, edits(e), finds(broken("WR-25", "a failure is told by words only", `call c2 (note): class "`+class+`", code "`+code+`"`, "answer: ")), nil}
	}
	lacks := func(name, class, code, column string) variant {
		return variant{name, edits(cell("intents", "held", 1, column, nil)),
			finds(broken("WR-25", "a stored failure lacks class or code", `intent 2 is "pending" with class "`+class+`", code "`+code+`"`)), nil}
	}
	rules(t, BlockedStructured, s.told(),
		words("an answer lacks the code", "blocked", "", noField("c2", "failure_code")),
		words("an answer lacks the class", "", "library_locked", noField("c2", "failure_class")),
		words("an answer says nothing of it", "", "", ends("c2", done("state", "queued"))),
		variant{"an answer lacks the reason", edits(noField("c3", "failure_reason")),
			finds(broken("WR-25", "a failure has no reason that a person can read", `call c3 (get): class "blocked", code "library_locked"`, "answer: ")), nil},
		lacks("the store lacks the code", "blocked", "", "code"),
		lacks("the store lacks the class", "", "library_locked", "class"),
		variant{"the store lacks the reason", edits(cell("intents", "held", 1, "reason", "")),
			finds(broken("WR-25", "a stored failure keeps no reason that a person can read", `intent 2 is "pending" with class "blocked", code "library_locked"`)), nil},
		variant{"nothing was tried", edits(cell("intents", "held", 1, "attempts", 0)), nil, []string{"no intent was seen in the store that was tried and waits"}},
		variant{"nobody asked", edits(noCall("c2", "c3")), nil, []string{"nobody asked about an intent that waits"}},
		variant{"an answer is lost", edits(neverReturned("c3")), nil, []string{"call c3 (get) got no answer, so that it is not known how it would tell of a blocked intent"}},
		variant{"the store was not seen", edits(lookFails("intents", "held")), nil,
			[]string{"the look at the intents of item i1 failed: the look itself failed", "no intent was seen in the store that was tried and waits"}},
	)
}
