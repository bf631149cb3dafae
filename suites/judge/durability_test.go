package judge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

func value(v string, more ...string) map[string]string {
	return and(params("value", v, "key", "key "+v), more...)
}

// readsFinally is the last read.
func readsFinally(s *story, values ...string) string {
	return s.callOn("helper.2", "read", params("moment", "final"), done("values", list(values...)))
}

// readsAtFirst is the read that shows that reads work: call c0.
func readsAtFirst(s *story) {
	s.n = -1
	s.call("read", params("moment", "first"), done("values", list()))
}

// killedAfterWrites is DU-01: three acknowledged writes, the values of which are
// beginnings of each other, one refused and one unknown.
func killedAfterWrites() history.History {
	s := newStory()
	readsAtFirst(s)
	s.call("write", value("value-1"), done())                           // c1
	s.call("write", value("value-10"), done())                          // c2
	s.call("write", value("value-100"), done())                         // c3
	s.call("write", value("value-2"), refused("transient", "busy"))     // c4
	s.call("write", value("value-3"), unknown())                        // c5
	readsFinally(s, "there before", "value-100", "value-10", "value-1") // c6
	return s.told()
}

func finalValues(values ...string) edit { return field("c6", "values", list(values...)) }

func TestAckedSurvive(t *testing.T) {
	const clause = "DU-01"
	lost := func(k, which, read string) variant {
		return variant{finds: finds(broken(clause, k+" acknowledged writes survived", "lost: "+which, "read back by call c6: "+read))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, AckedSurvive(clause, 3), killedAfterWrites(),
		named(lost("2 of 3", `"value-10"`, "3 values"), "one is lost, and a longer one holds it", finalValues("value-1", "value-100", "x")),
		named(lost("2 of 3", `"value-100"`, "3 values"), "half of one is there", finalValues("value-1", "value-10", "value-10")),
		named(lost("0 of 3", `"value-1", "value-10", "value-100"`, "0 values"), "all are lost", finalValues()),
		named(lost("1 of 3", `"value-10", "value-100"`, "1 value"), "one is left", finalValues("value-1")),
		variant{"the one of unknown outcome is there too", edits(finalValues("value-1", "value-10", "value-100", "value-3")), nil, nil},
		variant{"the read fails", edits(ends("c6", ending{Outcome: history.Refused, IsError: true, Reason: "cannot parse", Answer: json.RawMessage(`{"isError":true}`)})),
			finds(broken(clause, "0 of 3 acknowledged writes can be read back: the read fails", "call c6: refused: cannot parse", `answer: {"isError":true}`)), nil},
		variant{"the read gets no answer", edits(ends("c6", unknown())),
			finds(broken(clause, "0 of 3 acknowledged writes can be read back: the read fails", "call c6: unknown: no answer within 15s", "answer: no answer within 15s")), nil},
		variant{"the read fails, as every read did", edits(ends("c0", refused("", "no such tool")), ends("c6", refused("", "no such tool"))), nil,
			[]string{"no read had worked before, so that a read which fails says nothing about the store"}},
		variant{"the read never came back", edits(neverReturned("c6")), nil, []string{"the read c6 never came back", "nothing was read at the end"}},
		variant{"the read shows no values", edits(noField("c6", "values")), nil, []string{"the read c6 shows no list of values", "nothing was read at the end"}},
		variant{"the values are no list", edits(field("c6", "values", 7)), nil, []string{"the read c6 shows no list of values", "nothing was read at the end"}},
		variant{"nothing was read", edits(noCall("c6")), nil, []string{"nothing was read at the end"}},
		variant{"too few were acknowledged", edits(ends("c2", unknown()), finalValues("value-1", "value-100")), nil,
			[]string{"3 acknowledged writes were needed for a judgement, 2 were acknowledged of 5"}},
		variant{"none was acknowledged", edits(ends("c1", refused("", "")), ends("c2", refused("", "")), ends("c3", unknown())), nil, []string{
			"3 acknowledged writes were needed for a judgement, 0 were acknowledged of 5", "no write had been acknowledged before the final read c6"}},
		variant{"a write that the read overlaps need not show", edits(endedLate("c3"), finalValues("value-1", "value-10")), nil, nil},
		variant{"numbers among the values", edits(param("c1", "value", "1234567"), finalValues("value-10", "value-100"), field("c6", "values", []any{1234567, "value-10", "value-100"})), nil, nil},
	)
}

func TestAckedSurviveCountsAValueOnce(t *testing.T) {
	s := newStory()
	s.call("write", value("v"), done())
	s.call("write", value("v"), done())
	readsFinally(s, "v")
	expectRuling(t, AckedSurvive("DU-12", 2), s.told(), nil, []string{"2 acknowledged writes were needed for a judgement, 1 were acknowledged of 1"})
}

// lostAnswers is DU-02.
func lostAnswers() history.History {
	s := newStory()
	readsAtFirst(s)
	s.call("write", value("value-001 ~aaaa"), done())                     // c1
	s.call("write", value("value-002 ~bbbb"), unknown())                  // c2
	s.call("write", value("value-003 ~cccc", "fenced", "yes"), unknown()) // c3
	s.call("write", value("value-0"), refused("", ""))                    // c4
	s.call("write", value("value-004 ~dddd"), refused("", ""))            // c5
	readsFinally(s, "there before", "value-001 ~aaaa", "value-002 ~bbbb") // c6
	return s.told()
}

func TestWholeOrAbsent(t *testing.T) {
	inPart := func(written, seen string) variant {
		return variant{finds: finds(broken("DU-02", "a write is there in part", `written: "`+written+`"`, `read back: "`+seen+`"`))}
	}
	named := func(v variant, name string, e ...edit) variant { v.name, v.edits = name, e; return v }
	rules(t, WholeOrAbsent, lostAnswers(),
		variant{"the lost one is absent", edits(finalValues("value-001 ~aaaa")), nil, nil},
		named(inPart("value-002 ~bbbb", "value-002 ~b"), "half a value", finalValues("value-001 ~aaaa", "value-002 ~b")),
		named(inPart("value-001 ~aaaa", "value"), "the short beginning of a value", finalValues("value-001 ~aaaa", "value")),
		named(inPart("value-002 ~bbbb", "002 ~bbbb"), "the end of a value", finalValues("value-001 ~aaaa", "002 ~bbbb")),
		named(inPart("value-001 ~aaaa", "value-001"), "half of an acknowledged one", finalValues("value-001")),
		variant{"a word of two values is no piece", edits(finalValues("value-001 ~aaaa", "~bbb")), nil, nil},
		variant{"a value that is the beginning of others was sent itself", edits(finalValues("value-001 ~aaaa", "value-0")), nil, nil},
		variant{"an empty value is no piece", edits(finalValues("value-001 ~aaaa", "")), nil, nil},
		variant{"the lost one is there twice", edits(finalValues("value-001 ~aaaa", "value-002 ~bbbb", "value-002 ~bbbb")),
			finds(broken("DU-02", "a write whose answer was lost is there more than once", `"value-002 ~bbbb": 2 times`)), nil},
		variant{"the fenced one is there", edits(finalValues("value-001 ~aaaa", "value-003 ~cccc")),
			finds(broken("DU-02", "a write whose request never arrived is there", `"value-003 ~cccc"`)), nil},
		variant{"the store cannot be read", edits(ends("c6", ending{Outcome: history.Refused, Reason: "malformed"})),
			finds(broken("DU-02", "after a write whose answer was lost the store cannot be read", "call c6: refused: malformed", "answer: malformed")), nil},
		variant{"the read never came back", edits(neverReturned("c6")), nil, []string{"the read c6 never came back", "nothing was read at the end"}},
		variant{"nothing was read", edits(noCall("c6")), nil, []string{"nothing was read at the end"}},
		variant{"no answer was lost", edits(ends("c2", done()), ends("c3", refused("", ""))), nil,
			[]string{"no write's answer was lost", "no write had lost its answer before the final read c6"}},
		variant{"a write that never returned has lost its answer", edits(ends("c3", refused("", "")), neverReturned("c2")), nil, nil},
	)
}

func TestAlternating(t *testing.T) {
	s := newStory()
	for _, session := range []string{"helper.1", "helper.2", "helper.1", "helper.2"} {
		s.callOn(session, "write", value("v"), done())
	}
	rules(t, Alternating, s.told(),
		variant{"one refused in between", edits(ends("c2", refused("transient", "busy"))), nil, nil},
		variant{"one server twice in turn", edits(noCall("c2")), nil, []string{"the writes did not alternate between two servers: call c3"}},
		variant{"overlapping", edits(endedLate("c1")), nil, []string{"the writes did not alternate between two servers: call c2"}},
		variant{"one got no answer", edits(ends("c2", unknown())), nil, []string{"the write c2 was not answered before the next one"}},
		variant{"one never returned", edits(neverReturned("c2")), nil, []string{"the write c2 was not answered before the next one"}},
		variant{"one server only", edits(noCall("c2", "c3", "c4")), nil, []string{"two servers were needed, 1 were written through"}},
		variant{"three servers", edits(each("c3", isCall("c3", history.Invoked), func(e *history.Event) { e.Call.Session = "helper.3" })), nil,
			[]string{"two servers were needed, 3 were written through"}},
	)
}

func TestShortened(t *testing.T) {
	for _, tt := range []struct {
		name, in, out string
		most          int
	}{
		{"short", "abc", "abc", 3},
		{"long", "abcd", "abc…", 3},
		{"not within a character", "aéé", "aé…", 4},
	} {
		if got := shortened(tt.in, tt.most); got != tt.out {
			t.Errorf("%s: shortened(%q, %d) = %q, expected %q", tt.name, tt.in, tt.most, got, tt.out)
		}
	}
	long := quoted([]string{"1", "2", "3", "4", "5", "6", "7", strings.Repeat("x", 100)})
	if long != `"1", "2", "3", "4", "5", "6" and 2 more` {
		t.Errorf("quoted lists %s", long)
	}
	if got := quoted([]string{strings.Repeat("x", 100)}); got != `"`+strings.Repeat("x", 60)+`…"` {
		t.Errorf("quoted shows %s", got)
	}
}
