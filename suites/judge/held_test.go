package judge

import (
	"slices"
	"testing"

	"github.com/holdfast-mcp/holdfast/reports/history"
)

// heldWrites is DU-05: two writes at each of two places of the first one.
func heldWrites(held ...bool) history.History {
	s := newStory()
	for i, was := range held {
		round := string(rune('1' + i))
		s.call("write", params("value", "first "+round, "round", round), done())
		s.callOn("helper.2", "write", params("value", "second "+round, "round", round), done())
		s.mark("held-in-a-write", "place", i+1, "held", was, "answered", was && i == 0, "call", "write", "path", "notes.json")
	}
	return s.told()
}

// What was lost beside a server that was held is told with the place.
func TestWhatWasLostBesideAHeldServer(t *testing.T) {
	s := newStory()
	readsAtFirst(s)
	s.call("write", params("value", "before"), done())
	for _, round := range []string{"1", "2"} {
		s.call("write", params("value", "first "+round, "round", round), done())
		s.callOn("helper.2", "write", params("value", "second "+round, "round", round), done())
	}
	s.mark("held-in-a-write", "place", 1, "held", true, "call", "openat", "path", "notes.json")
	s.mark("held-in-a-write", "place", 2, "held", true, "call", "write", "path", "notes.json")
	s.call("read", params("moment", "final"), done("values", list("before", "first 1", "second 1", "first 2")))
	got := AckedSurvive("DU-05", 2)(s.told())
	if len(got.Findings) != 1 {
		t.Fatalf("found %+v", got)
	}
	want := []string{`lost: "second 2"`, "read back by call c6: 4 values", "writes of 1 of 2 rounds were lost",
		"round 2: one server was held before write of notes.json while the other was given its write"}
	if facts := got.Findings[0].Facts; !slices.Equal(facts, want) {
		t.Errorf("facts %q, expected %q", facts, want)
	}
}

func TestHeldWithin(t *testing.T) {
	expectRuling(t, HeldWithin, heldWrites(true, true), nil, nil)
	expectRuling(t, HeldWithin, heldWrites(true, false), nil, nil)
	expectRuling(t, HeldWithin, heldWrites(false, false), nil, []string{"no server was held in the middle of a write, at 2 places that were tried"})
	expectRuling(t, HeldWithin, heldWrites(), nil, []string{"no server was held in the middle of a write, at 0 places that were tried"})
	const want = "held at 2 of 2 places of a write; at 1 of them the second server was answered before the first went on"
	if got := HeldWithin(heldWrites(true, true)).Tried; len(got) != 1 || got[0] != want {
		t.Errorf("tried is told as %q, expected %q", got, want)
	}
}
