package judge

import (
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports"
	"github.com/holdfast-mcp/holdfast/reports/history"
)

func TestNumberedGoesByWhatTheHistorySays(t *testing.T) {
	var seen reports.Numbers
	rule := Numbered(func(n reports.Numbers) Rule {
		seen = n
		return func(history.History) Ruling { return Ruling{Tried: []string{"more"}} }
	})
	for _, c := range []struct {
		name  string
		mark  any
		want  reports.Numbers
		tried []string
	}{
		{"of its own", map[string]any{"concurrent": 7, "rounds": 3}, reports.Numbers{Concurrent: 7, Rounds: 3}, []string{"7 writes at once, 3 rounds", "more"}},
		{"as they are recorded", reports.Numbers{Rounds: 2}, reports.Numbers{Rounds: 2}, []string{"2 rounds", "more"}},
		{"of a recording that has none", nil, unnumbered, []string{"more"}},
		{"that are none", "many", unnumbered, []string{"more"}},
	} {
		s := newStory()
		if c.mark != nil {
			s.mark("numbers", "numbers", c.mark)
		}
		if r := rule(s.told()); seen != c.want || !slices.Equal(r.Tried, c.tried) {
			t.Errorf("numbers %s: the rule was given %+v and told %q, expected %+v and %q", c.name, seen, r.Tried, c.want, c.tried)
		}
	}
}

// races is DU-04 in three rounds of two writes.
func races() history.History {
	s := newStory()
	readsAtFirst(s)
	for i, v := range []string{"a", "b", "c", "d", "e", "f"} {
		s.call("write", value(v, "round", []string{"1", "2", "3"}[i/2]), done()) // c1 to c6
	}
	s.callOn("helper.2", "read", params("moment", "final"), done("values", list("a", "b", "c", "d", "e", "f"))) // c7
	return s.told()
}

func TestLostWritesAreToldByRound(t *testing.T) {
	rules(t, AckedSurvive("DU-04", 2), races(),
		variant{"two of one round are lost", edits(field("c7", "values", list("a", "b", "e", "f"))),
			finds(broken("DU-04", "4 of 6 acknowledged writes survived", `lost: "c", "d"`, "read back by call c7: 4 values", "writes of 1 of 3 rounds were lost")), nil},
		variant{"one of two rounds is lost", edits(field("c7", "values", list("a", "b", "c", "f"))),
			finds(broken("DU-04", "4 of 6 acknowledged writes survived", `lost: "d", "e"`, "read back by call c7: 4 values", "writes of 2 of 3 rounds were lost")), nil},
	)
	if r := AckedSurvive("DU-04", 2)(races()); !slices.Equal(r.Tried, []string{"6 of 6 acknowledged writes survived"}) {
		t.Errorf("what was tried is told as %q", r.Tried)
	}
}

// cancelledRounds is DU-11 in three rounds.
func cancelledRounds() history.History {
	s := newStory()
	readsAtFirst(s)
	s.call("write", value("before"), done()) // c1
	for _, c := range []struct{ call, value string }{{"c2", "one-cancelled"}, {"c4", "two-cancelled"}, {"c6", "three-cancelled"}} {
		s.call("write", value(c.value), unknown())
		s.mark("cancelled", "call", c.call)
		s.call("write", value("behind "+c.call, "after", "cancel"), done())
	}
	s.callOn("helper.2", "read", params("moment", "final"), done("values", list("before", "behind c2", "behind c4", "behind c6"))) // c8
	return s.told()
}

func TestCancelledWritesAreCounted(t *testing.T) {
	shows := func(values ...string) edit { return field("c8", "values", list(values...)) }
	rules(t, CancelledWhole, cancelledRounds(),
		variant{"two are in part", edits(shows("before", "one-can", "two-can", "behind c2", "behind c4", "behind c6")),
			finds(broken("DU-11", "2 of 3 cancelled writes are there in part", `written: "one-cancelled", read back: "one-can"`, `written: "two-cancelled", read back: "two-can"`)), nil},
		variant{"one behind it is refused", edits(ends("c5", refused("", "busy")), shows("before", "behind c2", "behind c6")),
			finds(broken("DU-11", "behind a cancelled call the server is not usable: 1 of 3 writes refused or not answered", `write c5: refused; answer: {"isError":true}`)), nil},
	)
}
