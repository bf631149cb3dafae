package judge

import (
	"fmt"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// twoNumbers is WR-34 with k = 2.
func twoNumbers() history.History {
	s := newStory()
	at := func(when string, retrying, permanent int) {
		s.look("counters", when, nil, row("retrying", retrying, "permanent", permanent))
	}
	at("early", 0, 5)
	for i := range 2 {
		id := fmt.Sprintf("i%d", i+1)
		s.call("start", params("key", id), done("item_id", id)) // c1, c2
		s.look("intents", "held", item(id), row("seq", i+1, "kind", "start", "state", "retrying"))
	}
	at("held", 2, 5)
	at("released", 0, 5)
	s.call("note", and(item("i1"), "text", "a"), done()) // c3
	s.call("note", and(item("i1"), "text", "b"), done()) // c4
	s.look("intents", "failed", item("i1"), row("seq", 1, "state", "applied"), row("seq", 3, "state", "failed", "class", "permanent"), row("seq", 4, "state", "failed", "class", "permanent"))
	at("failed", 0, 7)
	s.call("invalid", params("violation", "x"), refused("permanent", "invalid")) // c5
	s.call("invalid", params("violation", "y"), refused("permanent", "invalid")) // c6
	at("refused", 0, 9)
	return s.told()
}

func TestCountedApart(t *testing.T) {
	moved := func(name, what, retrying, permanent string, e ...edit) variant {
		return variant{name, e, finds(broken("WR-34", what+" moved the two numbers in another way than apart", "retrying: "+retrying, "permanent: "+permanent)), nil}
	}
	numbers := func(when string, retrying, permanent int) edit {
		return shows("counters", when, row("retrying", retrying, "permanent", permanent))
	}
	rules(t, CountedApart(2), twoNumbers(),
		variant{"one number for all", edits(numbers("held", 2, 7)), finds(
			broken("WR-34", "2 starts before the login moved the two numbers in another way than apart", "retrying: from 0 to 2, expected a change by +2", "permanent: from 5 to 7, expected a change by +0"),
			broken("WR-34", "the login moved the two numbers in another way than apart", "retrying: from 2 to 0, expected a change by -2", "permanent: from 7 to 5, expected a change by +0")), nil},
		moved("refusals are not counted", "2 refusals before dispatch", "from 0 to 0, expected a change by +0", "from 7 to 7, expected a change by +2", numbers("refused", 0, 7)),
		moved("refusals raise the other number", "2 refusals before dispatch", "from 0 to 2, expected a change by +0", "from 7 to 7, expected a change by +2", numbers("refused", 2, 7)),
		variant{"failures are not counted", edits(numbers("failed", 0, 5), numbers("refused", 0, 7)), finds(
			broken("WR-34", "2 failures at the executor moved the two numbers in another way than apart", "retrying: from 0 to 0, expected a change by +0", "permanent: from 5 to 5, expected a change by +2")), nil},
		variant{"the first number never falls", edits(numbers("released", 2, 5), numbers("failed", 2, 7), numbers("refused", 2, 9)), finds(
			broken("WR-34", "the login moved the two numbers in another way than apart", "retrying: from 2 to 2, expected a change by -2", "permanent: from 5 to 5, expected a change by +0")), nil},
		variant{"a start did not wait", edits(lookOf("i2", "intents", "held", func(l *history.Look) { l.Rows[0]["state"] = "applied" })), nil,
			[]string{"2 starts had to wait for the login, 2 were acknowledged and 1 were seen to wait"}},
		variant{"a start was refused", edits(ends("c2", refused("transient", "busy"))), nil, []string{
			"2 starts had to wait for the login, 1 were acknowledged and 2 were seen to wait", "2 commands had to fail for good, 2 were seen to and 1 were refused"}},
		variant{"one did not fail", edits(cell("intents", "failed", 1, "state", "applied")), nil, []string{"2 commands had to fail for good, 1 were seen to and 0 were refused"}},
		variant{"one was refused instead of failing", edits(ends("c3", refused("permanent", "outside")), noRow("intents", "failed", 1)), nil, nil},
		variant{"one was not refused", edits(ends("c6", done())), nil, []string{"2 calls had to be refused, 1 were"}},
		variant{"the numbers were not seen", edits(lookFails("counters", "failed")), nil, []string{`the two numbers were not seen at the moment "failed"`}},
		variant{"there is one number only", edits(noColumn("counters", "early", "permanent")), nil, []string{`the probe counters shows no column "permanent"`}},
	)
}
