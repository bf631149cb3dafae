package judge

import (
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// retriedWithKey is DU-12: a lost answer, and the same call again.
func retriedWithKey() history.History {
	s := newStory()
	readsAtFirst(s)
	s.call("write", and(value("twin", "twin", "yes"), "key", "key twin 1"), done()) // c1
	s.call("write", and(value("twin", "twin", "yes"), "key", "key twin 2"), done()) // c2
	s.call("write", value("retried", "attempt", "1"), unknown())                    // c3
	s.call("write", value("retried", "attempt", "2"), done())                       // c4
	s.n++
	readsFinally(s, "twin", "twin", "retried") // c6
	return s.told()
}

func TestRetriedTakesEffectOnce(t *testing.T) {
	wrong := func(summary, times, answer string) variant {
		return variant{finds: finds(broken("DU-12", summary, `"retried" is there `+times+" times", `the key: "key retried"`, "the retry's answer: "+answer))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	unseen := []string{"two writes of one value under two keys do not show twice in what is read, so that a second effect of a retry would not be seen; write with a tool, and read with values, that keep both"}
	const more = "a write that was retried with its idempotency key took effect more than once"
	rules(t, RetriedTakesEffectOnce, retriedWithKey(),
		named(wrong(more, "2", ""), "it is there twice", finalValues("twin", "twin", "retried", "retried")),
		named(wrong("a write that was retried with its idempotency key is not there", "0", ""), "it is gone", finalValues("twin", "twin")),
		variant{"the retry is refused, and the one effect stays", edits(ends("c4", refused("", "done already"))), nil, nil},
		named(wrong(more, "2", `{"isError":true}`), "the retry is refused and took effect", ends("c4", refused("", "")), finalValues("twin", "twin", "retried", "retried")),
		variant{"two keys show one value", edits(finalValues("twin", "retried")), nil, unseen},
		variant{"the second key is refused", edits(ends("c2", refused("", ""))), nil, unseen},
		variant{"the retry gets no answer", edits(ends("c4", unknown())), nil, []string{"the retry c4 got no answer although no fault was placed on it"}},
		variant{"no answer was lost", edits(ends("c3", done())), nil, []string{"no write lost its answer and was sent again"}},
		variant{"nothing was retried", edits(noCall("c4")), nil, []string{"no write lost its answer and was sent again"}},
		variant{"nothing was read", edits(noCall("c6")), nil, []string{"nothing was read at the end"}},
		variant{"the read fails", edits(ends("c6", refused("", "malformed"))),
			finds(broken("DU-12", "after a retry the store cannot be read", "call c6: refused: refused: malformed")), nil},
	)
}
